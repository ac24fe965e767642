"""Fingerprints: 128 bits of a normalised text, by which exact copies are known."""

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel, keys_from_seed, mix64
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.vectors import in_wide_vectors

_PURPOSE = 4


def fingerprints(texts: Ragged, seed: int = 0) -> NDArray[np.uint64]:
    """Return two 64-bit words for each text: equal for equal texts, else different.

    Each (place, code point) is drawn a pseudo-random number, and both words are sums over them, of
    the number and of a second mix of it: two texts meet by chance once in 2^128.
    """
    words = np.empty((texts.rows, 2), np.uint64)
    fingerprint_rows(texts.values, texts.bounds, key(seed), words)
    return words


def key(seed: int) -> np.uint64:
    """Return what goes into each number that is drawn."""
    drawn: np.uint64 = keys_from_seed(seed, _PURPOSE, 1)[0]
    return drawn


@kernel
def fingerprint_rows(texts: Array, bounds: Array, key: np.uint64, words: Array) -> None:
    """Write the two words of each text."""
    in_wide_vectors()
    for row in range(bounds.size - 1):
        text = texts[bounds[row] : bounds[row + 1]]
        first = np.uint64(text.size)
        second = np.uint64(text.size)
        for i in range(text.size):
            place = np.uint64(np.uint64(i) * np.uint64(0x9E3779B97F4A7C15))
            drawn = mix64(np.uint64(np.uint64(place + np.uint64(text[i])) ^ key))
            first += drawn
            second += np.uint64((drawn ^ (drawn >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9))
        words[row, 0] = mix64(first)
        words[row, 1] = mix64(second)
