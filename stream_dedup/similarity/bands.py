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
    if bands < 1 or rows < 1 or bands * rows > signatures.shape[1]:
        raise ValueError(f"{bands} bands of {rows} rows do not fit {signatures.shape[1]} values")
    if salts is None:
        salts = np.zeros(len(signatures), np.uint64)
    keys = np.empty((len(signatures), bands), np.uint64)
    weights = keys_from_seed(0, _PURPOSE, rows) | np.uint64(1)
    _band_keys(signatures, weights, salts, keys)
    return keys


@kernel
def _band_keys(signatures: Array, weights: Array, salts: Array, keys: Array) -> None:
    rows = weights.size
    for document in range(signatures.shape[0]):
        signature = signatures[document]
        salt = mix64(salts[document])  # else salt 1 in band 0 would be salt 0 in band 1
        for band in range(keys.shape[1]):
            total = mix64(np.uint64(salt + np.uint64(band)))
            for row in range(rows):
                total += np.uint64(np.uint64(signature[band * rows + row]) * weights[row])
            keys[document, band] = mix64(total)
