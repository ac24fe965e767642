"""Elements: a text's shingle hashes as sets and multisets, sorted so that two can be merged."""

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel, mix64
from stream_dedup.similarity.ragged import Ragged, bounds_of


def sort_rows(hashes: Ragged) -> Ragged:
    """Return each row sorted, repeats kept: in linear time, for hashes are spread evenly."""
    out = np.empty_like(hashes.values)
    sort_into(hashes.values, hashes.bounds, out)
    return Ragged(out, hashes.bounds)


def drop_repeats(ordered: Ragged) -> Ragged:
    """Return each row's set."""
    out = np.empty_like(ordered.values)
    out_bounds = np.zeros_like(ordered.bounds)
    _drop_repeats(ordered.values, ordered.bounds, out, out_bounds)
    return Ragged(out[: out_bounds[-1]], out_bounds)


def number_repeats(ordered: Ragged) -> Ragged:
    """Return each row's multiset as a set: the i-th occurrence of a hash becomes one of its own."""
    numbered = number_repeats_of(ordered.values, ordered.bounds)
    return sort_rows(Ragged(numbered, ordered.bounds))


def count_distinct(hashes: Ragged) -> NDArray[np.int64]:
    """Return the size of each row's set, within about 0.2·√size (linear counting)."""
    sizes = np.empty(hashes.rows, np.int64)
    count_distinct_rows(hashes.values, hashes.bounds, sizes)
    return sizes


def keep_short(hashes: Ragged, length_max: int) -> Ragged:
    """Return the rows of at most that length; the others are empty."""
    lengths = np.where(hashes.lengths <= length_max, hashes.lengths, 0)
    out = np.empty(lengths.sum(), np.uint64)
    bounds = bounds_of(lengths)
    _copy_rows(hashes.values, hashes.bounds, out, bounds)
    return Ragged(out, bounds)


@kernel
def sort_into(hashes: Array, bounds: Array, out: Array) -> None:
    """Scatter each row by its leading bits into about one bucket per hash, then insert in order."""
    places = np.empty(1, np.int64)
    for row in range(bounds.size - 1):
        source = hashes[bounds[row] : bounds[row + 1]]
        target = out[bounds[row] : bounds[row + 1]]
        bits = 1
        while (1 << bits) < source.size:
            bits += 1
        shift = np.uint64(64 - bits)
        if places.size < (1 << bits) + 1:
            places = np.empty((1 << bits) + 1, np.int64)
        places[: (1 << bits) + 1] = 0
        for i in range(source.size):
            places[(source[i] >> shift) + np.uint64(1)] += 1
        for i in range(1 << bits):
            places[i + 1] += places[i]
        for i in range(source.size):
            bucket = source[i] >> shift
            target[places[bucket]] = source[i]
            places[bucket] += 1
        for i in range(1, target.size):
            value = target[i]
            j = i
            while j > 0 and target[j - 1] > value:
                target[j] = target[j - 1]
                j -= 1
            target[j] = value


@kernel
def _drop_repeats(ordered: Array, bounds: Array, out: Array, out_bounds: Array) -> None:
    at = 0
    for row in range(bounds.size - 1):
        for i in range(bounds[row], bounds[row + 1]):
            if i == bounds[row] or ordered[i] != ordered[i - 1]:
                out[at] = ordered[i]
                at += 1
        out_bounds[row + 1] = at


@kernel
def number_repeats_of(ordered: Array, bounds: Array) -> Array:
    """Return each hash re-hashed with how many of its like stand before it; the first unchanged."""
    out = np.empty_like(ordered)
    for row in range(bounds.size - 1):
        repeats = np.uint64(0)
        for i in range(bounds[row], bounds[row + 1]):
            if i > bounds[row] and ordered[i] == ordered[i - 1]:
                repeats += np.uint64(1)
                out[i] = mix64(np.uint64(ordered[i] + repeats * np.uint64(0x9E3779B97F4A7C15)))
            else:
                repeats = np.uint64(0)
                out[i] = ordered[i]
    return out


@kernel
def count_distinct_rows(hashes: Array, bounds: Array, sizes: Array) -> None:
    """Mark each hash in a bitmap of 16 bits or more a hash, and correct for those that meet."""
    bitmap = np.zeros(16, np.uint64)
    for row in range(bounds.size - 1):
        source = hashes[bounds[row] : bounds[row + 1]]
        words = 16
        while words * 4 < source.size:
            words *= 2
        if bitmap.size < words:
            bitmap = np.zeros(words, np.uint64)
        bitmap[:words] = 0
        mask = np.uint64(words - 1)
        for i in range(source.size):
            word = (source[i] >> np.uint64(6)) & mask
            bitmap[word] |= np.uint64(1) << (source[i] & np.uint64(63))
        marked = np.uint64(0)
        for word in bitmap[:words]:
            marked += _count_bits(word)
        places = words * 64.0
        sizes[row] = round(-places * np.log1p(-np.float64(marked) / places))


@kernel
def _count_bits(word: np.uint64) -> np.uint64:
    """Return how many are set: in pairs, in fours, in eights, in all. One instruction, compiled."""
    one, two, four = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
    word = np.uint64(word - ((word >> np.uint64(1)) & np.uint64(one)))
    word = np.uint64((word & np.uint64(two)) + ((word >> np.uint64(2)) & np.uint64(two)))
    word = np.uint64((word + (word >> np.uint64(4))) & np.uint64(four))
    return np.uint64(np.uint64(word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _copy_rows(values: Array, bounds: Array, out: Array, out_bounds: Array) -> None:
    for row in range(bounds.size - 1):
        for i in range(out_bounds[row + 1] - out_bounds[row]):
            out[out_bounds[row] + i] = values[bounds[row] + i]
