"""MinHash: for each of t functions the smallest value over a set; two sets agree at rate Jaccard.

Function f maps an element x, the low 32 bits of its mixed hash and never 0, to a_f * x mod 2^32
with a_f odd and drawn from the seed: a bijection, and x is even over its range, so that each
minimum falls on each element alike. An offset, a_f * x + b_f, would change nothing that trials of
bias, spread or joint agreement can see, and costs a quarter of the time.
"""

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel, keys_from_seed
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.vectors import LANES, least_product

SCHEME = "minhash-multiply-32"

_PURPOSE = 2
_BLOCK = 4096  # hashes whose 32-bit forms stay in the first-level cache while all functions pass


class MinHash:
    """`hashes` functions of one seed."""

    def __init__(self, hashes: int = 128, seed: int = 0) -> None:
        keys = keys_from_seed(seed, _PURPOSE, hashes)
        self.multipliers = keys.astype(np.uint32) | np.uint32(1)

    def sign(self, hashes: Ragged) -> NDArray[np.uint32]:
        """Return each row's minima, one per function; of a row without hashes, all ones."""
        signatures = np.empty((hashes.rows, self.multipliers.size), np.uint32)
        sign_rows(hashes.values, hashes.bounds, self.multipliers, signatures)
        return signatures


@kernel
def shortened(signatures: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """Return the low 16 bits of the minima.

    Two different minima then pass for equal once in 65,536: far below the standard error.
    """
    return signatures.astype(np.uint16)


@kernel
def sign_rows(hashes: Array, bounds: Array, multipliers: Array, signatures: Array) -> None:
    """Write the minima of each row."""
    block = np.empty(_BLOCK, np.uint32)
    for row in range(bounds.size - 1):
        signature = signatures[row]
        signature[:] = np.uint32(0xFFFFFFFF)
        for start in range(bounds[row], bounds[row + 1], _BLOCK):
            source = hashes[start : min(start + _BLOCK, bounds[row + 1])]
            _lower(block[: _fill(source, block)], multipliers, signature)


@kernel
def _fill(source: Array, block: Array) -> int:
    """Set the block to the elements, and repeat one of them to a whole number of vectors."""
    padded = (source.size + LANES - 1) // LANES * LANES
    for i in range(source.size):
        block[i] = max(np.uint32(source[i]), np.uint32(1))
    for i in range(source.size, padded):
        block[i] = block[0]
    return padded


@kernel
def _lower(elements: Array, multipliers: Array, signature: Array) -> None:
    for function in range(multipliers.size):
        least = least_product(elements, multipliers[function])
        signature[function] = min(signature[function], least)
