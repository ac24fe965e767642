"""Pictures of measurements over one axis: panels one below the other."""

from collections.abc import Iterator, Sequence
from math import floor
from typing import NamedTuple

from benchmarks.drawing import TICKS, line, number, picture, step, text

_LEFT, _RIGHT = 92, 736
_HEAD, _PANEL, _GAP, _FOOT = 64, 120, 58, 40


class Limit(NamedTuple):
    """A value to stay above or below, and how it is called."""

    value: float
    name: str


class Panel(NamedTuple):
    """One quantity, a value for each place on the axis."""

    name: str
    values: Sequence[float]
    limit: Limit | None = None


class Axis(NamedTuple):
    """What the panels have in common; the axis begins at 0."""

    name: str
    places: Sequence[float]


def chart(title: str, axis: Axis, panels: Sequence[Panel]) -> str:
    """Draw the panels; each begins at 0, so that flat is flat."""
    height = _HEAD + len(panels) * (_PANEL + _GAP) + _FOOT
    words = f"{title}. " + ". ".join(map(_in_words, panels))
    parts = [text(_LEFT, 30, title, "head")]
    for place, panel in enumerate(panels):
        foot = _HEAD + place * (_PANEL + _GAP) + _GAP / 2 + _PANEL
        parts += _panel(panel, axis, foot)
    parts.append(text((_LEFT + _RIGHT) / 2, height - 14, axis.name, anchor="middle"))
    return picture(title, words, height, parts)


def _in_words(panel: Panel) -> str:
    first, last = panel.values[0], panel.values[-1]
    return f"{panel.name}: {number(first)} at the first point, {number(last)} at the last"


def _panel(panel: Panel, axis: Axis, foot: float) -> Iterator[str]:
    limit = [panel.limit.value] if panel.limit else []
    every = step(max(*panel.values, *limit))
    top = every * TICKS
    while top - every > max(*panel.values, *limit):
        top -= every
    unit = _PANEL / top
    yield text(_LEFT, foot - _PANEL - 12, panel.name, "name")
    for tick in range(1 + round(top / every)):
        y = foot - tick * every * unit
        yield line(_LEFT, y, _RIGHT, y, "grid" if tick else "axis")
        yield text(_LEFT - 10, y + 4, number(tick * every), anchor="end")
    yield from _places(axis, foot)
    width = (_RIGHT - _LEFT) / max(axis.places)
    points = [
        f"{_LEFT + place * width:.1f},{foot - value * unit:.1f}"
        for place, value in zip(axis.places, panel.values, strict=True)
    ]
    yield f'<path class="line" d="M{"L".join(points)}"/>'
    for point in points:
        across, _, down = point.partition(",")
        yield f'<circle class="dot" cx="{across}" cy="{down}" r="2.5"/>'
    if panel.limit:
        y = foot - panel.limit.value * unit
        yield line(_LEFT, y, _RIGHT, y, "limit")
        # On the side where the first values are not.
        beside = -6 if panel.values[0] < panel.limit.value else 16
        yield text(_LEFT + 8, y + beside, panel.limit.name, "limits")


def _places(axis: Axis, foot: float) -> Iterator[str]:
    last = max(axis.places)
    every = step(last)
    for tick in range(1 + floor(last / every)):
        x = _LEFT + (_RIGHT - _LEFT) * tick * every / last
        yield line(x, foot, x, foot + 5, "axis")
        yield text(x, foot + 20, number(tick * every), anchor="middle")
