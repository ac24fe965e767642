"""Full buckets: who is visible there, and who has to go.

What a full bucket hides from a document depends on what was decided before it, so these buckets
are gone through one document at a time.
"""

import numpy as np

from stream_dedup.matching.buckets import Flags, Lists, Meetings, Numbers, Shelf
from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.ragged import Ragged, take


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
        chosen = np.flatnonzero(full)
        lengths = entries.lengths[chosen]
        width = max(size_max, int(lengths.max(initial=0)))
        groups = np.zeros((len(chosen), width), np.int64)
        groups[np.arange(width) < lengths[:, None]] = take(entries, chosen).values
        of = np.where(full, np.cumsum(full) - 1, -1)
        self.lists = Lists(of, groups, lengths, shelf.capped[chosen])
        # Looking documents that see one of these.
        self.members: Flags = np.any(full[shelf.places], axis=1)
        self._shelf, self._entries, self._before = shelf, entries, meetings.before
        self._size_max = size_max

    def groups(self) -> Numbers:
        """Return all groups in these buckets."""
        return self.lists.groups[self._taken()]

    def look(self, document: int, groups: Numbers, known: int) -> Numbers:
        """Return in how many bands these groups are visible."""
        lists = self.lists.of[self._shelf.places[document]]
        bands = np.zeros(len(groups), np.int64)
        places = self._shelf.places
        contents = (self.lists.groups, self.lists.lengths)
        _look(document, places, lists, self._entries, self._before, contents, known, groups, bands)
        return bands

    def hiding(self, document: int, seen: Numbers, horizon: int) -> int:
        """Return how many of the document's buckets hide something from it.

        A bucket does from when a living entry had to go until it is not full any more.
        """
        lists = self.lists.of[self._shelf.places[document]]
        capped = lists[lists >= 0]
        capped = capped[self.lists.capped[capped]]
        living = self._taken()[capped] & (seen[self.lists.groups[capped]] >= horizon)
        full = living.sum(axis=1) >= self._size_max
        return int(full.sum())

    def insert(
        self, document: int, group: int, seen: Numbers, horizon: int, representative: Flags
    ) -> int:
        """Add a group to the document's full buckets; forget who is not living, then the oldest.

        Representatives of clusters stay longest: what copies them is still to come. Returns how
        often one that is living had to go.
        """
        lists = self.lists.of[self._shelf.places[document]]
        lists = lists[lists >= 0]
        contents = (self.lists.groups, self.lists.lengths, self.lists.capped)
        evicted = _insert(group, lists, contents, self._size_max, seen, horizon, representative)
        return int(evicted)

    def _taken(self) -> Flags:
        """Tell which places of the lists hold a group."""
        taken: Flags = np.arange(self.lists.groups.shape[1]) < self.lists.lengths[:, None]
        return taken


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
) -> int:
    rows, lengths, capped = contents
    evicted = 0
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
            evicted += 1
        row[kept] = group
        lengths[at] = kept + 1
    return evicted
