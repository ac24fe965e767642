"""Founders: documents that begin a group and resemble nothing, as most do.

Whatever is decided before them, what is to be remembered of them is the same. So their rows are
made together, as bytes, and no object stands for them unless a later document asks for one.
"""

from bisect import bisect
from typing import NamedTuple

import numpy as np

from stream_dedup.index.columns import encode_exacts, encode_texts, head_type
from stream_dedup.index.layout import Member, Sighting, encode_sighting, encode_tail
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.matching.overlay import Overlay
from stream_dedup.matching.piece import Agenda, Piece


class Founders(NamedTuple):
    """Those of a piece in the order of the log, and their rows: names and values."""

    places: list[int]  # in the batch
    positions: list[int]
    exact_keys: list[bytes]
    id_keys: list[bytes]
    texts: list[bytes]
    exacts: list[bytes]
    sightings: list[bytes]
    originals: list[bytes] | None

    def begin(self, overlay: Overlay) -> None:
        """Put the rows of all: no event before a founder asks for any of its rows."""
        overlay.texts.begin(self.positions, self.texts)
        overlay.exact.begin(self.exact_keys, self.exacts)
        overlay.ids.begin(self.id_keys, self.sightings)
        if self.originals is not None:
            overlay.originals.begin(self.positions, self.originals)

    def take_back(self, overlay: Overlay, end: int) -> None:
        """Let nobody find those behind a place: the piece ends there, and they begin anew."""
        first = bisect(self.places, end)
        overlay.exact.take_back(self.exact_keys[first:])
        overlay.ids.take_back(self.id_keys[first:])


def founders(piece: Piece) -> Founders:
    """Return the piece's founders."""
    agenda, batch = piece.agenda, piece.agenda.batch
    chosen = piece.founders()
    places = chosen.tolist()
    sketches = batch.sketches.rows(chosen)
    positions = [batch.positions[place] for place in places]
    names = np.array(positions, np.int64)
    now = np.array([agenda.now[place] for place in places], np.int64)
    signatures = sketches.signatures
    heads = np.zeros(len(places), head_type(signatures.shape[1], signatures.dtype))
    heads["fingerprint"] = sketches.fingerprints.astype("<u8").view("V16").ravel()
    heads["cluster"] = names
    heads["first_seen"] = heads["last_seen"] = now
    heads["size"] = sketches.sizes
    heads["signature"] = signatures
    heads["short"] = sketches.short.lengths
    tails = [encode_tail(batch.namespaces[place], [member(agenda, place)]) for place in places]
    originals = batch.originals
    return Founders(
        places,
        positions,
        [agenda.exact_keys[place] for place in places],
        [agenda.id_keys[place] for place in places],
        encode_texts(heads, sketches.short, tails),
        encode_exacts(names, now, names),
        [encode_sighting(sighting(agenda, place, batch.positions[place])) for place in places],
        None if originals is None else [originals[place] for place in places],
    )


def member(agenda: Agenda, place: int) -> Member:
    """Return the document at a place of the batch as a member of its group."""
    now, time = agenda.now[place], agenda.batch.times[place]
    behind = None if time == UNDATED else now - time
    return Member(agenda.batch.ids[place], agenda.batch.sources[place], now, behind)


def sighting(agenda: Agenda, place: int, position: int) -> Sighting:
    """Return what the id of the document at a place of the batch stands for from now on."""
    record = agenda.batch.references[place]
    return Sighting(position, agenda.now[place], record.topic, record.partition, record.offset)
