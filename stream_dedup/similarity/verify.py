"""Verification: how similar the two sides of each candidate pair are, by estimate or exactly."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity import exact
from stream_dedup.similarity.curve import Measure, similarity_from_agreement, standard_error
from stream_dedup.similarity.ragged import Ragged

Floats = NDArray[np.float64]
Indexes = NDArray[np.integer]


class Similarities(NamedTuple):
    """A value for each pair."""

    similarity: Floats
    error: Floats  # one standard error; 0 where the similarity is exact


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
