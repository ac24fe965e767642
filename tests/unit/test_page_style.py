import re
from importlib import resources

import pytest

STYLE = (resources.files("stream_dedup.web") / "page" / "style.css").read_text(encoding="utf-8")
_BLOCK = re.compile(r":root\s*\{([^}]*)\}")
_COLOUR = re.compile(r"--([a-z]+):\s*#([0-9a-f]{6})\b")
LIGHT, DARK = (dict(_COLOUR.findall(block)) for block in _BLOCK.findall(STYLE))

# Text on what it stands on: 4.5, as WCAG AA asks of letters of any size.
TEXTS = [
    *[("ink", ground) for ground in ("paper", "panel", "alert", "mark", "hover")],
    *[("soft", ground) for ground in ("paper", "panel", "hover", "mark")],
    *[(word, "paper") for word in ("good", "warn")],
    *[("line", ground) for ground in ("panel", "hover", "mark")],
    *[("panel", ground) for ground in ("line", "ink")],
]
# Edges of controls, the mark of the focus, and what is drawn: 3.
SHAPES = [
    *[("edge", ground) for ground in ("paper", "panel")],
    *[("line", ground) for ground in ("paper", "panel")],
    *[(drawn, "panel") for drawn in ("second", "bar", "warn")],
    *[("warn", ground) for ground in ("alert", "mark")],
]


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    """Black on white has the ratio 21, and the standard's own example of grey 4.48."""
    assert contrast("000000", "ffffff") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_what_is_shown_can_be_read(scheme: dict[str, str]) -> None:
    """In both schemes text reaches a contrast of 4.5, and shapes one of 3."""
    wanted = [(pair, 4.5) for pair in TEXTS] + [(pair, 3.0) for pair in SHAPES]
    weak = {
        pair: round(ratio, 2)
        for pair, least in wanted
        if (ratio := contrast(*(scheme[name] for name in pair))) < least
    }

    assert weak == {}


def test_every_colour_is_one_of_the_scheme() -> None:
    """The dark scheme changes all colours of the light one, and no rule has one of its own."""
    rules = _BLOCK.sub("", STYLE)

    assert LIGHT.keys() == DARK.keys()
    assert not re.findall(r"#[0-9a-f]{3,8}\b|\brgba?\(", re.sub(r"#[\w-]+[^{};]*\{", "{", rules))
    assert set(re.findall(r"var\(--([a-z]+)\)", rules)) - LIGHT.keys() == {"mono", "veil"}
