"""Keys and mixing: the numbers on which every scheme rests."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.compiled import keys_from_seed, mix64

MASK = 2**64 - 1


def mixed(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


@given(st.integers(0, MASK))
def test_the_kernel_mixes_like_plain_integers(value: int) -> None:
    """Compiled arithmetic wraps at 64 bits and nowhere else."""
    assert int(mix64(np.uint64(value))) == mixed(value)


def test_each_bit_moves_half_of_the_bits() -> None:
    """Turning any one of the 64 bits turns each bit of the result about every second time."""
    values = np.random.default_rng(1).integers(0, 2**64, 400, np.uint64).tolist()
    turned = np.array(
        [[mixed(value) ^ mixed(value ^ 1 << bit) for bit in range(64)] for value in values],
        np.uint64,
    )
    share = ((turned[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).mean(axis=0)

    assert 0.3 < share.min() < share.max() < 0.7


@given(st.integers(0, MASK), st.integers(0, 100))
def test_more_keys_begin_with_the_fewer(seed: int, count: int) -> None:
    """The n-th key does not depend on how many there are."""
    assert keys_from_seed(seed, 2, count).tolist() == keys_from_seed(seed, 2, 100)[:count].tolist()


def test_keys_of_different_seeds_and_purposes_are_unrelated() -> None:
    """No key occurs twice among those of many seeds and purposes."""
    keys = [keys_from_seed(seed, purpose, 64) for seed in range(200) for purpose in range(1, 6)]

    assert np.unique(np.concatenate(keys)).size == 200 * 5 * 64


def test_keys_are_pinned() -> None:
    """Changing these changes every scheme and orphans all stored signatures."""
    assert keys_from_seed(0, 1, 2).tolist() == [0xA706DD2F4D197E6F, 0xB382A305F4414F5E]
    assert keys_from_seed(2**63 - 1, 5, 2).tolist() == [0x1D3AA7B348D18D69, 0xDE114730CD921D92]
