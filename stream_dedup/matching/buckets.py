"""Buckets as arrays: who meets whom in a piece of a batch, and what each bucket holds afterwards.

Groups are numbered within a piece: first those that the index knows, in the order of their
positions, then one for each document that looks into buckets, in the order of the log.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.index.layout import bucket_keys, bucket_numbers, decode_buckets, encode_buckets
from stream_dedup.interfaces import Index
from stream_dedup.matching.overlay import Buckets
from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.ragged import Ragged, take

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Shelf(NamedTuple):
    """The buckets that the documents of a piece look into, as they were before it."""

    keys: list[bytes]  # ascending
    places: Numbers  # [looking document, band] -> bucket
    positions: Ragged  # of each bucket's entries, oldest first
    capped: Flags  # a living entry has had to go for a newer one


class Meetings(NamedTuple):
    """Pairs of a looking document and a group that came before it, ordered by document."""

    documents: Numbers
    groups: Numbers
    bands: Numbers  # in how many bands they meet
    before: Numbers  # [looking document, band] -> the last one inserted before it there, or -1


def fetch(index: Index, buckets: Buckets, keys: NDArray[np.uint64]) -> Shelf:
    """Read the buckets of [looking document, band], in one sweep."""
    numbers, places = np.unique(bucket_numbers(keys), return_inverse=True)
    names = bucket_keys(numbers)
    positions, bounds, capped = decode_buckets(buckets.read(index, names))
    return Shelf(names, places.reshape(keys.shape), Ragged(positions, bounds), capped)


def meet(shelf: Shelf, entries: Ragged, known: int, inserts: Flags) -> Meetings:
    """Find the groups in the buckets of each document; those that insert are met by later ones.

    `entries` are the groups of the shelf's entries, of which the index knows `known`.
    """
    room = 64 + 4 * len(shelf.places)
    before = np.empty(shelf.places.shape, np.int64)
    while True:
        out = np.empty((3, room), np.int64)
        count = _meet(shelf.places, entries, known, inserts, before, out)
        if count <= room:
            return Meetings(out[0, :count], out[1, :count], out[2, :count], before)
        room = count


@kernel
def _meet(
    places: Array, entries: Ragged, known: int, inserts: Array, before: Array, out: Array
) -> int:
    """Fill `out` as far as there is room; return how many pairs there are."""
    values, bounds = entries
    looking, bands = places.shape
    last = np.full(bounds.size - 1, -1, np.int64)
    met_by = np.full(known + looking, -1, np.int64)
    pair = np.empty(known + looking, np.int64)
    count = 0
    for document in range(looking):
        for band in range(bands):
            bucket = places[document, band]
            before[document, band] = last[bucket]
            other = last[bucket]
            at = bounds[bucket]
            while at < bounds[bucket + 1] or other >= 0:
                if at < bounds[bucket + 1]:
                    group = values[at]
                    at += 1
                else:
                    group = known + other
                    other = before[other, band]
                if met_by[group] != document:
                    met_by[group] = document
                    pair[group] = count
                    if count < out.shape[1]:
                        out[0, count] = document
                        out[1, count] = group
                        out[2, count] = 0
                    count += 1
                if pair[group] < out.shape[1]:
                    out[2, pair[group]] += 1
        if inserts[document]:
            for band in range(bands):
                last[places[document, band]] = document
    return count


class Crowds:
    """The buckets of a piece that are full or may become so, kept entry by entry.

    What such a bucket hides from a document depends on what was decided before it, so these are
    gone through one document at a time.
    """

    def __init__(
        self, shelf: Shelf, entries: Ragged, meetings: Meetings, inserts: Flags, size_max: int
    ) -> None:
        inserted = np.bincount(shelf.places[inserts].ravel(), minlength=len(shelf.keys))
        full = (entries.lengths + inserted > size_max) | shelf.capped
        self.lists_of = np.where(full, np.cumsum(full) - 1, -1)  # bucket -> its list, or -1
        chosen = np.flatnonzero(full)
        self.lengths = entries.lengths[chosen]
        width = max(size_max, int(self.lengths.max(initial=0)))
        self.lists = np.zeros((len(chosen), width), np.int64)
        self.lists[np.arange(width) < self.lengths[:, None]] = take(entries, chosen).values
        self.capped = shelf.capped[chosen]
        # Looking documents that see one of these.
        self.members: Flags = np.any(full[shelf.places], axis=1)
        self._shelf, self._entries, self._before = shelf, entries, meetings.before
        self._size_max = size_max

    def groups(self) -> Numbers:
        """Return all groups in these buckets."""
        return self.lists[np.arange(self.lists.shape[1]) < self.lengths[:, None]]

    def look(self, document: int, groups: Numbers, known: int) -> Numbers:
        """Return in how many bands these groups are visible."""
        lists = self.lists_of[self._shelf.places[document]]
        bands = np.zeros(len(groups), np.int64)
        places = self._shelf.places
        contents = (self.lists, self.lengths)
        _look(document, places, lists, self._entries, self._before, contents, known, groups, bands)
        return bands

    def hiding(self, document: int, seen: Numbers, horizon: int) -> int:
        """Return how many of the document's buckets hide something from it.

        A bucket does from when a living entry had to go until it is not full any more.
        """
        lists = self.lists_of[self._shelf.places[document]]
        capped = lists[lists >= 0]
        capped = capped[self.capped[capped]]
        entries = np.arange(self.lists.shape[1]) < self.lengths[capped, None]
        living = (entries & (seen[self.lists[capped]] >= horizon)).sum(axis=1)
        return int((living >= self._size_max).sum())

    def insert(
        self, document: int, group: int, seen: Numbers, horizon: int, representative: Flags
    ) -> None:
        """Add a group to the document's full buckets; forget who is not living, then the oldest.

        Representatives of clusters stay longest: what copies them is still to come.
        """
        lists = self.lists_of[self._shelf.places[document]]
        contents = (self.lists, self.lengths, self.capped)
        _insert(group, lists[lists >= 0], contents, self._size_max, seen, horizon, representative)


@kernel
def _look(
    document: int,
    places: Array,
    lists: Array,
    entries: Ragged,
    before: Array,
    contents: tuple[Array, Array],
    known: int,
    groups: Array,
    bands: Array,
) -> None:
    """Count for each of the groups, which are few, in how many bands it is visible."""
    values, bounds = entries
    rows, lengths = contents
    for band in range(lists.size):
        at = lists[band]
        bucket = places[document, band]
        for place in range(groups.size):
            group = groups[place]
            if at >= 0:
                visible = np.any(rows[at, : lengths[at]] == group)
            elif group < known:
                visible = np.any(values[bounds[bucket] : bounds[bucket + 1]] == group)
            else:
                other = before[document, band]
                while other >= 0 and known + other > group:
                    other = before[other, band]
                visible = known + other == group
            bands[place] += visible


@kernel
def _insert(
    group: int,
    chosen: Array,
    contents: tuple[Array, Array, Array],
    size_max: int,
    seen: Array,
    horizon: int,
    representative: Array,
) -> None:
    rows, lengths, capped = contents
    for at in chosen:
        row = rows[at]
        kept = 0
        for place in range(lengths[at]):
            if seen[row[place]] >= horizon and row[place] != group:
                row[kept] = row[place]
                kept += 1
        capped[at] = kept >= size_max
        while kept >= size_max:
            gone = 0
            while gone < kept and representative[row[gone]]:
                gone += 1
            if gone == kept:
                gone = 0
            for place in range(gone + 1, kept):
                row[place - 1] = row[place]
            kept -= 1
        row[kept] = group
        lengths[at] = kept + 1


def rewritten(
    shelf: Shelf,
    entries: Ragged,
    crowds: Crowds,
    inserted: Flags,
    filed: Flags,
    living: Flags,
    positions: Numbers,
) -> tuple[list[bytes], list[bytes]]:
    """Return keys and values of the buckets of documents that are `inserted` or `filed` again.

    `living` and `positions` are those of the groups; entries that are not living are left out.
    """
    touched = np.zeros(len(shelf.keys), np.bool_)
    touched[shelf.places[inserted | filed].ravel()] = True
    chosen = np.flatnonzero(touched)
    number = np.cumsum(touched) - 1
    known = len(living) - len(shelf.places)
    lists = (crowds.lists_of, crowds.lists, crowds.lengths)
    groups, bounds = _fill(
        chosen, number, entries, lists, shelf.places, np.flatnonzero(inserted), living, known
    )
    capped = np.zeros(len(shelf.keys), np.bool_)
    capped[crowds.lists_of >= 0] = crowds.capped
    keys = list(map(shelf.keys.__getitem__, chosen.tolist()))
    return keys, encode_buckets(groups, bounds, capped[chosen], positions)


@kernel
def _fill(
    chosen: Array,
    number: Array,
    entries: Ragged,
    lists: tuple[Array, Array, Array],
    places: Array,
    inserted: Array,
    living: Array,
    known: int,
) -> tuple[Array, Array]:
    values, old = entries
    lists_of, rows, lengths = lists
    room = old[-1] + lengths.sum() + inserted.size * places.shape[1] + 1
    sizes = np.zeros(chosen.size + 1, np.int64)
    for document in inserted:
        for band in range(places.shape[1]):
            bucket = places[document, band]
            sizes[number[bucket] + 1] += lists_of[bucket] < 0
    groups = np.empty(room, np.int64)
    ends = np.empty(chosen.size, np.int64)
    at = 0
    for index in range(chosen.size):
        bucket = chosen[index]
        start = at
        if lists_of[bucket] >= 0:
            for place in range(lengths[lists_of[bucket]]):
                groups[at] = rows[lists_of[bucket], place]
                at += 1
        else:
            for place in range(old[bucket], old[bucket + 1]):
                groups[at] = values[place]
                at += living[values[place]]
        ends[index] = at
        at += sizes[index + 1]
        sizes[index + 1] = at - start
    for document in inserted:
        for band in range(places.shape[1]):
            bucket = places[document, band]
            if lists_of[bucket] < 0:
                groups[ends[number[bucket]]] = known + document
                ends[number[bucket]] += 1
    return groups[:at], np.cumsum(sizes)
