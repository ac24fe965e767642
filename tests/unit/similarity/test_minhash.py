"""MinHash signatures, value by value; their statistics are tested in `tests/quality`."""

from math import exp, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.similarity.minhash import Functions, MinHash
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


def slow_signature(functions: Functions, row: list[int]) -> list[int]:
    """Sign a row in plain integers."""
    values = [ALL_ONES] * functions.multipliers.size
    for element in row:
        counted = element * int(functions.counting) % 2**64 >> 32
        times = sum(counted < share for share in functions.shares.tolist())
        for factor in functions.throws.tolist()[:times]:
            product = element * factor % 2**64
            target = (product >> 32) * len(values) >> 32
            values[target] = min(values[target], product % 2**32)
    elements = [max(element % 2**32, 1) for element in row]
    computed = [
        min((multiplier * element % 2**32 for element in elements), default=ALL_ONES)
        for multiplier in functions.multipliers.tolist()
    ]
    return [
        thrown if thrown != ALL_ONES else least
        for thrown, least in zip(values, computed, strict=True)
    ]


@given(rows_of_hashes, st.integers(1, 300), st.integers(0, 2**63 - 1))
def test_a_signature_holds_the_minima(rows: list[list[int]], hashes: int, seed: int) -> None:
    """A function's value is the least that an element throws to it, or else the least product."""
    family = MinHash(hashes, seed)

    assert family.sign(ragged(rows)).tolist() == [
        slow_signature(family.functions, row) for row in rows
    ]


@pytest.mark.parametrize("hashes", [1, 16, 128, 1024])
@pytest.mark.parametrize("count", [1, 63, 64, 65, 500, 4095, 4096, 4097, 8192, 20_000])
def test_long_rows_are_signed_to_their_last_hash(count: int, hashes: int) -> None:
    """Rows about the lengths at which the loops change have the minima of their elements."""
    row, family = random_row(count).tolist(), MinHash(hashes, seed=3)

    signed = family.sign(ragged([[], row, []])).tolist()

    nothing = [ALL_ONES] * hashes
    assert signed == [nothing, slow_signature(family.functions, row), nothing]


def test_a_row_of_one_element_again_and_again_is_signed_by_that_element() -> None:
    """Repeats change nothing, also where they are many and nearly all functions get no throw."""
    family = MinHash(128)

    assert (
        family.sign(ragged([[7] * 10_000, [7]])).tolist()
        == [slow_signature(family.functions, [7])] * 2
    )


@pytest.mark.parametrize("hashes", [1, 128, 512, 2048])
def test_elements_throw_as_often_as_chance_says(hashes: int) -> None:
    """The numbers of throws are those of a Poisson process: a 512th for each function."""
    mean = hashes / 512
    shares = MinHash(hashes).functions.shares.astype(float) / 2**32
    exactly = -np.diff(shares, prepend=1, append=0)
    expected = [exp(-mean) * mean**count / factorial(count) for count in range(exactly.size)]

    assert np.abs(exactly - expected).max() < 2**-31


@given(st.lists(st.lists(hash_values, max_size=30), min_size=2, max_size=2))
def test_the_union_agrees_with_one_of_its_parts(rows: list[list[int]]) -> None:
    """Each value of two texts together is that of one of them, in any order, with repeats."""
    first, second = rows
    both = [*second, *first, *first]
    one, other, union = MinHash(32).sign(ragged([first, second, both]))

    assert np.all((union == one) | (union == other))


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
    """No two of a thousand functions are the same, nor are those of two seeds, nor any throws."""
    families = [MinHash(1000, seed).functions for seed in range(4)]
    multipliers = np.concatenate([family.multipliers for family in families])
    factors = np.concatenate([[family.counting, *family.throws] for family in families])

    # Of 4,000 odd numbers of 32 bits that are drawn, fewer than one pair is equal: 0.004 expected.
    assert np.unique(multipliers).size == 4000
    assert np.unique(factors).size == factors.size
    assert np.all(multipliers % 2 == 1)
    assert np.all(factors % 2 == 1)


def test_signatures_are_pinned() -> None:
    """Changing these changes the scheme and orphans stored signatures."""
    numbers = " ".join(map(str, range(500)))
    hashes = Shingling("char", 5).hashes(normalise(["The quick brown fox", "日本語", "", numbers]))

    english, japanese, empty, long = MinHash(128).sign(hashes)[:, :8].tolist()

    assert english[:4] == [385312820, 78334444, 156515429, 441561805]
    assert english[4:] == [633665012, 798381417, 12070783, 8271975]
    assert japanese[:4] == [760623928, 665405832, 2960000376, 880221224]
    assert japanese[4:] == [2807575240, 2044409352, 2616564552, 1879463032]
    assert empty == [ALL_ONES] * 8
    assert long[:4] == [2695508511, 634061425, 1128303450, 2898184905]
    assert long[4:] == [1010305271, 334930536, 1785441864, 744275041]
    assert MinHash(128, seed=7).sign(hashes)[0, :3].tolist() == [327997001, 180176749, 162045935]
