"""What all pictures share: an SVG that follows the reader's light or dark scheme.

It refers to nothing outside itself, and says in words what it shows.
"""

from collections.abc import Iterable
from html import escape
from math import floor, log10

WIDTH = 760
TICKS = 4

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


def themed(light: str, dark: str) -> str:
    """Return rules of style for either scheme; not every viewer of SVG knows variables."""
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}\n"


_STYLE = _SHAPES + themed(_COLOURS.format_map(_LIGHT), _COLOURS.format_map(_DARK))


def picture(title: str, words: str, height: float, parts: Iterable[str], style: str = "") -> str:
    """Draw the parts below the title, on paper."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" aria-label="{escape(words)}">',
        f"<title>{escape(title)}</title><desc>{escape(words)}</desc><style>{_STYLE}{style}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
        *parts,
        "</svg>\n",
    ])  # fmt: skip


def step(largest: float) -> float:
    """Return a round number of which no more than `TICKS` reach beyond the largest value."""
    power = 10.0 ** floor(log10(largest / TICKS))
    return next(
        power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor * TICKS >= largest
    )


def number(value: float) -> str:
    """Write three digits of a number, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def line(x1: float, y1: float, x2: float, y2: float, name: str) -> str:
    """Draw a straight line of a class."""
    return f'<path class="{name}" d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}"/>'


def text(x: float, y: float, words: str, name: str = "", anchor: str = "start") -> str:
    """Write words at a point."""
    style = f' class="{name}"' if name else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
