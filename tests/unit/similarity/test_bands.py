"""Band keys: equal where groups of signature values are equal, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.similarity.bands import band_keys

# Values so few that groups are often equal, and such as a weak sum would take for each other.
signature_values = st.sampled_from([0, 1, 2, 3, 2**16 - 1])


@st.composite
def signed_batches(draw: st.DrawFn) -> tuple[NDArray[np.uint16], int, int]:
    rows, bands, rest = (draw(st.integers(low, 4)) for low in (1, 1, 0))
    count, width = draw(st.integers(0, 8)), rows * bands + rest
    row = st.lists(signature_values, min_size=width, max_size=width)
    values = draw(st.lists(row, min_size=count, max_size=count))
    return np.array(values, np.uint16).reshape(count, width), bands, rows


@given(signed_batches())
def test_keys_are_equal_where_groups_are(batch: tuple[NDArray[np.uint16], int, int]) -> None:
    """A key stands for its band and the values in it, and for nothing else in the signature."""
    signatures, bands, rows = batch
    keys = band_keys(signatures, bands, rows)
    groups = [
        (band, *signature[band * rows : (band + 1) * rows].tolist())
        for signature in signatures
        for band in range(bands)
    ]
    met = {*zip(keys.reshape(-1).tolist(), groups, strict=True)}

    assert keys.shape == (len(signatures), bands)
    assert len(met) == len({key for key, _ in met}) == len({group for _, group in met})


def test_values_in_another_order_have_another_key() -> None:
    """A group is a sequence, not a set."""
    signatures = np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3], [1, 1, 4]], np.uint32)

    assert np.unique(band_keys(signatures, 1, 3)).size == 4


def test_namespaces_do_not_meet() -> None:
    """Under another salt every key of every band is another one."""
    signatures = np.zeros((2000, 128), np.uint32)
    salts = np.arange(2000, dtype=np.uint64)

    assert np.unique(band_keys(signatures, 21, 6, salts)).size == 2000 * 21


def test_no_salt_is_the_salt_zero() -> None:
    """Documents without a namespace are those of the empty one."""
    signatures = np.arange(12, dtype=np.uint32).reshape(2, 6)
    salts = np.zeros(2, np.uint64)

    assert np.array_equal(band_keys(signatures, 2, 3), band_keys(signatures, 2, 3, salts))


def test_random_groups_do_not_meet() -> None:
    """Among a million random groups no two keys are equal, nor are their lower 40 bits unspread."""
    generator = np.random.default_rng(11)
    signatures = generator.integers(0, 2**32, (50_000, 120), np.uint32)
    keys = np.unique(band_keys(signatures, 20, 6))

    assert keys.size == 1_000_000
    # A million keys of 40 bits meet 0.45 times on average.
    assert np.unique(keys & np.uint64(2**40 - 1)).size >= 1_000_000 - 5
    assert np.unique(keys >> np.uint64(24)).size >= 1_000_000 - 5


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_keys_do_not_depend_on_the_width_of_the_values(dtype: type[np.unsignedinteger]) -> None:
    """The same values have the same keys in a byte each and in four."""
    bits = np.random.default_rng(2).integers(0, 2, (20, 24))

    keys = band_keys(bits.astype(dtype), 4, 6)

    assert np.array_equal(keys, band_keys(bits.astype(np.uint32), 4, 6))


@pytest.mark.parametrize(("bands", "rows"), [(0, 1), (1, 0), (-1, 2), (3, 43), (128, 2)])
def test_what_does_not_fit_is_refused(bands: int, rows: int) -> None:
    """There are at least one band of one row and no more values than the signature has."""
    with pytest.raises(ValueError, match=f"{bands} bands of {rows} rows"):
        band_keys(np.zeros((1, 128), np.uint32), bands, rows)


def test_keys_are_pinned() -> None:
    """Changing these changes the scheme and orphans stored signatures."""
    signatures = np.arange(128, dtype=np.uint32).reshape(1, 128)
    keys = band_keys(signatures, 21, 6)

    assert keys[0, :3].tolist() == [0x1A24BF54F7666B39, 0x7D2AD94E925CD64D, 0x8856476A7FAA3CAE]
    salted = band_keys(signatures, 2, 50, np.array([12345], np.uint64))
    assert salted[0, 1] == 0xE55AEDA53243DEB7
