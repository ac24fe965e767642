"""Exact similarities of pairs of texts at hand, by the product's own shingles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity import exact
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.shingles import Shingling, Unit
from stream_dedup.similarity.text import normalise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Measured(NamedTuple):
    """Pairs of texts: their Jaccard similarity, and the share of the left found in the right."""

    jaccard: Floats
    containment: Floats


def measure(texts: Sequence[str], left: Ints, right: Ints, unit: Unit, size: int) -> Measured:
    """Compare texts by their positions."""
    elements = _elements(texts, unit, size)
    return Measured(exact.jaccard(elements, left, right), exact.containment(elements, left, right))


def jaccards(pairs: Sequence[str], unit: Unit, size: int) -> Floats:
    """Compare the first text with the second, the third with the fourth and so on."""
    places = np.arange(0, len(pairs), 2)
    return measure(pairs, places, places + 1, unit, size).jaccard


def _elements(texts: Sequence[str], unit: Unit, size: int) -> Ragged:
    shingling = Shingling(unit, size)
    return shingling.elements(shingling.hashes(normalise(texts)))
