"""SimHash: on which side of t random hyperplanes a vector of shingle counts lies.

Two vectors at angle θ differ in a bit with probability θ/π, so that a share p of differing bits
says cosine cos(πp). That holds for normally distributed hyperplanes at any number of shingles; with
the customary +1 and -1 it does not hold for texts of few shingles.
"""

import functools
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel, keys_from_seed, mix64
from stream_dedup.similarity.ragged import Ragged

SCHEME = "simhash-normal-12"

_PURPOSE = 5
_DRAWS = 5  # 12-bit draws from one 64-bit hash


class SimHash:
    """`bits` hyperplanes of one seed."""

    def __init__(self, bits: int = 128, seed: int = 0) -> None:
        self.bits = bits
        self._keys = keys_from_seed(seed, _PURPOSE, -(-bits // _DRAWS))

    def sign(self, hashes: Ragged) -> NDArray[np.uint8]:
        """Return each row's bits, one a byte; a hash counts as often as it occurs."""
        signatures = np.empty((hashes.rows, self.bits), np.uint8)
        _sign(hashes.values, hashes.bounds, self._keys, _normal_quantiles(), signatures)
        return signatures


@functools.cache
def _normal_quantiles() -> NDArray[np.int64]:
    """Return 4,096 equally likely values of a normal distribution, in units of 2^-16."""
    normal = NormalDist()
    return np.array([round(normal.inv_cdf((i + 0.5) / 4096) * 65536) for i in range(4096)])


@kernel
def _sign(hashes: Array, bounds: Array, keys: Array, quantiles: Array, signatures: Array) -> None:
    bits = signatures.shape[1]
    totals = np.empty(keys.size * _DRAWS, np.int64)
    for row in range(bounds.size - 1):
        totals[:] = 0
        for i in range(bounds[row], bounds[row + 1]):
            for group in range(keys.size):
                drawn = mix64(np.uint64(hashes[i] ^ keys[group]))
                for j in range(_DRAWS):
                    totals[group * _DRAWS + j] += quantiles[drawn & np.uint64(4095)]
                    drawn >>= np.uint64(12)
        for bit in range(bits):
            signatures[row, bit] = totals[bit] >= 0
