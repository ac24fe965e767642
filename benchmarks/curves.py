"""Pictures of shares: several curves in one panel, told apart by colour, dashes and marks.

A key beside each panel names the curves; dots with bars are measurements and their intervals.
"""

from collections.abc import Iterator, Sequence
from math import floor
from typing import NamedTuple

from benchmarks.drawing import line, number, picture, text, themed

_LEFT, _RIGHT, _KEY = 58, 510, 534
_HEAD, _PANEL, _GAP, _FOOT = 56, 240, 82, 14
_SAMPLE, _ROW = 40, 22  # of the key
_MARKS = 5  # on a curve, about

Point = tuple[float, float]


class Look(NamedTuple):
    """Colours for light and dark, dashes, and the outline of a mark around its middle."""

    light: str
    dark: str
    dashes: str
    mark: str


_SQUARE = "m-4,-4h8v8h-8z"
_DIAMOND = "m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z"
_UP = "m0,-5.5l5,9h-10z"
_DOWN = "m0,5.5l5,-9h-10z"
_CROSS = "m-4,-4l8,8m0,-8l-8,8"
_PLUS = "m-5,0h10m-5,-5v10"
_ROUND = "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z"

LOOKS = (
    Look("#1660b0", "#6cb2ff", "none", _ROUND),
    Look("#b3400e", "#ffa06b", "8 4", _SQUARE),
    Look("#0d7a55", "#56d6a6", "2 4", _UP),
    Look("#7d3fb0", "#c9a2ff", "12 4 2 4", _DIAMOND),
    Look("#a3195b", "#ff8fbd", "5 3", _DOWN),
    Look("#5d6b00", "#cdd96a", "14 5", _CROSS),
    Look("#3f4b57", "#b5c1cd", "3 2", _PLUS),
)


class Curve(NamedTuple):
    """Points from left to right; of a theory, without marks."""

    name: str
    look: int
    points: Sequence[Point]
    marked: bool = True


class Dots(NamedTuple):
    """Measured shares, each between the two between which the true one lies."""

    look: int
    points: Sequence[Point]
    spans: Sequence[Point]


class Panel(NamedTuple):
    """Curves over one axis; a line stands where `at` is."""

    name: str
    curves: Sequence[Curve]
    dots: Sequence[Dots] = ()
    at: float | None = None


class Axis(NamedTuple):
    """What the panels have in common."""

    name: str
    low: float
    high: float
    every: float = 0.1  # it is marked at multiples of this


def curves_chart(title: str, axis: Axis, panels: Sequence[Panel]) -> str:
    """Draw the panels one below the other; shares go from 0 to 1."""
    words = f"{title}. " + ". ".join(map(_in_words, panels))
    parts = [text(_LEFT, 30, title, "head")]
    for place, panel in enumerate(panels):
        foot = _HEAD + (place + 1) * _PANEL + place * _GAP + 24
        parts += _Plot(axis, foot).panel(panel)
    height = _HEAD + len(panels) * (_PANEL + _GAP) + _FOOT
    return picture(title, words, height, parts, _STYLE)


def _in_words(panel: Panel) -> str:
    return f"{panel.name}: " + ", ".join(_value(curve, panel.at) for curve in panel.curves)


def _value(curve: Curve, at: float | None) -> str:
    """Name a curve and its value at a place, or where it ends."""
    place = curve.points[-1][0] if at is None else at
    x, y = min(curve.points, key=lambda point: abs(point[0] - place))
    return f"{curve.name} {number(y)} at {number(x)}"


class _Plot:
    """Where the points of a panel lie on paper."""

    def __init__(self, axis: Axis, foot: float) -> None:
        self._axis, self._foot = axis, foot

    def panel(self, panel: Panel) -> Iterator[str]:
        yield text(_LEFT, self._foot - _PANEL - 12, panel.name, "name")
        yield from self._grid()
        if panel.at is not None:
            yield line(self._x(panel.at), self._y(1), self._x(panel.at), self._foot, "limit")
        for dots in panel.dots:
            yield from self._dots(dots)
        for place, curve in reversed(list(enumerate(panel.curves))):
            yield from self._curve(curve, place)
        for place, curve in enumerate(panel.curves):
            yield from _key(curve, self._foot - _PANEL + 8 + place * _ROW)

    def _x(self, value: float) -> float:
        low, high = self._axis.low, self._axis.high
        return _LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low)

    def _y(self, share: float) -> float:
        return self._foot - _PANEL * share

    def _at(self, point: Point) -> str:
        return f"{self._x(point[0]):.1f},{self._y(point[1]):.1f}"

    def _grid(self) -> Iterator[str]:
        for fifth in range(6):
            y = self._y(fifth / 5)
            yield line(_LEFT, y, _RIGHT, y, "grid" if fifth else "axis")
            yield text(_LEFT - 10, y + 4, number(fifth / 5), anchor="end")
        every = self._axis.every
        for mark in range(round(self._axis.low / every), floor(self._axis.high / every + 0.5) + 1):
            x = self._x(mark * every)
            yield line(x, self._foot, x, self._foot + 5, "axis")
            yield text(x, self._foot + 20, number(mark * every), anchor="middle")
        middle = (_LEFT + _RIGHT) / 2
        yield text(middle, self._foot + 38, self._axis.name, anchor="middle")

    def _curve(self, curve: Curve, place: int) -> Iterator[str]:
        yield f'<path class="curve look{curve.look}" d="M{"L".join(map(self._at, curve.points))}"/>'
        every = max(1, len(curve.points) // _MARKS)
        for point in curve.points[(place * every // 3) % every :: every] if curve.marked else ():
            yield _mark(curve.look, self._at(point))

    def _dots(self, dots: Dots) -> Iterator[str]:
        for point, (low, high) in zip(dots.points, dots.spans, strict=True):
            x = self._x(point[0])
            yield line(x, self._y(low), x, self._y(high), f"span look{dots.look}")
            yield _mark(dots.look, self._at(point), 0.6)


def _key(curve: Curve, y: float) -> Iterator[str]:
    yield line(_KEY, y, _KEY + _SAMPLE, y, f"curve look{curve.look}")
    yield _mark(curve.look, f"{_KEY + _SAMPLE / 2:.1f},{y:.1f}")
    yield text(_KEY + _SAMPLE + 8, y + 4, curve.name, "label")


def _mark(look: int, at: str, scale: float = 1) -> str:
    place = f"translate({at}) scale({scale:g})"
    return f'<path class="mark look{look}" transform="{place}" d="M0,0{LOOKS[look].mark}"/>'


def _looks(colours: Sequence[str]) -> str:
    return "".join(f".look{place}{{stroke:{colour}}}" for place, colour in enumerate(colours))


_STYLE = (
    ".curve{fill:none;stroke-width:2.2;stroke-linejoin:round} .span{stroke-width:1.4}"
    ".mark{stroke-width:1.8;fill:#fff}"
    + "".join(
        f".curve.look{place}{{stroke-dasharray:{look.dashes}}}" for place, look in enumerate(LOOKS)
    )
    + themed(
        _looks([look.light for look in LOOKS]) + ".label{fill:#1c2733}",
        _looks([look.dark for look in LOOKS]) + ".mark{fill:#12181f}.label{fill:#e6ebf0}",
    )
)
