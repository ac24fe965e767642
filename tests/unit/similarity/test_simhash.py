"""SimHash signatures, bit by bit; their statistics are tested in `tests/quality`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.shingles import Shingling
from stream_dedup.similarity.simhash import SimHash
from stream_dedup.similarity.text import normalise

rows_of_hashes = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=20), max_size=5)


def ragged(rows: list[list[int]]) -> Ragged:
    values = [value for row in rows for value in row]
    return Ragged(np.array(values, np.uint64), bounds_of([len(row) for row in rows]))


def random_rows(lengths: list[int]) -> list[list[int]]:
    generator = np.random.default_rng(5)
    return [generator.integers(0, 2**64, length, np.uint64).tolist() for length in lengths]


@given(rows_of_hashes, st.integers(2, 9))
def test_only_the_direction_of_the_counts_matters(rows: list[list[int]], times: int) -> None:
    """A text repeated, or in another order, lies on the same sides."""
    repeated = [row[::-1] * times for row in rows]

    assert np.array_equal(SimHash(64).sign(ragged(rows)), SimHash(64).sign(ragged(repeated)))


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1))
def test_a_shingle_that_outweighs_all_others_decides(major: int, minor: int, seed: int) -> None:
    """A hash counts as often as it occurs: at ten thousand to one the one is not seen."""
    family = SimHash(128, seed)
    alone, outweighed = family.sign(ragged([[major], [major] * 10_000 + [minor]]))

    # The least weight is 0.0003 of a standard deviation, the greatest 3.7.
    assert (alone != outweighed).sum() <= 1


@pytest.mark.parametrize("bits", [1, 4, 5, 6, 64, 128, 1023, 1024])
def test_any_number_of_bits_is_made(bits: int) -> None:
    """Signatures of fewer bits are the beginnings of those of more."""
    rows = ragged(random_rows([3, 50, 1]))
    signed = SimHash(bits, seed=9).sign(rows)

    assert signed.shape == (3, bits)
    assert signed.max() <= 1
    assert np.array_equal(signed, SimHash(1024, seed=9).sign(rows)[:, :bits])


def test_bits_are_balanced() -> None:
    """Over many texts each bit is set every second time."""
    share = SimHash(100).sign(ragged(random_rows([7] * 4000))).mean(axis=0)

    # One standard error is 0.008.
    assert 0.46 < share.min() < share.max() < 0.54


def test_rows_do_not_depend_on_the_batch() -> None:
    """A row has the same signature alone and among others."""
    rows = random_rows([0, 500, 1, 64, 0, 3])
    family = SimHash(70)

    together = family.sign(ragged(rows))

    assert np.array_equal(together, np.concatenate([family.sign(ragged([row])) for row in rows]))


def test_an_empty_batch_has_no_signatures() -> None:
    """No rows in, no rows out."""
    assert SimHash(128).sign(ragged([])).shape == (0, 128)


def test_seeds_differ() -> None:
    """Two seeds agree on half of the bits of a text."""
    row = ragged(random_rows([40]))

    assert 400 < (SimHash(1000, 1).sign(row) != SimHash(1000, 2).sign(row)).sum() < 600


def test_signatures_are_pinned() -> None:
    """Changing these changes the scheme and orphans stored signatures."""
    hashes = Shingling("char", 5).hashes(normalise(["The quick brown fox", "日本語", ""]))
    signed = np.packbits(SimHash(64).sign(hashes), axis=1)

    assert [row.tobytes().hex() for row in signed] == [
        "9c0aecf39a27f854",
        "ab2544884c0d3045",
        "ffffffffffffffff",
    ]
    assert np.packbits(SimHash(64, seed=7).sign(hashes)[0]).tobytes().hex() == "178e2e085a7a3dd7"
