"""Sets and multisets of hashes, sorted."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.similarity.elements import (
    count_distinct,
    drop_repeats,
    keep_short,
    number_repeats,
    sort_rows,
)
from stream_dedup.similarity.ragged import Ragged, bounds_of

Rows = list[list[int]]
# Few values, so that they repeat, and values at both ends and side by side, which sort badly.
values = st.one_of(
    st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2, 3, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1])
)
rows_of_hashes = st.lists(st.lists(values, max_size=40), max_size=6)


def ragged(rows: Rows) -> Ragged:
    hashes = [value for row in rows for value in row]
    return Ragged(np.array(hashes, np.uint64), bounds_of([len(row) for row in rows]))


def listed(rows: Ragged) -> Rows:
    return [rows.row(index).tolist() for index in range(rows.rows)]


def random_hashes(count: int, seed: int = 0) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)


@given(rows_of_hashes)
def test_rows_are_sorted_each_by_itself(rows: Rows) -> None:
    """Every value stays in its row, as often as it was there, in ascending order."""
    assert listed(sort_rows(ragged(rows))) == [sorted(row) for row in rows]


@given(rows_of_hashes)
def test_a_set_has_each_value_once(rows: Rows) -> None:
    """Repeats go, order stays."""
    assert listed(drop_repeats(sort_rows(ragged(rows)))) == [sorted(set(row)) for row in rows]


@given(rows_of_hashes)
def test_repeats_become_elements_of_their_own(rows: Rows) -> None:
    """Two rows share of a value as many elements as the one with fewer of it has."""
    numbered = listed(number_repeats(sort_rows(ragged(rows))))

    for row, elements in zip(rows, numbered, strict=True):
        assert elements == sorted(elements)
        assert len(set(elements)) == len(elements) == len(row)
        for other, others in zip(rows, numbered, strict=True):
            assert len({*elements} & {*others}) == (Counter(row) & Counter(other)).total()


def test_long_rows_are_sorted() -> None:
    """Rows of many hashes and of one hash many times are sorted like any other."""
    rows = [random_hashes(100_000), np.full(100_000, 2**63, np.uint64), random_hashes(3)]
    packed = Ragged(np.concatenate(rows), bounds_of([row.size for row in rows]))

    assert np.array_equal(sort_rows(packed).values, np.concatenate([np.sort(row) for row in rows]))


@given(rows_of_hashes, st.integers(0, 40))
def test_only_short_rows_are_kept(rows: Rows, length_max: int) -> None:
    """A row of more than the length is empty afterwards, the others are as they were."""
    kept = listed(keep_short(ragged(rows), length_max))

    assert kept == [row if len(row) <= length_max else [] for row in rows]


@pytest.mark.parametrize("times", [1, 2, 7])
@pytest.mark.parametrize("distinct", [0, 1, 2, 5, 18, 90, 128, 450, 5000, 60_000, 100_000])
def test_distinct_hashes_are_counted(distinct: int, times: int) -> None:
    """The count of a set is within 1 % or, where that is less than an element or two, within those.

    A bitmap of 16 bits a hash misjudges n by 0.18·√n, one standard error: here 4 of them, and 1.
    """
    sets = [random_hashes(distinct, seed) for seed in range(12)]
    rows = [np.repeat(row, times) for row in sets]
    packed = Ragged(np.concatenate(rows), bounds_of([row.size for row in rows]))

    errors = np.abs(count_distinct(packed) - distinct)

    assert errors.max() <= 1 + 4 * 0.18 * np.sqrt(distinct)
    assert errors.max() <= max(0.01 * distinct, 9)


def test_short_rows_are_counted_after_long_ones() -> None:
    """A row's count does not depend on what was counted before it."""
    rows = [random_hashes(count) for count in (5000, 3, 0, 1, 700, 3)]
    together = count_distinct(Ragged(np.concatenate(rows), bounds_of([row.size for row in rows])))
    alone = [count_distinct(Ragged(row, bounds_of([row.size])))[0] for row in rows]

    assert together.tolist() == alone
