"""MinHash signatures, value by value; their statistics are tested in `tests/quality`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.similarity.minhash import MinHash
from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.shingles import Shingling
from stream_dedup.similarity.text import normalise

ALL_ONES = 2**32 - 1
hash_values = st.one_of(
    st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**32, 2**32 + 1, 2**31, 2**64 - 2**32])
)
rows_of_hashes = st.lists(st.lists(hash_values, max_size=30), max_size=5)


def ragged(rows: list[list[int]]) -> Ragged:
    values = [value for row in rows for value in row]
    return Ragged(np.array(values, np.uint64), bounds_of([len(row) for row in rows]))


def random_row(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(count).integers(0, 2**64, count, np.uint64)


def slow_signature(multipliers: list[int], row: list[int]) -> list[int]:
    """Take each minimum in plain integers; an element is 32 bits and never 0."""
    elements = {max(value % 2**32, 1) for value in row}
    return [
        min((multiplier * element % 2**32 for element in elements), default=ALL_ONES)
        for multiplier in multipliers
    ]


@given(rows_of_hashes, st.integers(1, 300), st.integers(0, 2**63 - 1))
def test_a_signature_holds_the_minima(rows: list[list[int]], hashes: int, seed: int) -> None:
    """Each value is the smallest product of any element with an odd number, modulo 2^32."""
    family = MinHash(hashes, seed)
    multipliers = family.sign(ragged([[1]]))[0].tolist()

    assert all(multiplier % 2 for multiplier in multipliers)
    assert family.sign(ragged(rows)).tolist() == [slow_signature(multipliers, row) for row in rows]


@pytest.mark.parametrize("count", [1, 63, 64, 65, 4095, 4096, 4097, 8192, 20_000])
def test_long_rows_are_signed_to_their_last_hash(count: int) -> None:
    """Rows about the lengths at which the loops change have the minima of their elements."""
    row, family = random_row(count), MinHash(16, seed=3)
    multipliers = family.sign(ragged([[1]]))[0]
    products = row.astype(np.uint32)[:, None] * multipliers

    assert np.array_equal(
        family.sign(ragged([[], row.tolist(), []])),
        [[ALL_ONES] * 16, products.min(axis=0), [ALL_ONES] * 16],
    )


@given(st.lists(st.lists(hash_values, max_size=30), min_size=2, max_size=2))
def test_the_union_has_the_smaller_values(rows: list[list[int]]) -> None:
    """The signature of two texts together is the minimum of theirs, in any order, with repeats."""
    first, second = rows
    both = [*second, *first, *first]
    signed = MinHash(32).sign(ragged([first, second, both]))

    assert np.array_equal(np.minimum(signed[0], signed[1]), signed[2])


def test_rows_do_not_depend_on_the_batch() -> None:
    """A row has the same signature alone and among others."""
    rows = [random_row(count).tolist() for count in (0, 5000, 1, 64, 0, 4096, 3)]
    family = MinHash(20)

    together = family.sign(ragged(rows))

    assert np.array_equal(together, np.concatenate([family.sign(ragged([row])) for row in rows]))


def test_an_empty_batch_has_no_signatures() -> None:
    """No rows in, no rows out."""
    assert MinHash(128).sign(ragged([])).shape == (0, 128)


def test_functions_and_seeds_differ() -> None:
    """No two of a thousand functions are the same, nor are those of two seeds."""
    one = ragged([[1]])
    multipliers = np.concatenate([MinHash(1000, seed).sign(one)[0] for seed in range(4)])

    # Of 4,000 odd numbers of 32 bits that are drawn, fewer than one pair is equal: 0.004 expected.
    assert np.unique(multipliers).size == 4000


def test_signatures_are_pinned() -> None:
    """Changing these changes the scheme and orphans stored signatures."""
    hashes = Shingling("char", 5).hashes(normalise(["The quick brown fox", "日本語", ""]))

    english, japanese, empty = MinHash(128).sign(hashes)[:, :8].tolist()

    assert english[:4] == [385312820, 78334444, 156515429, 441561805]
    assert english[4:] == [633665012, 798381417, 12070783, 8271975]
    assert japanese[:4] == [760623928, 665405832, 2960000376, 880221224]
    assert japanese[4:] == [2807575240, 2044409352, 2616564552, 1879463032]
    assert empty == [ALL_ONES] * 8
    assert MinHash(128, seed=7).sign(hashes)[0, :3].tolist() == [327997001, 180176749, 162045935]
