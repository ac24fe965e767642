"""Verification: how similar the two sides of each candidate pair are, by estimate or exactly."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity import exact
from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.curve import (
    Measure,
    agreement_from_similarity,
    similarity_from_agreement,
    standard_error,
)
from stream_dedup.similarity.ragged import Ragged

Floats = NDArray[np.float64]
Indexes = NDArray[np.integer]

_MARGIN = 4.0  # standard errors by which an estimate may fall short of what it estimates


class Similarities(NamedTuple):
    """A value for each pair."""

    similarity: Floats
    error: Floats  # one standard error; 0 where the similarity is exact


def agreements(signatures: Array, left: Indexes, right: Indexes) -> NDArray[np.int64]:
    """Return how many values the signatures of each pair of rows share."""
    counts = np.empty(len(left), np.int64)
    _agreements(signatures, left, right, counts)
    return counts


@kernel
def _agreements(signatures: Array, left: Array, right: Array, counts: Array) -> None:
    for pair in range(left.size):
        counts[pair] = agreement(signatures[left[pair]], signatures[right[pair]])


@kernel
def agreement(a: Array, b: Array) -> int:
    """Return how many values two signatures share; they have fewer than 2^16."""
    equal = np.uint16(0)  # as narrow as the values: a vector takes in more of them
    for i in range(a.size):
        equal = np.uint16(equal + np.uint16(a[i] == b[i]))
    return int(equal)


def agreement_within_reach(threshold: float, hashes: int, measure: Measure) -> int:
    """Return how many values agree at least, but for a freak, in a pair at the threshold."""
    expected = agreement_from_similarity(threshold, measure)
    error = np.sqrt(expected * (1 - expected) / hashes)
    return int(np.floor((expected - _MARGIN * error) * hashes))


def estimate(agreement: NDArray[np.integer], hashes: int, measure: Measure) -> Similarities:
    """Estimate from how many of the signatures' values agree.

    The error is that of one more agreement and one more disagreement: a signature that agrees in
    all values does not prove that the texts are the same.
    """
    similarity = similarity_from_agreement(agreement / hashes, measure)
    smoothed = similarity_from_agreement((agreement + 1) / (hashes + 2), measure)
    return Similarities(similarity, standard_error(smoothed, hashes, measure))


def compare(elements: Ragged, left: Indexes, right: Indexes, measure: Measure) -> Similarities:
    """Compute from the elements of both rows."""
    function = exact.jaccard if measure == "jaccard" else exact.cosine
    similarity = function(elements, left, right)
    return Similarities(similarity, np.zeros_like(similarity))


def containment(
    similarity: Floats, sizes: NDArray[np.int64], others: NDArray[np.int64], measure: Measure
) -> Floats:
    """Return the share of a text's elements found in the other, from similarity and both sizes.

    From Jaccard it follows exactly; from the cosine only if no shingle is repeated.
    """
    if measure == "jaccard":
        shared = similarity * (sizes + others) / (1 + similarity)
    else:
        shared = similarity * np.sqrt(sizes * others)
    return np.minimum(1.0, shared / np.maximum(sizes, 1))
