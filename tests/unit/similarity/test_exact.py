"""Exact measures on rows of hashes, against the reference on texts."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity import exact
from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.shingles import Shingling, Unit
from stream_dedup.similarity.text import normalise
from tests.oracles import text as oracle
from tests.strategies import repetitive_texts, texts

units: st.SearchStrategy[Unit] = st.sampled_from(["char", "word"])
batches = st.lists(st.one_of(repetitive_texts(), texts()), min_size=1, max_size=6)


def every_pair(count: int) -> tuple[np.ndarray, np.ndarray]:
    left, right = zip(*product(range(count), repeat=2), strict=True)
    return np.array(left, np.int32), np.array(right, np.int32)


def elements(batch: list[str], shingling: Shingling, counts: bool = False) -> Ragged:
    return shingling.elements(shingling.hashes(normalise(batch)), counts)


@given(batches, units, st.integers(1, 6), st.booleans())
def test_jaccard_and_containment_are_the_reference_s(
    batch: list[str], unit: Unit, size: int, multiset: bool
) -> None:
    """On sets and multisets every pair has the reference's values to the last bit."""
    rows = elements(batch, Shingling(unit, size, multiset))
    left, right = every_pair(len(batch))
    sets = [oracle.shingles(text, unit, size, multiset) for text in batch]
    pairs = list(product(sets, repeat=2))

    assert exact.jaccard(rows, left, right).tolist() == [oracle.jaccard(a, b) for a, b in pairs]
    assert exact.containment(rows, left, right).tolist() == [
        oracle.containment(a, b) for a, b in pairs
    ]
    assert exact.shared_counts(rows, left, right).tolist() == [len(a & b) for a, b in pairs]


@given(batches, units, st.integers(1, 6))
def test_cosine_is_the_reference_s(batch: list[str], unit: Unit, size: int) -> None:
    """On counts of shingles every pair has the reference's value to the last bit."""
    rows = elements(batch, Shingling(unit, size), counts=True)
    left, right = every_pair(len(batch))
    counted = [oracle.counts(text, unit, size) for text in batch]

    assert exact.cosine(rows, left, right).tolist() == [
        oracle.cosine(a, b) for a, b in product(counted, repeat=2)
    ]


def test_no_pairs_have_no_values() -> None:
    """An empty list of pairs is answered with one."""
    rows = elements(["abc"], Shingling())
    none = np.zeros(0, np.int32)

    assert exact.jaccard(rows, none, none).size == 0
    assert exact.cosine(rows, none, none).size == 0
    assert exact.containment(rows, none, none).size == 0


def test_empty_rows_are_like_nothing() -> None:
    """A text without shingles has similarity 0 with every text, itself included."""
    rows = elements(["", "abc", "..."], Shingling())
    left, right = every_pair(3)
    expected = [float(a == b == 1) for a, b in zip(left, right, strict=True)]

    assert exact.jaccard(rows, left, right).tolist() == expected
    assert exact.cosine(rows, left, right).tolist() == expected
    assert exact.containment(rows, left, right).tolist() == expected


def test_large_counts_are_exact() -> None:
    """Ten million times one shingle is in the direction of one; a single other one is seen."""
    lengths = np.array([10_000_000, 1, 10_000_001])
    values = np.concatenate([np.full(10_000_000, 5), [5], np.full(10_000_000, 5), [9]])
    rows = Ragged(values.astype(np.uint64), bounds_of(lengths))
    left, right = np.array([0, 0, 2]), np.array([1, 2, 2])

    same, other, itself = exact.cosine(rows, left, right).tolist()

    assert (same, itself) == (1.0, 1.0)
    assert other == pytest.approx(1.0, abs=1e-13)


def test_hashes_at_both_ends_are_compared() -> None:
    """The smallest and the greatest hash are elements like any others."""
    first, second = [0, 1, 2**63, 2**64 - 1], [0, 2**63 - 1, 2**64 - 1]
    rows = Ragged(np.array(first + second, np.uint64), bounds_of([4, 3]))

    assert exact.jaccard(rows, np.array([0]), np.array([1])).tolist() == [2 / 5]
    assert exact.cosine(rows, np.array([0]), np.array([1])).tolist() == [2 / 12**0.5]
