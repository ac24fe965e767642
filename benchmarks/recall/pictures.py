"""The pictures of what systems find and miss."""

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.curves import Axis, Curve, Dots, Panel, Point, curves_chart
from benchmarks.recall.counts import interval
from benchmarks.recall.records import MadeUp, RecallResults, Theory, Trial

OURS = "stream_dedup"
EXACT, UNVERIFIED = f"{OURS}, exact", f"{OURS}, unverified"
PAIRS_MIN = 20  # in a bin that is drawn

# One look for a library, whatever is drawn of it, and for ours one more.
_LOOKS = {
    EXACT: 6,
    OURS: 0,
    UNVERIFIED: 0,
    **{"datasketch": 1, "datasketch, checked": 1},
    **{"rensa": 2, "rensa, checked": 2},
    **{"gaoya": 3, "gaoya, calculated": 3},
    "text-dedup": 4,
    "simhash": 5,
}
_LABELS = {OURS: f"{OURS}, signatures"}

_AS_DOCUMENTED = (EXACT, OURS, "datasketch", "rensa", "gaoya", "text-dedup", "simhash")
_UNCHECKED = (UNVERIFIED, "datasketch", "rensa", "text-dedup")
_CHECKED = (EXACT, OURS, "datasketch, checked", "rensa, checked", "gaoya, calculated", "simhash")


def by_threshold(results: RecallResults) -> str:
    """Draw each system's recall over the nominal threshold, a panel for each collection."""
    axis = Axis("nominal threshold", results.thresholds[0], results.thresholds[-1])
    panels = [
        Panel(f"{trial.corpus}, {trial.shingles}", _recalls(results.thresholds, trial))
        for trial in results.trials
    ]
    return curves_chart("Recall of all pairs at the threshold or above", axis, panels)


def by_similarity(results: RecallResults) -> str:
    """Draw what is found at one threshold over the exact similarity."""
    threshold, trial = results.curve_threshold, results.trials[0]
    made_up = _made_up(results.made_up, results.bin_width)
    found = {one.name: _points(one.found, trial.bins, results.bin_width) for one in trial.answers}
    panels = [
        ("Made-up pairs: what bands bring, unchecked", made_up, _UNCHECKED),
        ("Made-up pairs: what is returned after a check", made_up, _CHECKED),
        (f"{trial.corpus}: what is returned after a check", found, _CHECKED),
    ]
    return curves_chart(
        f"What is found at the nominal threshold {threshold:g}",
        Axis("exact Jaccard similarity", 0.3, 1),
        [Panel(name, _curves(points, shown), at=threshold) for name, points, shown in panels],
    )


def over_theory(theory: Theory) -> str:
    """Draw the curves of plans, and what was measured."""
    curves, dots = [], []
    for look, plan in enumerate(theory.plans):
        rows = [
            row
            for row in zip(theory.similarity, plan.found, theory.bins, plan.expected, strict=True)
            if row[2] >= PAIRS_MIN
        ]
        name = f"{plan.threshold:g}: {plan.bands} × {plan.rows}"
        expected = [(similarity, expected / pairs) for similarity, _, pairs, expected in rows]
        curves.append(Curve(name, look, expected, marked=False))
        points = [(similarity, found / pairs) for similarity, found, pairs, _ in rows]
        dots.append(Dots(look, points, [interval(found, pairs) for _, found, pairs, _ in rows]))
    panel = Panel("Share of pairs that share a band", curves, dots)
    title = f"Measured over theory, {theory.hashes} functions"
    return curves_chart(title, Axis("exact Jaccard similarity", 0, 1), [panel])


def _recalls(thresholds: Sequence[float], trial: Trial) -> list[Curve]:
    """Return the curves, the highest first."""
    recalls = {
        one.name: [
            (threshold, score.found / pairs)
            for threshold, score, pairs in zip(thresholds, one.scores, trial.pairs, strict=True)
            if pairs
        ]
        for one in trial.answers
    }
    curves = _curves(recalls, _AS_DOCUMENTED)
    return sorted(curves, key=lambda curve: -sum(share for _, share in curve.points))


def _curves(points: Mapping[str, Sequence[Point]], shown: Iterable[str]) -> list[Curve]:
    """Return the curves of those systems that were measured."""
    return [
        Curve(_LABELS.get(name, name), _LOOKS[name], points[name])
        for name in shown
        if points.get(name)
    ]


def _made_up(collections: Sequence[MadeUp], width: float) -> dict[str, list[Point]]:
    """Return the points of each system, in the first shingles that it was asked about."""
    return {
        curve.name: _points(curve.found, collection.bins, width)
        for collection in reversed(collections)
        for curve in collection.curves
    }


def _points(found: Sequence[int], bins: Sequence[int], width: float) -> list[Point]:
    """Return the share found in the middle of each bin that has enough pairs."""
    return [
        ((place + 0.5) * width, part / pairs)
        for place, (part, pairs) in enumerate(zip(found, bins, strict=True))
        if pairs >= PAIRS_MIN
    ]
