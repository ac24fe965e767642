"""Pictures of curves: to scale, readable without colour or sight, and on their own."""

import re
import xml.etree.ElementTree as ET

import pytest

from benchmarks.curves import LOOKS, Axis, Curve, Dots, Panel, curves_chart

SVG = "{http://www.w3.org/2000/svg}"
CURVES = [
    Curve("ours & others", 0, [(0.5, 0.0), (0.75, 0.5), (1.0, 1.0)]),
    Curve("theirs", 1, [(0.5, 0.25), (0.75, 0.3), (1.0, 0.4)]),
]
DOTS = Dots(2, [(0.6, 0.4)], [(0.3, 0.6)])
PICTURE = curves_chart("Found", Axis("similarity", 0.5, 1), [Panel("All", CURVES, [DOTS], 0.75)])


def _paths(name: str) -> list[str]:
    paths = ET.fromstring(PICTURE).iter(f"{SVG}path")
    return [path.get("d", "") for path in paths if (path.get("class") or "").startswith(name)]


def _points(path: str) -> list[tuple[float, float]]:
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_curves_are_to_scale() -> None:
    """A share lies at its part of the way up, a similarity at its part of the way along."""
    points = next(
        _points(path)
        for path in _paths("curve look0")
        if len(_points(path)) == len(CURVES[0].points)
    )
    (left, low), (middle, half), (right, high) = points

    assert middle - left == pytest.approx(right - middle, abs=0.2)
    assert low - half == pytest.approx(half - high, abs=0.2)
    assert low - high == pytest.approx(240, abs=0.2)
    assert _points(_paths("limit")[0])[0][0] == middle


def test_an_axis_is_marked_at_its_step() -> None:
    """From 0 to 150 in steps of 50, each mark at its place."""
    axis = Axis("milliseconds", 0, 150, 50)
    root = ET.fromstring(
        curves_chart("Waits", axis, [Panel("", [Curve("one", 0, [(0, 0), (9, 1)])])])
    )
    marks = [element for element in root.iter(f"{SVG}text") if element.text in {"50", "100", "150"}]
    places = [float(mark.get("x", "")) for mark in marks]

    assert [mark.text for mark in marks] == ["50", "100", "150"]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.2)


def test_a_bar_reaches_as_far_as_its_interval() -> None:
    """From 0.3 to 0.6 is three tenths of the height."""
    (x1, low), (x2, high) = _points(_paths("span look2")[0])

    assert x1 == x2
    assert low - high == pytest.approx(0.3 * 240, abs=0.2)


def test_curves_are_told_apart_without_colour() -> None:
    """No two looks share their dashes or their mark; the key names every curve."""
    words = {element.text for element in ET.fromstring(PICTURE).iter(f"{SVG}text")}

    assert len({look.dashes for look in LOOKS}) == len(LOOKS)
    assert len({look.mark for look in LOOKS}) == len(LOOKS)
    assert {"ours & others", "theirs"} <= words


def test_it_says_what_it_shows_and_refers_to_nothing() -> None:
    """The description has each curve's value at the line; the only address is the namespace."""
    root = ET.fromstring(PICTURE)

    assert root.get("role") == "img"
    assert "ours & others 0.5 at 0.75, theirs 0.3 at 0.75" in root.findtext(f"{SVG}desc", "")
    assert re.findall(r"https?://[^\"]+", PICTURE) == ["http://www.w3.org/2000/svg"]
    assert "href" not in PICTURE


def test_it_follows_light_and_dark() -> None:
    """Each look has a colour in either scheme."""
    light, dark = (ET.fromstring(PICTURE).findtext(f"{SVG}style") or "").rsplit("@media", 1)

    for look in LOOKS:
        assert look.light in light
        assert look.dark in dark
