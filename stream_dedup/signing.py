"""Signing: from events to all that matching needs of them. Stateless, so any thread may do it."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import zstandard

from stream_dedup.config import Settings
from stream_dedup.events import Deletion, Document, RecordReference
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.similarity.sketch import Sketcher, Sketches

# Kept texts are read again only for a comparison: small matters more than fast.
_ZSTD_LEVEL = 6
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Record(NamedTuple):
    """One event of the log."""

    event: Document | Deletion
    position: int  # in the log: ascending, with gaps
    time: int  # milliseconds since 1970; `logtime.UNDATED` where it has none
    reference: RecordReference


class SignedBatch(NamedTuple):
    """Events of the log in its order, a column for each of their properties."""

    positions: list[int]
    times: list[int]
    references: list[RecordReference]
    ids: list[str]
    namespaces: list[str]
    sources: list[str]
    deleted: list[bool]
    sketches: Sketches  # of a deletion that of an empty text
    originals: list[bytes] | None  # compressed texts, where these are kept

    @property
    def size(self) -> int:
        return len(self.positions)


class Signer:
    """Signs batches of events; calls from several threads do not disturb each other."""

    def __init__(self, settings: Settings) -> None:
        self.sketcher = Sketcher.planned(settings.similarity)
        self._keeps_texts = settings.similarity.verify == "exact"

    def sign(self, records: Sequence[Record]) -> SignedBatch:
        """Sign a batch. The band keys of two namespaces never meet."""
        columns = zip(*records, strict=True) if records else ((), (), (), ())
        events, positions, times, references = map(list, columns)
        texts = [event.text if isinstance(event, Document) else "" for event in events]
        namespaces = [event.namespace for event in events]
        return SignedBatch(
            positions=positions,
            times=times,
            references=references,
            ids=[event.id for event in events],
            namespaces=namespaces,
            sources=[event.source if isinstance(event, Document) else "" for event in events],
            deleted=[isinstance(event, Deletion) for event in events],
            sketches=self.sketcher.sketch(texts, np.array(list(map(_salt, namespaces)), np.uint64)),
            originals=[_compressed(text) for text in texts] if self._keeps_texts else None,
        )


def own_time(event: Document | Deletion) -> int:
    """Return when an event was published as a record's time: whole milliseconds, or `UNDATED`."""
    moment = event.published_at
    return UNDATED if moment is None else (moment - _EPOCH) // _MILLISECOND


def _compressed(text: str) -> bytes:
    return zstandard.ZstdCompressor(_ZSTD_LEVEL).compress(text.encode("utf-8", "surrogatepass"))


def decompressed(original: bytes) -> str:
    """Return the text that was compressed."""
    return zstandard.ZstdDecompressor().decompress(original).decode("utf-8", "surrogatepass")


@lru_cache(maxsize=4096)
def _salt(namespace: str) -> int:
    """Return 64 bits of the namespace, none for the unnamed one."""
    if not namespace:
        return 0
    name = namespace.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
