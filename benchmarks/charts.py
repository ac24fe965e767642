"""Pictures of measurements over one axis: panels one below the other, as SVG.

They follow the reader's light or dark scheme and refer to nothing outside themselves.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import floor, log10
from typing import NamedTuple

_WIDTH, _LEFT, _RIGHT = 760, 92, 736
_HEAD, _PANEL, _GAP, _FOOT = 64, 120, 58, 40
_TICKS = 4

_LIGHT = {"paper": "#fff", "ink": "#1c2733", "soft": "#5b6875", "grid": "#e3e8ed",
          "line": "#1660b0", "mark": "#b3400e"}  # fmt: skip
_DARK = {"paper": "#12181f", "ink": "#e6ebf0", "soft": "#9aa7b4", "grid": "#28323c",
         "line": "#6cb2ff", "mark": "#ffa06b"}  # fmt: skip
_COLOURS = """
text{{fill:{soft}}} .head,.name{{fill:{ink}}} .paper{{fill:{paper}}}
.grid{{stroke:{grid}}} .axis{{stroke:{soft}}} .line{{stroke:{line}}} .dot{{fill:{line}}}
.limit{{stroke:{mark}}} .limits{{fill:{mark};stroke:{paper}}}
"""
_SHAPES = """
svg{font:13px/1.4 system-ui,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums}
.head{font-size:17px;font-weight:600} .name{font-weight:600}
.line{fill:none;stroke-width:2.5;stroke-linejoin:round}
.limit{stroke-width:1.5;stroke-dasharray:6 4}
.limits{paint-order:stroke;stroke-width:4px;stroke-linejoin:round}
"""
_STYLE = (
    _SHAPES
    + _COLOURS.format_map(_LIGHT)
    + f"@media (prefers-color-scheme:dark){{{_COLOURS.format_map(_DARK)}}}\n"
)


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
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" aria-label="{escape(words)}">',
        f"<title>{escape(title)}</title><desc>{escape(words)}</desc><style>{_STYLE}</style>",
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>',
        _text(_LEFT, 30, title, "head"),
    ]
    for number, panel in enumerate(panels):
        foot = _HEAD + number * (_PANEL + _GAP) + _GAP / 2 + _PANEL
        parts += _panel(panel, axis, foot)
    parts.append(_text((_LEFT + _RIGHT) / 2, height - 14, axis.name, anchor="middle"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _in_words(panel: Panel) -> str:
    first, last = panel.values[0], panel.values[-1]
    return f"{panel.name}: {_number(first)} at the first point, {_number(last)} at the last"


def _panel(panel: Panel, axis: Axis, foot: float) -> Iterator[str]:
    limit = [panel.limit.value] if panel.limit else []
    step = _step(max(*panel.values, *limit))
    top = step * _TICKS
    while top - step > max(*panel.values, *limit):
        top -= step
    unit = _PANEL / top
    yield _text(_LEFT, foot - _PANEL - 12, panel.name, "name")
    for tick in range(1 + round(top / step)):
        y = foot - tick * step * unit
        yield _line(_LEFT, y, _RIGHT, y, "grid" if tick else "axis")
        yield _text(_LEFT - 10, y + 4, _number(tick * step), anchor="end")
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
        yield _line(_LEFT, y, _RIGHT, y, "limit")
        yield _text(_LEFT + 8, y - 6, panel.limit.name, "limits")


def _places(axis: Axis, foot: float) -> Iterator[str]:
    last = max(axis.places)
    step = _step(last)
    for tick in range(1 + floor(last / step)):
        x = _LEFT + (_RIGHT - _LEFT) * tick * step / last
        yield _line(x, foot, x, foot + 5, "axis")
        yield _text(x, foot + 20, _number(tick * step), anchor="middle")


def _step(largest: float) -> float:
    """Return a round number of which no more than `_TICKS` reach beyond the largest value."""
    power = 10.0 ** floor(log10(largest / _TICKS))
    return next(
        power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor * _TICKS >= largest
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _line(x1: float, y1: float, x2: float, y2: float, name: str) -> str:
    return f'<path class="{name}" d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}"/>'


def _text(x: float, y: float, words: str, name: str = "", anchor: str = "start") -> str:
    style = f' class="{name}"' if name else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
