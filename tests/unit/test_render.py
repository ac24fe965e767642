"""RESULTS.md and its pictures, as they follow from the results."""

import re
import xml.etree.ElementTree as ET

import pytest

from benchmarks import render
from benchmarks.charts import Axis, Limit, Panel, chart
from benchmarks.engines import steps

SVG = "{http://www.w3.org/2000/svg}"
PICTURE = chart(
    "Two & more",
    Axis("million documents", [0.4, 0.8, 1.2]),
    [Panel("rate", [10_000, 9_000, 9_500], Limit(8_000, "enough")), Panel("GB", [0.2, 0.3, 0.31])],
)


@pytest.mark.parametrize("name", render.render())
def test_the_page_says_what_the_results_say(name: str) -> None:
    """RESULTS.md and its pictures are what `make bench` makes of the committed results."""
    assert (render.FOLDER / name).read_text(encoding="utf-8") == render.render()[name]


def test_a_picture_says_what_it_shows_to_those_who_do_not_see_it() -> None:
    """It has a role, a name and a description with the first and the last value of each panel."""
    root = ET.fromstring(PICTURE)

    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "Two & more"
    assert "rate: 10,000 at the first point, 9,500 at the last" in root.findtext(f"{SVG}desc", "")


def test_a_picture_refers_to_nothing_outside_itself() -> None:
    """The only address in it is the namespace."""
    assert re.findall(r"https?://[^\"]+", PICTURE) == ["http://www.w3.org/2000/svg"]
    assert "href" not in PICTURE


def test_a_picture_is_to_scale() -> None:
    """Values and limits lie at their share of the way up from 0, places at theirs of the axis."""
    root = ET.fromstring(PICTURE)
    dots = list(root.iter(f"{SVG}circle"))[:3]
    x, y = ([float(dot.get(side, "")) for dot in dots] for side in ("cx", "cy"))
    foot, limit = _height(root, "axis"), _height(root, "limit")

    assert (foot - y[1]) / (foot - y[0]) == pytest.approx(0.9, abs=0.01)
    assert (foot - limit) / (foot - y[0]) == pytest.approx(0.8, abs=0.01)
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)


def _height(root: ET.Element, name: str) -> float:
    """Return where the first line of this class ends."""
    line = next(path for path in root.iter(f"{SVG}path") if path.get("class") == name)
    return float((line.get("d") or "").rpartition(",")[2])


def test_every_step_of_the_engine_is_measured() -> None:
    """The functions that `benchmarks.engines.steps` watches exist, and each step has its place."""
    missing = [attribute for owner, attribute, _ in steps.CALLS if not hasattr(owner, attribute)]

    assert missing == []
    assert {name for *_, name in steps.CALLS} <= set(steps.STEPS)
