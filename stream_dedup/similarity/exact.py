"""Exact measures on shingles: Jaccard, cosine, containment, for many pairs of rows at once.

Jaccard and containment take rows of distinct sorted elements, of sets or, with numbered repeats, of
multisets; cosine takes sorted hashes with their repeats, which are the counts. An empty row is like
nothing, not even another empty one.
"""

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.ragged import Ragged

Indexes = NDArray[np.integer]
Floats = NDArray[np.float64]


def jaccard(elements: Ragged, left: Indexes, right: Indexes) -> Floats:
    """Return |A ∩ B| / |A ∪ B| for each pair of rows."""
    shared = shared_counts(elements, left, right)
    sizes = elements.lengths
    return _ratio(shared, sizes[left] + sizes[right] - shared)


def containment(elements: Ragged, left: Indexes, right: Indexes) -> Floats:
    """Return |A ∩ B| / |A| for each pair of rows: the share of the left one found in the right."""
    return _ratio(shared_counts(elements, left, right), elements.lengths[left])


def cosine(ordered: Ragged, left: Indexes, right: Indexes) -> Floats:
    """Return the cosine of the angle between the counts of each pair of rows."""
    products = np.zeros(len(left))
    _dot_products(ordered.values, ordered.bounds, left, right, products)
    every = np.arange(ordered.rows)
    squares = np.zeros(ordered.rows)
    _dot_products(ordered.values, ordered.bounds, every, every, squares)
    return _ratio(products, np.sqrt(squares[left] * squares[right]))


def shared_counts(elements: Ragged, left: Indexes, right: Indexes) -> NDArray[np.int64]:
    """Return |A ∩ B| for each pair of rows."""
    counts = np.zeros(len(left), np.int64)
    _shared_counts(elements.values, elements.bounds, left, right, counts)
    return counts


def _ratio(part: Array, whole: Array) -> Floats:
    ratio = np.zeros(len(part))
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


@kernel
def _shared_counts(
    elements: Array, bounds: Array, left: Array, right: Array, counts: Array
) -> None:
    for pair in range(left.size):
        a = elements[bounds[left[pair]] : bounds[left[pair] + 1]]
        b = elements[bounds[right[pair]] : bounds[right[pair] + 1]]
        i = np.uint64(0)
        j = np.uint64(0)
        shared = 0
        while i < a.size and j < b.size:
            x = a[i]
            y = b[j]
            shared += x == y
            i += np.uint64(x <= y)
            j += np.uint64(y <= x)
        counts[pair] = shared


@kernel
def _dot_products(
    ordered: Array, bounds: Array, left: Array, right: Array, products: Array
) -> None:
    for pair in range(left.size):
        i = bounds[left[pair]]
        j = bounds[right[pair]]
        while i < bounds[left[pair] + 1] and j < bounds[right[pair] + 1]:
            if ordered[i] == ordered[j]:
                repeats_a = _run(ordered, i, bounds[left[pair] + 1])
                repeats_b = _run(ordered, j, bounds[right[pair] + 1])
                products[pair] += np.float64(repeats_a) * np.float64(repeats_b)
                i += repeats_a
                j += repeats_b
            elif ordered[i] < ordered[j]:
                i += 1
            else:
                j += 1


@kernel
def _run(ordered: Array, start: int, end: int) -> int:
    """Return how often the value at start stands there in a row."""
    at = start + 1
    while at < end and ordered[at] == ordered[start]:
        at += 1
    return at - start
