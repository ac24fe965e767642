"""Every pair of texts whose shingle sets reach a Jaccard similarity: exact, without hashing.

Identical normalised texts are grouped and joined once. Between groups the join is PPJoin: with the
rarest shingles first, two sets of enough overlap must share one within a prefix of each.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.oracles.text import normalise, windows
from tests.quality.prefix_join import Sets, join_sets

Ints = NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs of documents as positions in the corpus, a < b, sorted by a and then b."""

    a: Ints
    b: Ints
    jaccard: NDArray[np.float64]


class Groups(NamedTuple):
    """Documents of equal normalised text: group g is members[bounds[g]:bounds[g + 1]]."""

    texts: list[str]
    members: Ints
    bounds: Ints


def join(texts: Sequence[str], threshold: float, unit: str, size: int) -> Pairs:
    """Find every pair whose sets of shingles have at least this Jaccard similarity, above 0."""
    groups = group_copies(texts)
    return expand(join_groups(groups, threshold, unit, size), groups)


def group_copies(texts: Iterable[str]) -> Groups:
    """Group documents by normalised text, in order of first appearance; no text, no group."""
    positions: dict[str, list[int]] = defaultdict(list)
    for position, text in enumerate(texts):
        positions[normalise(text)].append(position)
    positions.pop("", None)
    members = [position for group in positions.values() for position in group]
    sizes = [len(group) for group in positions.values()]
    return Groups(list(positions), np.array(members, np.int64), _bounds(sizes))


def join_groups(groups: Groups, threshold: float, unit: str, size: int) -> Pairs:
    """Find the pairs among the distinct texts; a and b are groups."""
    tokens, bounds = _rarest_first(groups.texts, unit, size)
    sizes = np.diff(bounds)
    order = np.argsort(sizes, kind="stable")
    starts = bounds[:-1][order]
    found = join_sets(Sets(tokens, starts, starts + sizes[order]), threshold)
    a, b, overlap = order[found[:, 0]], order[found[:, 1]], found[:, 2]
    union = sizes[a] + sizes[b] - overlap
    return _sorted_pairs(a, b, overlap / union)


def expand(pairs: Pairs, groups: Groups) -> Pairs:
    """Turn pairs of groups into pairs of documents, adding the pairs inside each group."""
    sizes = np.diff(groups.bounds)
    own = np.flatnonzero(sizes > 1)
    g, h = np.concatenate([pairs.a, own]), np.concatenate([pairs.b, own])
    jaccard = np.concatenate([pairs.jaccard, np.ones(len(own))])
    times = sizes[g] * sizes[h]
    cell = np.arange(times.sum()) - np.repeat(_bounds(times)[:-1], times)
    width = np.repeat(sizes[h], times)
    a = groups.members[np.repeat(groups.bounds[g], times) + cell // width]
    b = groups.members[np.repeat(groups.bounds[h], times) + cell % width]
    once = (a < b) | np.repeat(g != h, times)
    return _sorted_pairs(a[once], b[once], np.repeat(jaccard, times)[once])


def _rarest_first(texts: Sequence[str], unit: str, size: int) -> tuple[NDArray[np.int32], Ints]:
    """Number the shingles by rarity; row i of the result is text i's set, rarest first."""
    vocabulary: dict[str, int] = {}
    rows = []
    for text in texts:
        distinct = set(windows(text, unit, size))
        numbers = [vocabulary.setdefault(shingle, len(vocabulary)) for shingle in distinct]
        rows.append(np.array(numbers, np.int32))
    bounds = _bounds([len(row) for row in rows])
    tokens = np.concatenate(rows) if rows else np.empty(0, np.int32)
    by_rarity = np.argsort(np.bincount(tokens, minlength=len(vocabulary)), kind="stable")
    rank = np.empty(len(vocabulary), np.int32)
    rank[by_rarity] = np.arange(len(vocabulary), dtype=np.int32)
    tokens = rank[tokens]
    for start, end in pairwise(bounds):
        tokens[start:end].sort()
    return tokens, bounds


def _bounds(sizes: Sequence[int] | Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _sorted_pairs(a: Ints, b: Ints, jaccard: NDArray[np.float64]) -> Pairs:
    first, second = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((second, first))
    return Pairs(first[order], second[order], jaccard[order])
