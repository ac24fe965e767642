"""Founders: documents that begin a group and resemble nothing, as most do.

Whatever is decided before them, what is to be remembered of them is the same. So their rows are
made together, as bytes, and no object stands for them unless a later document asks for one.
"""

from collections.abc import Mapping

import numpy as np

from stream_dedup.index.columns import encode_exacts, encode_texts, head_type
from stream_dedup.index.layout import Member, Sighting, encode_sighting, encode_tail
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.matching.piece import Agenda, Piece

# The values of a founder's rows: of texts, exact and ids.
Rows = tuple[bytes, bytes, bytes]


def founders(piece: Piece) -> Mapping[int, Rows]:
    """Return the rows of the piece's founders, by their places in the batch."""
    agenda, batch = piece.agenda, piece.agenda.batch
    places = piece.founders()
    chosen = places.tolist()
    sketches = batch.sketches.rows(places)
    positions = np.array([batch.positions[place] for place in chosen], np.int64)
    now = np.array([agenda.now[place] for place in chosen], np.int64)
    signatures = sketches.signatures
    heads = np.zeros(len(chosen), head_type(signatures.shape[1], signatures.dtype))
    heads["fingerprint"] = sketches.fingerprints.astype("<u8").view("V16").ravel()
    heads["cluster"] = positions
    heads["first_seen"] = heads["last_seen"] = now
    heads["size"] = sketches.sizes
    heads["signature"] = signatures
    heads["short"] = sketches.short.lengths
    tails = [encode_tail(batch.namespaces[place], [member(agenda, place)]) for place in chosen]
    rows = zip(
        encode_texts(heads, sketches.short, tails),
        encode_exacts(positions, now, positions),
        [encode_sighting(sighting(agenda, place, batch.positions[place])) for place in chosen],
        strict=True,
    )
    return dict(zip(chosen, rows, strict=True))


def member(agenda: Agenda, place: int) -> Member:
    """Return the document at a place of the batch as a member of its group."""
    now, time = agenda.now[place], agenda.batch.times[place]
    behind = None if time == UNDATED else now - time
    return Member(agenda.batch.ids[place], agenda.batch.sources[place], now, behind)


def sighting(agenda: Agenda, place: int, position: int) -> Sighting:
    """Return what the id of the document at a place of the batch stands for from now on."""
    record = agenda.batch.references[place]
    return Sighting(position, agenda.now[place], record.topic, record.partition, record.offset)
