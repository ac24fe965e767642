"""What theory expects: how likely a pair of a known similarity is found.

Of `hashes` values of two signatures k agree, in places drawn by chance. A pair is found if the
values of at least one band agree in full, and if k is not below what verification asks for. The
two depend on each other, so the ways to place k agreements are counted.
"""

from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Bands(NamedTuple):
    """How signatures are cut."""

    bands: int
    rows: int
    hashes: int


def chance(jaccard: Floats, plan: Bands, agreement_min: int = 0) -> Floats:
    """Return how likely each pair shares a band and agrees in at least so many values."""
    values, places = np.unique(jaccard, return_inverse=True)
    counts = np.arange(agreement_min, plan.hashes + 1)
    ways = np.array([_ways(plan)[count] for count in counts], np.float64)
    each = values[:, None] ** counts * (1 - values[:, None]) ** (plan.hashes - counts)
    found: Floats = (each @ ways)[places]
    return found


@cache
def _ways(plan: Bands) -> list[int]:
    """Return in how many ways 0, 1, 2, ... agreements can be placed that fill at least one band."""
    band_not_full = [comb(plan.rows, count) for count in range(plan.rows)]
    outside = plan.hashes - plan.bands * plan.rows
    misses = [comb(outside, count) for count in range(outside + 1)]
    for _ in range(plan.bands):
        misses = _product(misses, band_not_full)
    misses += [0] * (plan.hashes + 1 - len(misses))
    return [comb(plan.hashes, count) - missed for count, missed in enumerate(misses)]


def _product(left: list[int], right: list[int]) -> list[int]:
    """Multiply two polynomials."""
    product = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    return product
