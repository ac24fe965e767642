"""The picture of a plan: well formed, self-contained, readable without colour or sight."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from stream_dedup.plot import plan_svg
from stream_dedup.similarity.plan import Plan, plan_bands

SVG = "{http://www.w3.org/2000/svg}"
PLAN = plan_bands(0.8, 0.99, 128)


def _texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_it_says_what_it_shows_to_those_who_do_not_see_it() -> None:
    """The picture has a role, a name and a description with its three numbers."""
    root = ET.fromstring(plan_svg([PLAN]))

    description = root.findtext(f"{SVG}desc") or ""
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "21 bands of 6 rows"
    assert "0.565" in description
    assert "99.8 %" in description
    assert description in (root.get("aria-label") or "")


def test_it_refers_to_nothing_outside_itself() -> None:
    """No script, link, font or image is fetched; the only address is the namespace."""
    svg = plan_svg([PLAN], np.array([0.1, 0.9]))

    assert re.findall(r"https?://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]
    for word in ("<script", "<image", "href", "@import", "url("):
        assert word not in svg


def test_it_follows_light_and_dark_and_names_its_styles_its_own() -> None:
    """Colours change with the reader's scheme, and no rule reaches beyond the picture."""
    svg = plan_svg([PLAN])
    style = ET.fromstring(svg).findtext(f"{SVG}style") or ""

    assert "@media (prefers-color-scheme:dark)" in style
    for selector in re.findall(
        r"([^{}]+)\{", style.replace("@media (prefers-color-scheme:dark){", "")
    ):
        assert all(part.strip().startswith(".sdp") for part in selector.split(","))


def test_curve_passes_through_half_and_the_threshold_mark() -> None:
    """The half point's dot lies on the drawn curve."""
    root = ET.fromstring(plan_svg([PLAN]))
    dot = next(root.iter(f"{SVG}circle"))
    path = next(p for p in root.iter(f"{SVG}path") if p.get("class") == "curve")
    points = np.array([float(n) for n in re.findall(r"[\d.]+", path.get("d") or "")]).reshape(-1, 2)

    height = np.interp(float(dot.get("cx", "")), points[:, 0], points[:, 1])

    assert height == pytest.approx(float(dot.get("cy", "")), abs=0.5)


def test_landmarks_are_written_out() -> None:
    """Threshold, recall and half point can be read as words."""
    words = _texts(plan_svg([PLAN]))

    assert {"threshold 0.8", "99.8 % found", "half point 0.565"} <= set(words)


def test_a_recall_short_of_certain_never_reads_as_100_percent() -> None:
    """0.9999999 is written 99.9 %: the picture does not promise what bands cannot."""
    assert "99.9 % found" in _texts(plan_svg([Plan("jaccard", 0.8, 128, 42, 3)]))


def test_several_plans_differ_in_dashes_as_well_as_in_words() -> None:
    """Two curves can be told apart in black and white, by a legend."""
    svg = plan_svg([PLAN, Plan("jaccard", 0.8, 128, 16, 8)])
    paths = [p for p in ET.fromstring(svg).iter(f"{SVG}path") if p.get("class") == "curve"]

    assert len({p.get("stroke-dasharray") for p in paths}) == 2
    assert {"21 bands of 6", "16 bands of 8"} <= set(_texts(svg))


def test_histogram_has_a_bar_for_each_similarity_seen() -> None:
    """Rare pairs are visible beside a hundred thousand common ones."""
    similarities = np.concatenate([np.full(100_000, 0.05), [0.81], [1.0]])
    root = ET.fromstring(plan_svg([PLAN], similarities))

    bars = [float(r.get("height", "")) for r in root.iter(f"{SVG}rect") if r.get("class") == "bar"]

    assert len(bars) == 3
    assert min(bars) > 4
    assert "100,002 pairs of the sample, by similarity" in _texts(plan_svg([PLAN], similarities))


@pytest.mark.parametrize("similarities", [np.array([]), np.array([0.5]), np.zeros(7)])
def test_few_or_equal_similarities_are_drawn(similarities: np.ndarray) -> None:
    """An empty, a single or a constant sample gives a picture, not an error."""
    ET.fromstring(plan_svg([PLAN], similarities))


@pytest.mark.parametrize("threshold", [0.01, 0.3, 0.99, 1.0])
def test_labels_stay_inside_the_picture(threshold: float) -> None:
    """Wherever the threshold lies and whatever the counts, words stay within the frame."""
    similarities = np.full(1_000_000, 0.1)
    root = ET.fromstring(plan_svg([Plan("jaccard", threshold, 128, 21, 6)], similarities))

    for element in root.iter(f"{SVG}text"):
        x, width = float(element.get("x", "")), 7.5 * len(element.text or "")
        left = {"start": x, "middle": x - width / 2, "end": x - width}[
            element.get("text-anchor", "")
        ]
        assert left >= 0
        assert left + width <= 760
