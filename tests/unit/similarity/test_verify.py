"""Estimates, exact values and what follows from them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.curve import Measure
from stream_dedup.similarity.shingles import Shingling
from stream_dedup.similarity.text import normalise
from stream_dedup.similarity.verify import compare, containment, estimate
from tests.oracles import text as oracle
from tests.strategies import repetitive_texts


def test_jaccard_is_estimated_by_the_share_of_equal_values() -> None:
    """Of 128 values 32 are equal: 0.25."""
    estimated = estimate(np.array([0, 32, 128]), 128, "jaccard")

    assert estimated.similarity.tolist() == [0, 0.25, 1]


def test_cosine_is_estimated_by_the_angle() -> None:
    """A third of the bits differ: an angle of 60 degrees, cosine one half."""
    estimated = estimate(np.array([200, 150, 300, 0]), 300, "cosine")

    assert estimated.similarity == pytest.approx([0.5, 0, 1, -1])


@pytest.mark.parametrize("hashes", [64, 128, 1024])
def test_the_error_is_the_binomial_one(hashes: int) -> None:
    """One standard error of Jaccard is √(J(1−J)/t)."""
    agreement = np.arange(hashes // 10, hashes - hashes // 10)
    similarity = agreement / hashes
    expected = np.sqrt(similarity * (1 - similarity) / hashes)

    assert estimate(agreement, hashes, "jaccard").error == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("hashes", [64, 128, 1024])
def test_the_error_of_the_cosine_is_that_of_the_angle(hashes: int) -> None:
    """One standard error of cos(πp) is π·sin(πp)·√(p(1−p)/t)."""
    agreement = np.arange(hashes // 10, hashes - hashes // 10)
    p = 1 - agreement / hashes
    expected = np.pi * np.sin(np.pi * p) * np.sqrt(p * (1 - p) / hashes)

    assert estimate(agreement, hashes, "cosine").error == pytest.approx(expected, rel=0.3, abs=0.01)


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
def test_full_agreement_is_no_proof(measure: Measure) -> None:
    """An estimate of 1, or of nothing in common, still has an error."""
    error = estimate(np.array([0, 128]), 128, measure).error

    assert (error > 0.0001).all()


@given(repetitive_texts(), repetitive_texts(), st.integers(1, 4), st.booleans())
def test_comparing_is_exact(first: str, second: str, size: int, multiset: bool) -> None:
    """From elements both measures are the reference's, without an error."""
    shingling = Shingling("char", size, multiset)
    hashes = shingling.hashes(normalise([first, second]))
    one, other = np.array([0]), np.array([1])

    by_jaccard = compare(shingling.elements(hashes), one, other, "jaccard")
    by_cosine = compare(shingling.elements(hashes, counts=True), one, other, "cosine")

    assert by_jaccard.similarity.tolist() == [
        oracle.jaccard(*(oracle.shingles(text, "char", size, multiset) for text in (first, second)))
    ]
    assert by_cosine.similarity.tolist() == [
        oracle.cosine(*(oracle.counts(text, "char", size) for text in (first, second)))
    ]
    assert by_jaccard.error.tolist() == by_cosine.error.tolist() == [0.0]


@given(repetitive_texts(), repetitive_texts(), st.integers(1, 4), st.booleans())
def test_containment_follows_from_jaccard(
    first: str, second: str, size: int, multiset: bool
) -> None:
    """From the Jaccard similarity and both sizes, of sets and multisets, it is what it is."""
    a, b = (oracle.shingles(text, "char", size, multiset) for text in (first, second))
    found = containment(
        np.array([oracle.jaccard(a, b)]), np.array([len(a)]), np.array([len(b)]), "jaccard"
    )

    assert found == pytest.approx([oracle.containment(a, b)])


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_containment_follows_from_cosine_without_repeats(a: set[int], b: set[int]) -> None:
    """Where no shingle is repeated the cosine and both sizes tell as much."""
    cosine = len(a & b) / math.sqrt(len(a) * len(b)) if a and b else 0.0
    found = containment(np.array([cosine]), np.array([len(a)]), np.array([len(b)]), "cosine")

    assert found == pytest.approx([len(a & b) / len(a) if a else 0.0])


def test_containment_is_never_above_one() -> None:
    """An estimate that is too high, of a text much shorter than the other, is cut."""
    found = containment(np.array([0.9, 0.9]), np.array([10, 0]), np.array([100, 0]), "jaccard")

    assert found.tolist() == [1.0, 0.0]
