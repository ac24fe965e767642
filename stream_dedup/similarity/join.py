"""The join: every pair of documents of a corpus whose band keys meet, bounded in a dense one.

Identical texts are one in the buckets: a copy meets what its first occurrence meets. A document
looks at no more than `bucket_size_max` earlier texts in a bucket, the oldest half and the newest,
and so the work grows with the number of documents, however alike they are.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.verify import agreement as agreement_of

Positions = NDArray[np.int32]
Map = Callable[[Callable[[int], None], Iterable[int]], Iterable[None]]


class Groups(NamedTuple):
    """Documents grouped by identical text."""

    texts: Positions  # per document: the number of its text
    firsts: Positions  # per text: the document that brought it
    members: Positions  # the documents of each text in order, texts end to end
    bounds: NDArray[np.int64]  # where each text's members begin and end


class Buckets(NamedTuple):
    """Texts in the order of their key, per band; a bucket is a run of equal keys."""

    order: Positions  # [band, rank] -> text; within a bucket in the order of texts
    ranks: Positions  # [text, band] -> rank
    starts: Positions  # [text, band] -> the rank at which its bucket begins


class Limits(NamedTuple):
    """What bounds the search."""

    bucket_size_max: int  # texts looked at in a bucket
    partners_max: int  # pairs kept of a document
    agreement_min: int  # signature values that are equal in a pair worth keeping


class Candidates(NamedTuple):
    """Pairs of documents, ordered by the later one and then by the earlier one."""

    earlier: Positions
    later: Positions
    agreement: NDArray[np.int32]  # how many signature values are equal; all, for identical texts
    counts: NDArray[np.int64]  # pairs of each later document in the range
    cut: NDArray[np.bool_]  # per document in the range: it had more than it may have
    hidden: int  # bucket entries passed over because their bucket was too large

    def keep_first(self, counts: NDArray[np.int64]) -> "Candidates":
        """Return no more pairs of each document than this, the earliest."""
        ends = np.cumsum(self.counts)
        places = np.arange(len(self.later)) - np.repeat(ends - self.counts, self.counts)
        kept = np.flatnonzero(places < np.repeat(counts, self.counts))
        columns = (self.earlier[kept], self.later[kept], self.agreement[kept])
        return Candidates(*columns, counts, self.cut, self.hidden)


def group_identical(fingerprints: NDArray[np.uint64]) -> Groups:
    """Number the distinct texts in order of appearance."""
    count = len(fingerprints)
    order = np.lexsort((np.arange(count), fingerprints[:, 1], fingerprints[:, 0]))
    ordered = fingerprints[order]
    fresh = np.ones(count, np.bool_)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    by_fingerprint = np.empty(count, np.int64)
    by_fingerprint[order] = order[fresh][np.cumsum(fresh) - 1]
    firsts, texts = np.unique(by_fingerprint, return_inverse=True)
    members = np.argsort(texts, kind="stable")
    bounds = np.searchsorted(texts[members], np.arange(len(firsts) + 1))
    return Groups(texts.astype(np.int32), firsts.astype(np.int32), members.astype(np.int32), bounds)


def fill_buckets(keys: NDArray[np.uint64], map_bands: Map = map) -> Buckets:
    """Sort the texts by key, band by band; keys is [text, band]. A map may run bands in threads."""
    shapes = (keys.T.shape, keys.shape, keys.shape)
    buckets = Buckets(*(np.empty(shape, np.int32) for shape in shapes))
    ranks = np.arange(len(keys), dtype=np.int32)

    def fill(band: int) -> None:
        band_keys = np.ascontiguousarray(keys[:, band])
        order = np.argsort(band_keys, kind="stable")
        ordered = band_keys[order]
        begins = np.ones(len(ordered), np.bool_)
        begins[1:] = ordered[1:] != ordered[:-1]
        buckets.order[band] = order
        buckets.ranks[order, band] = ranks
        buckets.starts[order, band] = np.maximum.accumulate(np.where(begins, ranks, 0))

    for _ in map_bands(fill, range(keys.shape[1])):
        pass
    return buckets


def find_candidates(
    groups: Groups,
    signatures: NDArray[np.unsignedinteger],
    buckets: Buckets,
    limits: Limits,
    start: int,
    end: int,
) -> Candidates:
    """Return the pairs of documents start to end with earlier ones; a range may have its thread."""
    room = (end - start) * limits.partners_max
    earlier, agreement = np.empty(room, np.int32), np.empty(room, np.int32)
    counts = np.zeros(end - start, np.int64)
    cut = np.zeros(end - start, np.bool_)
    seen = np.full(len(groups.firsts), -1, np.int32)
    out = (earlier, agreement, counts, cut, seen)
    hidden = _find_candidates(start, groups, signatures, buckets, limits, out)
    later = np.repeat(np.arange(start, end, dtype=np.int32), counts)
    order = np.lexsort((earlier[: len(later)], later))
    return Candidates(earlier[order], later[order], agreement[order], counts, cut, hidden)


@kernel
def _find_candidates(
    start: int,
    groups: Groups,
    signatures: Array,
    buckets: Buckets,
    limits: Limits,
    out: tuple[Array, ...],
) -> int:
    texts, _, _, _ = groups
    by_rank, _, _ = buckets
    bucket_size_max, partners_max, agreement_min = limits
    earlier, agreement, counts, cut, seen = out
    hidden = 0
    at = 0
    for index in range(counts.size):
        document = start + index
        text = texts[document]
        partners = earlier[at : at + partners_max]
        agreements = agreement[at : at + partners_max]
        seen[text] = document
        count = _add_members(document, text, signatures.shape[1], groups, partners, agreements, 0)
        for band in range(by_rank.shape[0]):
            first, end = _bucket_before(document, text, groups, buckets, band)
            size = end - first
            skipped = max(0, size - bucket_size_max)
            hidden += skipped
            for place in range(size - skipped):
                rank = first + place
                if place >= bucket_size_max // 2:
                    rank += skipped
                other = by_rank[band, rank]
                if seen[other] == document:
                    continue
                seen[other] = document
                equal = agreement_of(signatures[text], signatures[other])
                if equal >= agreement_min:
                    count = _add_members(
                        document, other, equal, groups, partners, agreements, count
                    )
        counts[index] = min(count, partners_max)
        at += counts[index]
        cut[index] = count > partners_max
    return hidden


@kernel
def _bucket_before(
    document: int, text: int, groups: Groups, buckets: Buckets, band: int
) -> tuple[int, int]:
    """Return the ranks between which the bucket holds texts that came before the document.

    Before a copy there may be many that are newer than its text: steps double and halve.
    """
    order, ranks, starts = buckets
    firsts = groups[1]
    first = starts[text, band]
    end = ranks[text, band]
    step = 0 if firsts[text] == document else 1
    while step:
        last = end + step - 1
        other = order[band, last] if last < order.shape[1] else text
        if last < order.shape[1] and starts[other, band] == first and firsts[other] < document:
            end += step
            step *= 2
        else:
            step //= 2
    return first, end


@kernel
def _add_members(
    document: int,
    text: int,
    equal: int,
    groups: Groups,
    partners: Array,
    agreements: Array,
    count: int,
) -> int:
    """Add the text's documents before this one; return how many there are, or one too many."""
    _, _, members, bounds = groups
    for place in range(bounds[text], bounds[text + 1]):
        if members[place] >= document or count > partners.size:
            break
        if count < partners.size:
            partners[count] = members[place]
            agreements[count] = equal
        count += 1
    return count
