"""The curves of our plans as they come out, beside what theory expects of the same pairs."""

from typing import Literal

import numpy as np

from benchmarks.recall.counts import BINS, Floats, bins_of, by_similarity
from benchmarks.recall.pairs import made_up_pairs
from benchmarks.recall.peers.question import HASHES
from benchmarks.recall.records import Planned, Theory
from stream_dedup.config import SimilaritySettings
from stream_dedup.similarity.curve import candidate_probability
from stream_dedup.similarity.sketch import Sketcher

_THRESHOLDS = (0.6, 0.7, 0.8, 0.9)
_UNIT: Literal["char"] = "char"
_SIZE = 5


def measure(per_bin: int, seed: int) -> Theory:
    """Look in how many of the pairs of each similarity the keys of a band are equal."""
    texts, jaccard = made_up_pairs(_UNIT, _SIZE, per_bin, 0, seed + 1)
    bins = by_similarity(jaccard)
    return Theory(
        shingles=f"{_UNIT}-{_SIZE}",
        hashes=HASHES,
        bins=bins,
        similarity=(_totals(jaccard, jaccard) / np.maximum(bins, 1)).tolist(),
        plans=[_planned(threshold, texts, jaccard) for threshold in _THRESHOLDS],
    )


def _planned(threshold: float, texts: list[str], jaccard: Floats) -> Planned:
    settings = SimilaritySettings(unit=_UNIT, size=_SIZE, hashes=HASHES, threshold=threshold)
    sketcher = Sketcher.planned(settings)
    keys = sketcher.sketch(texts).keys
    meet = (keys[::2] == keys[1::2]).any(axis=1)
    expected = candidate_probability(jaccard, sketcher.bands, sketcher.rows)
    return Planned(
        threshold=threshold,
        bands=sketcher.bands,
        rows=sketcher.rows,
        found=by_similarity(jaccard[meet]),
        expected=_totals(jaccard, expected).tolist(),
    )


def _totals(jaccard: Floats, values: Floats) -> Floats:
    """Add the values up by bin of similarity."""
    totals: Floats = np.bincount(bins_of(jaccard), values, minlength=BINS).astype(np.float64)
    return totals
