"""The picture of a plan: its S-curve as an SVG that stands alone or inside a page. No I/O here.

It follows the reader's light or dark scheme, says everything in words or shapes as well as in
colour, and refers to nothing outside itself.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from stream_dedup.similarity.curve import FloatArray
from stream_dedup.similarity.plan import Plan

_WIDTH, _LEFT, _RIGHT = 760, 76, 736
_TOP, _BOTTOM, _FOOT = 76, 396, 56
_HISTOGRAM_GAP, _HISTOGRAM = 76, 96
_STEPS = 200
_BINS = 50
_DASHES = ("none", "9 5", "2 4")

_NAMES = {"jaccard": "Jaccard similarity", "cosine": "cosine similarity"}

_LIGHT = {
    "paper": "#fff", "ink": "#1c2733", "soft": "#5b6875", "grid": "#e3e8ed",
    "line": "#1660b0", "mark": "#b3400e", "bar": "#8fa5ba",
}  # fmt: skip
_DARK = {
    "paper": "#12181f", "ink": "#e6ebf0", "soft": "#9aa7b4", "grid": "#28323c",
    "line": "#6cb2ff", "mark": "#ffa06b", "bar": "#52677b",
}  # fmt: skip

# Colours are written out for either scheme: not every viewer of SVG knows CSS variables.
_COLOURS = """
.sdp text{{fill:{soft}}} .sdp .head,.sdp .label{{fill:{ink}}} .sdp .label{{stroke:{paper}}}
.sdp .paper{{fill:{paper}}} .sdp .grid{{stroke:{grid}}} .sdp .axis{{stroke:{soft}}}
.sdp .curve{{stroke:{line}}} .sdp .dot{{fill:{paper};stroke:{line}}}
.sdp .threshold{{stroke:{mark}}} .sdp .diamond{{fill:{mark};stroke:{paper}}} .sdp .bar{{fill:{bar}}}
"""
_SHAPES = """
.sdp{max-width:100%;height:auto;font:13px/1.4 system-ui,"Segoe UI",Roboto,sans-serif;
font-variant-numeric:tabular-nums}
.sdp .head{font-size:17px;font-weight:600}
.sdp .label{paint-order:stroke;stroke-width:4px;stroke-linejoin:round}
.sdp .curve{fill:none;stroke-width:2.5;stroke-linejoin:round}
.sdp .threshold{stroke-width:1.5;stroke-dasharray:6 4}
.sdp .dot{stroke-width:2.5} .sdp .diamond{stroke-width:1.5}
"""
_STYLE = (
    _SHAPES
    + _COLOURS.format_map(_LIGHT)
    + f"@media (prefers-color-scheme:dark){{{_COLOURS.format_map(_DARK)}}}\n"
)


class _Point(NamedTuple):
    x: float
    y: float

    def __str__(self) -> str:
        return f"{self.x:.1f},{self.y:.1f}"


def plan_svg(plans: Sequence[Plan], similarities: FloatArray | None = None) -> str:
    """Draw the curves of one to three plans, the first with its threshold and half point.

    Similarities of pairs, when given, are drawn below as a histogram on the same axis.
    """
    height = _BOTTOM + _FOOT + (0 if similarities is None else _HISTOGRAM_GAP + _HISTOGRAM)
    title, description = _words(plans)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sdp" role="img" '
        f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'aria-label="{escape(title)}. {escape(description)}">',
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>',
        _text(_LEFT, 30, title, "head"),
        _text(_LEFT, 52, f"How often a pair becomes a candidate, by {_NAMES[plans[0].measure]}"),
        *_axes(),
        *(_curve(plan, dash) for plan, dash in zip(plans, _DASHES, strict=False)),
        *_landmarks(plans[0]),
        *_legend(plans),
        *([] if similarities is None else _histogram(similarities, plans[0].threshold)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _words(plans: Sequence[Plan]) -> tuple[str, str]:
    first = plans[0]
    title = ", ".join(f"{plan.bands} bands of {plan.rows} rows" for plan in plans)
    description = (
        f"The probability of becoming a candidate rises from 0 to 1 with the similarity. It is one "
        f"half point {first.half_point:.3f}, and {_percent(first.recall)} at the threshold, "
        f"{first.threshold:g}."
    )
    return title, description


def _at(similarity: float, probability: float) -> _Point:
    return _Point(_LEFT + (_RIGHT - _LEFT) * similarity, _BOTTOM - (_BOTTOM - _TOP) * probability)


def _axes() -> list[str]:
    parts = []
    for percent in range(0, 101, 20):
        y = _at(0, percent / 100).y
        parts.append(_line(_LEFT, y, _RIGHT, y, "grid" if percent else "axis"))
        parts.append(_text(_LEFT - 10, y + 4, f"{percent} %", anchor="end"))
    return [*parts, *_similarity_axis(_BOTTOM)]


def _similarity_axis(y: float) -> list[str]:
    parts = []
    for tenth in range(11):
        x = _at(tenth / 10, 0).x
        parts.append(_line(x, y, x, y + 5, "axis"))
        parts.append(_text(x, y + 21, f"{tenth / 10:g}", anchor="middle"))
    return parts


def _curve(plan: Plan, dash: str) -> str:
    x = np.linspace(0.0, 1.0, _STEPS + 1)
    points = [_at(s, p) for s, p in zip(x.tolist(), plan.probability(x).tolist(), strict=True)]
    path = "M" + "L".join(map(str, points))
    return f'<path class="curve" stroke-dasharray="{dash}" d="{path}"/>'


def _landmarks(plan: Plan) -> list[str]:
    half = _at(plan.half_point, 0.5)
    met = _at(plan.threshold, plan.recall)
    # Beside the curve while there is room for the words: left and above, or right and below it.
    half_side = "end" if half.x > _LEFT + 180 else "start"
    met_side = "end" if met.x > _RIGHT - 120 else "start"
    return [
        _line(met.x, _TOP - 8, met.x, _BOTTOM, "threshold"),
        f'<path class="diamond" d="M{met}m0,-7l7,7l-7,7l-7,-7z"/>',
        _text(
            _beside(met.x, met_side),
            _BOTTOM - 34,
            f"threshold {plan.threshold:g}",
            "label",
            met_side,
        ),
        _text(
            _beside(met.x, met_side),
            _BOTTOM - 16,
            f"{_percent(plan.recall)} found",
            "label",
            met_side,
        ),
        f'<circle class="dot" cx="{half.x:.1f}" cy="{half.y:.1f}" r="5.5"/>',
        _text(
            _beside(half.x, half_side, 14),
            half.y + 4,
            f"half point {plan.half_point:.3f}",
            "label",
            half_side,
        ),
    ]


def _legend(plans: Sequence[Plan]) -> list[str]:
    if len(plans) == 1:
        return []
    parts = []
    for row, (plan, dash) in enumerate(zip(plans, _DASHES, strict=False)):
        y = _TOP + 18 + row * 22
        path = f"M{_LEFT + 14},{y}h36"
        parts.append(f'<path class="curve" stroke-dasharray="{dash}" d="{path}"/>')
        parts.append(_text(_LEFT + 60, y + 4, f"{plan.bands} bands of {plan.rows}", "label"))
    return parts


def _histogram(similarities: FloatArray, threshold: float) -> list[str]:
    counts, _ = np.histogram(similarities, bins=_BINS, range=(0.0, 1.0))
    foot = _BOTTOM + _HISTOGRAM_GAP + _HISTOGRAM
    unit = _HISTOGRAM / np.log10(1 + max(1, int(counts.max())))
    heights = np.log10(1 + counts) * unit  # logarithmic: duplicates are rare among random pairs
    parts = [
        _text(_LEFT, foot - _HISTOGRAM - 14, f"{counts.sum():,} pairs of the sample, by similarity")
    ]
    for power in range(1, 1 + int(np.log10(1 + counts.max())), 2):
        y = foot - np.log10(1 + 10**power) * unit
        parts.append(_line(_LEFT, y, _RIGHT, y, "grid"))
        parts.append(_text(_LEFT - 10, y + 4, f"{10**power:,}", anchor="end"))
    for edge, height in zip(np.arange(_BINS) / _BINS, heights.tolist(), strict=True):
        if height:
            x, width = _at(edge, 0).x + 1, (_RIGHT - _LEFT) / _BINS - 2
            parts.append(
                f'<rect class="bar" x="{x:.1f}" y="{foot - height:.1f}" '
                f'width="{width:.1f}" height="{height:.1f}"/>'
            )
    x = _at(threshold, 0).x
    parts.append(_line(x, foot - _HISTOGRAM, x, foot, "threshold"))
    return [*parts, _line(_LEFT, foot, _RIGHT, foot, "axis"), *_similarity_axis(foot)]


def _beside(x: float, anchor: str, distance: float = 10) -> float:
    return x - distance if anchor == "end" else x + distance


def _percent(share: float) -> str:
    """Round down, so that nothing short of certain reads 100 %."""
    return f"{np.floor(share * 1000) / 10:.1f} %"


def _line(x1: float, y1: float, x2: float, y2: float, name: str) -> str:
    return f'<path class="{name}" d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}"/>'


def _text(x: float, y: float, words: str, name: str = "", anchor: str = "start") -> str:
    style = f' class="{name}"' if name else ""
    return f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
