"""How similar the documents of a piece are to the groups they met: many pairs at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.decide import kinds
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.sketch import Sketcher
from stream_dedup.similarity.verify import (
    agreement_within_reach,
    agreements,
    compare,
    containment,
    estimate,
)

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Texts(NamedTuple):
    """What can be compared of each text; `short` and `elements` give rows for any of them."""

    signatures: NDArray[np.unsignedinteger]
    sizes: Numbers
    is_short: NDArray[np.bool_]
    short: Callable[[Numbers], Ragged]  # the elements of small texts
    elements: Callable[[Numbers], Ragged] | None  # of texts that are kept; an empty row if not


class Compared(NamedTuple):
    """Columns with a value for each pair of a text and an earlier one."""

    similarity: Floats
    error: Floats
    containment: Floats  # share of the text found in the earlier one
    kind: NDArray[np.int8]


class Comparison:
    """Pairs of texts, compared by signature and then, some of them, exactly."""

    def __init__(self, texts: Texts, left: Numbers, right: Numbers, sketcher: Sketcher) -> None:
        self._left, self._right = left, right
        self._sketcher = sketcher
        self._sizes, self._others = texts.sizes[left], texts.sizes[right]
        self._agreement = agreements(texts.signatures, left, right)
        self._similarity, self._error = estimate(self._agreement, sketcher.hashes, sketcher.measure)

    def compare(self, pairs: Numbers, elements: Callable[[Numbers], Ragged]) -> None:
        """Compare these pairs exactly where the elements of both sides are known."""
        if not len(pairs):
            return
        rows, numbers = np.unique(
            np.stack([self._left[pairs], self._right[pairs]]), return_inverse=True
        )
        found = elements(rows)
        left, right = numbers.reshape(2, -1)
        both = np.flatnonzero((found.lengths[left] > 0) & (found.lengths[right] > 0))
        left, right, pairs = left[both], right[both], pairs[both]
        similarities = compare(found, left, right, self._sketcher.measure)
        self._similarity[pairs], self._error[pairs] = similarities
        if self._sketcher.measure == "jaccard":  # elements are the distinct ones
            self._sizes[pairs], self._others[pairs] = found.lengths[left], found.lengths[right]

    def within_reach(self, threshold: float) -> Numbers:
        """Return the pairs that may be at the threshold or above."""
        sketcher = self._sketcher
        least = agreement_within_reach(threshold, sketcher.hashes, sketcher.measure)
        return np.flatnonzero(self._agreement >= least)

    def result(self) -> Compared:
        """Return what is known of each pair."""
        measure, similarity = self._sketcher.measure, self._similarity
        contained = containment(similarity, self._sizes, self._others, measure)
        containing = containment(similarity, self._others, self._sizes, measure)
        different = np.zeros(len(similarity), np.bool_)
        kind = kinds(different, contained, containing, self._sizes, self._others)
        return Compared(similarity, self._error, contained, kind)


def compared(
    texts: Texts,
    left: Numbers,
    right: Numbers,
    sketcher: Sketcher,
    threshold: float,
    always: Numbers,
) -> Compared:
    """Compare texts `left` with `right`.

    Small ones exactly; if texts are kept, also the pairs within reach of the threshold and those
    named by `always`.
    """
    comparison = Comparison(texts, left, right, sketcher)
    comparison.compare(np.flatnonzero(texts.is_short[left] & texts.is_short[right]), texts.short)
    if texts.elements is not None:
        pairs = np.union1d(comparison.within_reach(threshold), always)
        comparison.compare(pairs, texts.elements)
    return comparison.result()
