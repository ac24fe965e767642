"""Bands: groups of signature values, each reduced to one key; equal keys make a candidate."""

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel, keys_from_seed, mix64

_PURPOSE = 3


def band_keys(
    signatures: NDArray[np.unsignedinteger],
    bands: int,
    rows: int,
    salts: NDArray[np.uint64] | None = None,
) -> NDArray[np.uint64]:
    """Return a 64-bit fingerprint of each of the first `bands` groups of `rows` values.

    Keys of two bands never meet, nor do those of two salts (a salt per signature: its namespace).
    This is at the same time the reduction of a large sketch to a small one: two sketches agree in
    a group with probability similarity^rows.
    """
    check(bands, rows, signatures.shape[1])
    if salts is None:
        salts = np.zeros(len(signatures), np.uint64)
    keys = np.empty((len(signatures), bands), np.uint64)
    band_key_rows(signatures, weights(rows), salts, keys)
    return keys


def check(bands: int, rows: int, hashes: int) -> None:
    """Raise `ValueError` unless a signature has so many groups of values."""
    if bands < 1 or rows < 1 or bands * rows > hashes:
        raise ValueError(f"{bands} bands of {rows} rows do not fit {hashes} values")


def weights(rows: int) -> NDArray[np.uint64]:
    """Return what the values of a group are multiplied by."""
    return keys_from_seed(0, _PURPOSE, rows) | np.uint64(1)


@kernel
def band_key_rows(signatures: Array, weights: Array, salts: Array, keys: Array) -> None:
    """Write the keys of each row of `signatures`."""
    rows = weights.size
    for document in range(signatures.shape[0]):
        signature = signatures[document]
        salt = mix64(salts[document])  # else salt 1 in band 0 would be salt 0 in band 1
        for band in range(keys.shape[1]):
            total = mix64(np.uint64(salt + np.uint64(band)))
            for row in range(rows):
                total += np.uint64(np.uint64(signature[band * rows + row]) * weights[row])
            keys[document, band] = mix64(total)
