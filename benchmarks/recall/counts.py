"""Counting: which of the returned pairs are similar enough, and which similar pairs are missing."""

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

JUST_ABOVE = 0.05  # of a threshold
BIN_WIDTH = 0.02
BINS = round(1 / BIN_WIDTH)

_DEVIATIONS = 1.96  # an interval of 95 %


class Truth(NamedTuple):
    """Every pair of a collection from some similarity on, as `pair_numbers` has it."""

    documents: int
    pairs: Numbers
    jaccard: Floats


class Counts(NamedTuple):
    """Pairs that were returned, and those of them that reach a threshold, or reach it just so."""

    returned: int
    found: int
    found_just_above: int


def pair_numbers(pairs: Numbers, documents: int) -> Numbers:
    """Return a number for each pair, in order and once, whichever document comes first."""
    low, high = pairs.min(axis=1, initial=documents), pairs.max(axis=1, initial=0)
    return np.unique((low * documents + high)[low < high])


def as_rows(pairs: Iterable[tuple[int, int]]) -> Numbers:
    """Return pairs as rows of an array."""
    return np.array(list(pairs), np.int64).reshape(-1, 2)


def similar_pairs(truth: Truth, threshold: float) -> tuple[int, int]:
    """Return how many pairs reach the threshold, and how many of them reach it just so."""
    return int(_reaching(truth, threshold).sum()), int(_just_above(truth, threshold).sum())


def count(returned: Numbers, truth: Truth, threshold: float) -> Counts:
    """Compare the numbers of the pairs that a system returned with the truth."""
    found = is_found(returned, truth)
    return Counts(
        len(returned),
        int((found & _reaching(truth, threshold)).sum()),
        int((found & _just_above(truth, threshold)).sum()),
    )


def is_found(returned: Numbers, truth: Truth) -> Flags:
    """Tell which pairs of the truth were returned."""
    return np.isin(truth.pairs, returned)


def by_similarity(jaccard: Floats) -> list[int]:
    """Count pairs by similarity, in bins up to 1; what is equal belongs to the last bin."""
    return [int(number) for number in np.bincount(bins_of(jaccard), minlength=BINS)]


def bins_of(jaccard: Floats) -> Numbers:
    """Return the bin of each similarity."""
    # Without the grain 0.58 would lie in the bin below 0.58, as its quotient is 28.999….
    return np.minimum((jaccard / BIN_WIDTH + 1e-9).astype(np.int64), BINS - 1)


def interval(found: int, pairs: int) -> tuple[float, float]:
    """Return between which shares the true one lies, 95 times of 100 (Wilson)."""
    square = _DEVIATIONS**2
    share = found / pairs
    centre = (share + square / (2 * pairs)) / (1 + square / pairs)
    reach = _DEVIATIONS * sqrt(share * (1 - share) / pairs + square / (4 * pairs**2))
    reach /= 1 + square / pairs
    return max(0.0, centre - reach), min(1.0, centre + reach)


def _reaching(truth: Truth, threshold: float) -> Flags:
    return truth.jaccard >= threshold


def _just_above(truth: Truth, threshold: float) -> Flags:
    return _reaching(truth, threshold) & (truth.jaccard < threshold + JUST_ABOVE)
