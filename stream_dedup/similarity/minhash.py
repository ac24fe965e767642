"""MinHash: for each of t functions the least value over a set; two sets agree at rate Jaccard.

Nearly all of the t values of an element are too large to be the least of many. So those in the
lowest part of a function's range, a 512th, are made first, and without the others: an element has
as many of them, among all functions, as a Poisson variable says, a quarter of one on average where
t is 128. It throws these, each to a function that is drawn for it, and a function keeps the least
that it is thrown. As in every Poisson process, what one function gets says nothing of another. Of
a thousand elements most functions get a value. For the others all elements lie above that part:
there the least value is computed.

An element is a mixed hash of 64 bits. Its products with odd numbers, drawn from the seed, say how
often it throws, where to, and what. A value above the lowest part is the product of its low 32
bits, never 0, modulo 2^32: a bijection. An offset would change nothing that trials of bias, spread
or joint agreement can see.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel, keys_from_seed
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.vectors import in_wide_vectors

SCHEME = "minhash-poisson-32"

_PURPOSE = 2
_BLOCK = 4096  # hashes whose 32-bit forms stay in the first-level cache while all functions pass
_LANES = 64  # several vectors of any processor: they do not wait for each other
_LOWEST = 1 / 512  # the part of a function's range of which values are thrown
_NOTHING = np.uint32(0xFFFFFFFF)  # of a function that got no value yet


class Functions(NamedTuple):
    """Those of a seed, as kernels take them."""

    multipliers: NDArray[np.uint32]  # of each function, for values above the lowest part
    counting: np.uint64  # the upper half of a product with it says how often an element throws
    throws: NDArray[
        np.uint64
    ]  # of each throw; a product's upper half says where to, the lower what
    shares: NDArray[np.uint64]  # of 2^32 elements so many throw a first time, a second, ...


class MinHash:
    """`hashes` functions of one seed."""

    def __init__(self, hashes: int = 128, seed: int = 0) -> None:
        shares = _shares(hashes * _LOWEST)
        keys = keys_from_seed(seed, _PURPOSE, hashes + 1 + shares.size) | np.uint64(1)
        multipliers = keys[:hashes].astype(np.uint32)
        self.functions = Functions(multipliers, keys[hashes], keys[hashes + 1 :], shares)

    def sign(self, hashes: Ragged) -> NDArray[np.uint32]:
        """Return each row's minima, one per function; of a row without hashes, all ones."""
        signatures = np.empty((hashes.rows, self.functions.multipliers.size), np.uint32)
        sign_rows(hashes.values, hashes.bounds, self.functions, signatures)
        return signatures


def _shares(mean: float) -> NDArray[np.uint64]:
    """Return of how many of 2^32 elements a Poisson variable is at least 1, 2, ..."""
    shares = []
    below = math.exp(-mean)
    fewer = below
    while (share := round((1 - fewer) * 2**32)) > 0:
        shares.append(share)
        below *= mean / len(shares)
        fewer += below
    return np.array(shares, np.uint64)


@kernel
def shortened(signatures: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """Return the low 16 bits of the minima.

    Two different minima then pass for equal once in 65,536: far below the standard error.
    """
    return signatures.astype(np.uint16)


@kernel
def sign_rows(hashes: Array, bounds: Array, functions: Functions, signatures: Array) -> None:
    """Write the minima of each row."""
    in_wide_vectors()
    throwing = np.empty(0, np.uint64)
    block = np.empty(_BLOCK, np.uint32)
    for row in range(bounds.size - 1):
        elements = hashes[bounds[row] : bounds[row + 1]]
        signature = signatures[row]
        signature[:] = _NOTHING
        if throwing.size < elements.size:
            throwing = np.empty(2 * elements.size, np.uint64)
        _throw(elements, functions, throwing, signature)
        empty = np.flatnonzero(signature == _NOTHING)
        if empty.size:
            _compute(elements, functions.multipliers, empty, block, signature)


@kernel
def _throw(elements: Array, functions: Functions, throwing: Array, signature: Array) -> None:
    """Lower the signature to what the elements throw."""
    _, counting, throws, shares = functions
    count = _choose(elements, counting, shares[0], throwing)
    for number in range(shares.size):
        if number > 0:
            count = _choose(throwing[:count], counting, shares[number], throwing)
        for i in range(count):
            product = np.uint64(throwing[i] * throws[number])
            function = ((product >> np.uint64(32)) * np.uint64(signature.size)) >> np.uint64(32)
            signature[function] = min(signature[function], np.uint32(product))


@kernel
def _choose(elements: Array, counting: np.uint64, share: np.uint64, chosen: Array) -> int:
    """Put the elements of this share first into `chosen`, which may be where they lie."""
    count = np.uint64(0)
    for i in range(elements.size):
        element = elements[i]
        chosen[count] = element  # overwritten by the next if it is not one of them
        count += np.uint64((np.uint64(element * counting) >> np.uint64(32)) < share)
    return int(count)


@kernel
def _compute(
    elements: Array, multipliers: Array, functions: Array, block: Array, signature: Array
) -> None:
    """Set the values of these functions, which have none yet, to the least of all elements."""
    for start in range(0, elements.size, _BLOCK):
        part = elements[start : min(start + _BLOCK, elements.size)]
        _lower(block[: _fill(part, block)], multipliers, functions, signature)


@kernel
def _fill(source: Array, block: Array) -> int:
    """Set the block to the elements, and repeat one of them to a whole number of vectors."""
    padded = (source.size + _LANES - 1) // _LANES * _LANES
    for i in range(source.size):
        block[i] = max(np.uint32(source[i]), np.uint32(1))
    for i in range(source.size, padded):
        block[i] = block[0]
    return padded


@kernel
def _lower(elements: Array, multipliers: Array, functions: Array, signature: Array) -> None:
    in_wide_vectors()
    for function in functions:
        multiplier = multipliers[function]
        least = signature[function]
        for i in range(elements.size):
            least = min(least, np.uint32(elements[i] * multiplier))
        signature[function] = least
