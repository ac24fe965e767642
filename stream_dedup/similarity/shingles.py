"""Shingles: every run of `size` characters or words of a normalised text, as 64-bit hashes.

A shingle's hash is a polynomial modulo 2^64 at a point drawn from the seed (Karp and Rabin), mixed.
Its coefficients are the code points, each mixed under keys of the seed. It comes from two prefix
hashes, so its cost does not grow with `size`. A word shingle is the stretch of text from its first
word to its last.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel, keys_from_seed, mix64
from stream_dedup.similarity.elements import (
    count_distinct,
    drop_repeats,
    number_repeats,
    sort_rows,
)
from stream_dedup.similarity.ragged import Ragged, Room
from stream_dedup.similarity.vectors import in_wide_vectors

Unit = Literal["char", "word"]

SCHEME = "polynomial-mixed-64"

_PURPOSE = 1  # sets this module's keys apart from others of the same seed


class _Keys(NamedTuple):
    """What is drawn from the seed beside the point."""

    shingle: np.uint64  # goes into each shingle's hash
    factor: np.uint64  # odd; these two go into each code point's coefficient
    offset: np.uint64


class Cut(NamedTuple):
    """A shingling, for kernels."""

    by_character: bool
    size: int
    powers: NDArray[np.uint64]
    keys: _Keys


class Shingling(NamedTuple):
    """How a text is cut: in which unit, how many of them a shingle has, and the hash's seed."""

    unit: Unit = "char"
    size: int = 5
    multiset: bool = False  # the i-th occurrence of a shingle is an element of its own
    seed: int = 0

    def hashes(self, texts: Ragged, room: Room | None = None) -> Ragged:
        """Return each text's shingle hashes in text order, repeats included, in `room` if given.

        A text shorter than `size` is one shingle, an empty one has none.
        """
        out = (room or Room()).of(texts.values.size, np.uint64)
        out_bounds = np.zeros(texts.bounds.size, np.int64)
        hash_rows(texts.values, texts.bounds, self.cut(), out, out_bounds)
        return Ragged(out[: out_bounds[-1]], out_bounds)

    def cut(self) -> "Cut":
        """Return this as a kernel takes it."""
        point, shingle, factor, offset = keys_from_seed(self.seed, _PURPOSE, 4)
        keys = _Keys(shingle, factor | np.uint64(1), offset)
        return Cut(self.unit == "char", self.size, _powers(int(point), self.size), keys)

    def elements(self, hashes: Ragged, counts: bool = False) -> Ragged:
        """Return what exact measures compare: each row sorted and distinct, or with its repeats."""
        ordered = sort_rows(hashes)
        if counts:
            return ordered
        return number_repeats(ordered) if self.multiset else drop_repeats(ordered)

    def sizes(self, hashes: Ragged) -> NDArray[np.int64]:
        """Return how many elements each row has; linear counting finds a large set's within 1 %."""
        return hashes.lengths if self.multiset else count_distinct(hashes)


_POWERS = 8192  # in texts from this many characters on, word shingles compute their power


def _powers(point: int, size: int) -> NDArray[np.uint64]:
    """Return point^0, point^1, ...

    The point is made 3 modulo 8: no power of an odd number vanishes modulo 2^64. Two strings of the
    same two characters can still be made to collide under every seed; the shortest known have 430.
    Of those known, ones of 232 collide under one seed in 2^13, ones of 52 under one in 2^40.
    """
    powers = np.empty(max(_POWERS, size + 1), np.uint64)
    powers[0] = 1
    powers[1:] = np.uint64(point & ~7 | 3)
    return np.multiply.accumulate(powers, out=powers)


@kernel
def _mix_code_points(text: Array, keys: _Keys, mixed: Array) -> None:
    """Set mixed[i] to the coefficient of text[i], a bijection; a loop of its own is vectorised.

    One shift would leave patterns: c(a) - c(b) - c(a + d) + c(b + d) would end in zeros too often.
    The last step is not a product: to multiply all coefficients alike changes no collision.
    """
    in_wide_vectors()
    for i in range(text.size):
        value = np.uint64(np.uint64(text[i]) * keys.factor + keys.offset)
        value = np.uint64((value ^ (value >> np.uint64(32))) * np.uint64(0x94D049BB133111EB))
        mixed[i] = np.uint64(value ^ (value >> np.uint64(29)))


@kernel
def _hash_prefixes(
    text: Array, powers: Array, keys: _Keys, prefixes: Array, starts: Array | None
) -> int:
    """Set prefixes[i] to the polynomial of text[:i], and starts, if given, to where words begin.

    Four code points at a time, to wait on fewer products. Returns the number of words; past them
    starts holds where a further word would begin, one behind a space that is not there.
    """
    p1, p2, p3, p4 = powers[1], powers[2], powers[3], powers[4]
    mixed = prefixes[1:]  # each is read before its prefix is written
    _mix_code_points(text, keys, mixed)
    total = np.uint64(0)
    prefixes[0] = total
    words = np.uint64(0)
    if starts is not None:
        starts[0] = 0
        words = np.uint64(1)
    whole = text.size // 4 * 4
    for i in range(0, whole, 4):
        a = mixed[i]
        b = np.uint64(a * p1 + mixed[i + 1])
        c = np.uint64(b * p1 + mixed[i + 2])
        d = np.uint64(c * p1 + mixed[i + 3])
        prefixes[i + 1] = np.uint64(total * p1 + a)
        prefixes[i + 2] = np.uint64(total * p2 + b)
        prefixes[i + 3] = np.uint64(total * p3 + c)
        total = np.uint64(total * p4 + d)
        prefixes[i + 4] = total
        if starts is not None:
            for j in range(i, i + 4):
                starts[words] = j + 1
                words += np.uint64(text[j] == 32)
    for i in range(whole, text.size):
        total = np.uint64(total * p1 + mixed[i])
        prefixes[i + 1] = total
        if starts is not None:
            starts[words] = i + 1
            words += np.uint64(text[i] == 32)
    if starts is not None:
        starts[words] = text.size + 1
    return int(words) if text.size else 0


@kernel
def longest(bounds: Array) -> int:
    """Return the length of the longest row."""
    length = 0
    for row in range(bounds.size - 1):
        length = max(length, bounds[row + 1] - bounds[row])
    return length


@kernel
def hash_rows(texts: Array, bounds: Array, cut: Cut, out: Array, out_bounds: Array) -> None:
    """Write each row's hashes; `out` has room for as many as there are code points."""
    if cut.by_character:
        _hash_characters(texts, bounds, cut.size, cut.powers, cut.keys, out, out_bounds)
    else:
        _hash_words(texts, bounds, cut.size, cut.powers, cut.keys, out, out_bounds)


@kernel
def _hash_characters(
    texts: Array,
    bounds: Array,
    size: int,
    powers: Array,
    keys: _Keys,
    out: Array,
    out_bounds: Array,
) -> None:
    in_wide_vectors()
    prefixes = np.empty(longest(bounds) + 1, np.uint64)
    at = 0
    for row in range(bounds.size - 1):
        text = texts[bounds[row] : bounds[row + 1]]
        _hash_prefixes(text, powers, keys, prefixes, None)
        width = min(size, text.size)
        count = text.size - width + 1 if text.size else 0
        before = prefixes[:count]
        after = prefixes[width : width + count]
        hashes = out[at : at + count]
        power = powers[width]
        for i in range(count):
            hashes[i] = mix64(np.uint64(np.uint64(after[i] - before[i] * power) ^ keys.shingle))
        at += count
        out_bounds[row + 1] = at


@kernel
def _hash_words(
    texts: Array,
    bounds: Array,
    size: int,
    powers: Array,
    keys: _Keys,
    out: Array,
    out_bounds: Array,
) -> None:
    length_max = longest(bounds)
    prefixes = np.empty(length_max + 1, np.uint64)
    starts = np.empty(length_max + 2, np.int64)
    at = 0
    for row in range(bounds.size - 1):
        text = texts[bounds[row] : bounds[row + 1]]
        words = _hash_prefixes(text, powers, keys, prefixes, starts)
        width = min(size, words)
        count = words - width + 1 if words else 0
        first = starts[:count]
        behind = starts[width : width + count]
        hashes = out[at : at + count]
        for i in range(count):
            end = np.uint64(behind[i] - 1)
            power = _power(powers, behind[i] - 1 - first[i], text.size)
            hashes[i] = np.uint64(prefixes[end] - prefixes[np.uint64(first[i])] * power)
        for i in range(count):
            hashes[i] = mix64(np.uint64(hashes[i] ^ keys.shingle))
        at += count
        out_bounds[row + 1] = at


@kernel
def _power(powers: Array, exponent: int, exponent_max: int) -> np.uint64:
    """Return a power: from the table, by a test that is the same for a whole text, or computed."""
    if exponent_max < powers.size:
        return np.uint64(powers[np.uint64(exponent)])
    result = np.uint64(1)
    square = powers[1]
    while exponent:
        if exponent & 1:
            result = np.uint64(result * square)
        square = np.uint64(square * square)
        exponent >>= 1
    return np.uint64(result)
