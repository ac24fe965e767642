"""Buckets as arrays: who meets whom in a piece of a batch, and what each bucket holds afterwards.

Groups are numbered within a piece: first those that the index knows, in the order of their
positions, then one for each document that looks into buckets, in the order of the log.
"""

from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.index.columns import bucket_keys, decode_buckets, encode_buckets, numbered
from stream_dedup.interfaces import Index
from stream_dedup.matching.overlay import Buckets
from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.ragged import Ragged

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


class Lists(NamedTuple):
    """Full buckets, entry by entry."""

    of: Numbers  # bucket -> its list, or -1
    groups: Numbers  # [list, place]
    lengths: Numbers
    capped: Flags


def fetch(index: Index, buckets: Buckets, keys: NDArray[np.uint64]) -> Shelf:
    """Read the buckets of [looking document, band], in one sweep."""
    numbers, places = numbered(keys)
    names = bucket_keys(numbers)
    positions, bounds, capped = decode_buckets(buckets.read(index, names))
    return Shelf(names, places, Ragged(positions, bounds), capped)


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


def rewritten(
    shelf: Shelf,
    entries: Ragged,
    lists: Lists,
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
    lists_of, rows, lengths, full = lists
    groups, bounds = _fill(
        chosen,
        number,
        entries,
        (lists_of, rows, lengths),
        shelf.places,
        np.flatnonzero(inserted),
        living,
        known,
    )
    capped = np.zeros(len(shelf.keys), np.bool_)
    capped[lists_of >= 0] = full
    # Mostly the very list that was looked up: what was made of it is still known.
    keys = shelf.keys if touched.all() else list(compress(shelf.keys, touched.tolist()))
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
