"""The prefix, length and position filters of PPJoin over sets of numbered shingles.

Sets come in ascending size, each in ascending number with the rarest shingle lowest. A filter only
drops a pair that arithmetic proves too far apart; what is left is counted in full.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# Lower bounds are eased by this much, so that a rounding error can only let a pair through.
SLACK = 1e-6
TOO_FAR = -1


class Sets(NamedTuple):
    """Set i is tokens[starts[i]:ends[i]]."""

    tokens: NDArray[np.int32]
    starts: Ints
    ends: Ints


class Postings(NamedTuple):
    """Which earlier sets hold token t in their prefix, and where: rows heads[t] to tails[t]."""

    heads: Ints
    tails: Ints
    sets: NDArray[np.int32]
    offsets: NDArray[np.int32]


class Candidates(NamedTuple):
    """The sets one probe has met, and how many tokens each was seen to share with it."""

    met: NDArray[np.int32]
    shared: NDArray[np.int32]


def join_sets(sets: Sets, threshold: float) -> Ints:
    """Find (i, j, overlap), one row each, for every j < i with overlap / union >= threshold."""
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, not {threshold}")
    number = len(sets.starts)
    candidates = Candidates(np.empty(number, np.int32), np.zeros(number, np.int32))
    return _join(sets, _empty_postings(sets, threshold), candidates, threshold)


def _compiled(kernel: Kernel) -> Kernel:
    return cast(Kernel, njit(cache=True, nogil=True)(kernel))


@_compiled
def _overlap_min(size_a: int, size_b: int, threshold: float) -> int:
    """Give the smallest intersection that reaches the threshold."""
    return max(1, math.ceil(threshold / (1 + threshold) * (size_a + size_b) - SLACK))


@_compiled
def _size(i: int, sets: Sets) -> int:
    return int(sets.ends[i] - sets.starts[i])


@_compiled
def _kept_prefix(i: int, sets: Sets, threshold: float) -> int:
    """Give the number of tokens of which a set at least as large must share one."""
    size = _size(i, sets)
    return size - _overlap_min(size, size, threshold) + 1


@_compiled
def _empty_postings(sets: Sets, threshold: float) -> Postings:
    heads = np.zeros(sets.tokens.max() + 2 if len(sets.tokens) else 1, np.int64)
    for i in range(len(sets.starts)):
        for offset in range(_kept_prefix(i, sets, threshold)):
            heads[sets.tokens[sets.starts[i] + offset] + 1] += 1
    heads = np.cumsum(heads)
    room = heads[-1]
    return Postings(heads, heads.copy(), np.empty(room, np.int32), np.empty(room, np.int32))


@_compiled
def _join(sets: Sets, postings: Postings, candidates: Candidates, threshold: float) -> Ints:
    found, length = np.empty((1024, 3), np.int64), 0
    for i in range(len(sets.starts)):
        met = candidates.met[: _probe(i, sets, postings, candidates, threshold)]
        if length + len(met) > len(found):
            found = np.concatenate((found, np.empty((length + len(met), 3), np.int64)))
        for j in met:
            overlap = 0 if candidates.shared[j] == TOO_FAR else _overlap(i, j, sets, threshold)
            if overlap / (_size(i, sets) + _size(j, sets) - overlap) >= threshold:
                found[length, 0], found[length, 1], found[length, 2] = i, j, overlap
                length += 1
            candidates.shared[j] = 0
        _keep(i, sets, postings, threshold)
    return found[:length]


@_compiled
def _probe(i: int, sets: Sets, postings: Postings, candidates: Candidates, threshold: float) -> int:
    """Meet the kept sets that share a token of the prefix of set i; return how many."""
    count, size, shared = 0, _size(i, sets), candidates.shared
    size_min = max(1, math.ceil(threshold * size - SLACK))
    for offset in range(size - size_min + 1):
        token = sets.tokens[sets.starts[i] + offset]
        _forget_smaller(token, size_min, sets, postings)
        for row in range(postings.heads[token], postings.tails[token]):
            j = postings.sets[row]
            if shared[j] == 0:
                candidates.met[count] = j
                count += 1
            if shared[j] != TOO_FAR:
                shared[j] += 1
                rest = min(size - offset, _size(j, sets) - postings.offsets[row]) - 1
                if shared[j] + rest < _overlap_min(size, _size(j, sets), threshold):
                    shared[j] = TOO_FAR
    return count


@_compiled
def _forget_smaller(token: int, size_min: int, sets: Sets, postings: Postings) -> None:
    """Skip what is too small for this probe, and so for every later one."""
    head, tail = postings.heads[token], postings.tails[token]
    while head < tail and _size(postings.sets[head], sets) < size_min:
        head += 1
    postings.heads[token] = head


@_compiled
def _keep(i: int, sets: Sets, postings: Postings, threshold: float) -> None:
    """Enter the prefix of set i, for later probes to meet."""
    for offset in range(_kept_prefix(i, sets, threshold)):
        token = sets.tokens[sets.starts[i] + offset]
        row = postings.tails[token]
        postings.sets[row], postings.offsets[row] = i, offset
        postings.tails[token] = row + 1


@_compiled
def _overlap(i: int, j: int, sets: Sets, threshold: float) -> int:
    """Count what two sets share; 0 as soon as it cannot reach the threshold."""
    a, a_end, b, b_end = sets.starts[i], sets.ends[i], sets.starts[j], sets.ends[j]
    needed = _overlap_min(a_end - a, b_end - b, threshold)
    count = 0
    while a < a_end and b < b_end and count + min(a_end - a, b_end - b) >= needed:
        token_a, token_b = sets.tokens[a], sets.tokens[b]
        count += token_a == token_b
        a += token_a <= token_b
        b += token_b <= token_a
    return count if count >= needed else 0
