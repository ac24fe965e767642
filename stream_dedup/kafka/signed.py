"""How a signed event lies in bytes in the topic of signatures. Pure; a change is a new `VERSION`.

    head       version u8 · measure u8 · hashes u16 · bands u16 · flags u8, 1 for a deletion
               · own_time i64 · arrived i64 · size u32 · fingerprint 2 × u64
    signature  Jaccard: u16 for each of hashes; cosine: a bit each, the first of 8 the highest
    keys       u40 for each of bands: the upper bits of the band key, which are all that is used
    tail       MessagePack [id, namespace, source, topic, topic_id, partition, offset, short, text,
               headers, original]
    check      CRC-32 of all before it

    short      element u64 each: all elements of a small text, else none
    text       the text as it came, UTF-8, zstd; nil where texts are not kept
    headers    [[name, value], …], those that travel on to the match event
    original   [key, value, [[name, value], …]] of the document's record, its value zstd; nil where
               nothing is forwarded

Integers are little-endian. Times are milliseconds since 1970. Head, signature and keys have the
same length in all records of the same settings: a batch of them is one array.
"""

from collections.abc import Sequence
from typing import Any, NoReturn
from zlib import crc32

import msgspec
import numpy as np
import zstandard
from msgspec import Struct
from numpy.typing import NDArray

from stream_dedup.config import SimilaritySettings
from stream_dedup.errors import Refused
from stream_dedup.events import RecordReference
from stream_dedup.kafka.messages import Headers, Incoming
from stream_dedup.signing import SignedBatch
from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.sketch import Sketcher, Sketches

VERSION = 1

_KEY_BYTES = 5
_KEY_SHIFT = np.uint64(24)
_CHECK_BYTES = 4
_WHOLE = 0x2144DF1C  # the CRC-32 of anything that ends with its own CRC-32
_MEASURES = ("jaccard", "cosine")
# Forwarded values are read once, soon: the time that packing takes matters more than the size.
_ZSTD_LEVEL = 1
_SKIP = "matching.skip_positions passes it"


class Original(Struct, frozen=True, array_like=True, gc=False):
    """The record that a document came in."""

    key: bytes | None
    packed: bytes | None  # the value, compressed
    headers: Headers

    @classmethod
    def of(cls, record: Incoming) -> "Original":
        """Keep a record to be forwarded."""
        value = record.value
        packed = None if value is None else zstandard.ZstdCompressor(_ZSTD_LEVEL).compress(value)
        return cls(record.key, packed, record.headers)

    def value(self) -> bytes | None:
        """Return the value as it came."""
        return None if self.packed is None else zstandard.ZstdDecompressor().decompress(self.packed)


class Extra(Struct, frozen=True, gc=False):
    """What a signed event carries that matching does not ask for."""

    source_topic_id: str  # the id of the topic that the reference names
    headers: Headers  # of the document's record: those that travel on to the match event
    original: Original | None  # where routes forward it
    # In milliseconds since 1970, or `logtime.UNDATED`:
    own_time: int  # when it was published
    arrived: int  # the timestamp of its record


class _Tail(Struct, array_like=True, gc=False):
    id: str
    namespace: str
    source: str
    topic: str
    topic_id: str
    partition: int
    offset: int
    short: bytes
    text: bytes | None
    headers: list[tuple[str, bytes | None]]
    original: Original | None


class SignedCodec:
    """Writes and reads records that one sketcher signs."""

    def __init__(self, sketcher: Sketcher, keeps_texts: bool) -> None:
        self._keeps_texts = keeps_texts
        self._hashes = sketcher.hashes
        self._packs = sketcher.measure == "cosine"
        width: Any = ((sketcher.hashes + 7) // 8,) if self._packs else (sketcher.hashes,)
        self._head = np.dtype(
            [
                ("version", "u1"),
                ("measure", "u1"),
                ("hashes", "<u2"),
                ("bands", "<u2"),
                ("flags", "u1"),
                ("own_time", "<i8"),
                ("arrived", "<i8"),
                ("size", "<u4"),
                ("fingerprint", "<u8", (2,)),
                ("signature", "u1" if self._packs else "<u2", width),
                ("keys", "u1", (sketcher.bands, _KEY_BYTES)),
            ]
        )
        self._blank = np.zeros(1, self._head)
        self._blank["version"] = VERSION
        self._blank["measure"] = _MEASURES.index(sketcher.measure)
        self._blank["hashes"], self._blank["bands"] = sketcher.hashes, sketcher.bands
        self._beginning = self._blank.tobytes()[:6]
        self._encoder = msgspec.msgpack.Encoder()
        self._tails = msgspec.msgpack.Decoder(_Tail)

    @classmethod
    def planned(cls, settings: SimilaritySettings) -> "SignedCodec":
        """Return the codec of what is signed under these settings."""
        return cls(Sketcher.planned(settings), settings.verify == "exact")

    def encode(self, batch: SignedBatch, extras: Sequence[Extra]) -> list[bytes]:
        """Return a record for each event, in order."""
        heads = self._encode_heads(batch, extras).tobytes()
        width = self._head.itemsize
        records = []
        for index, tail in enumerate(self._encode_tails(batch, extras)):
            content = heads[width * index : width * index + width] + tail
            records.append(content + crc32(content).to_bytes(_CHECK_BYTES, "little"))
        return records

    def decode(
        self, values: Sequence[bytes], positions: Sequence[int], times: Sequence[int]
    ) -> tuple[SignedBatch, list[Extra]]:
        """Return the events of records at these positions, and what else each carries.

        `times` become the events' times; how each was dated by itself is among the extras.
        """
        self._check(values, positions)
        width = self._head.itemsize
        heads = np.frombuffer(b"".join([value[:width] for value in values]), self._head)
        tails = self._decode_tails(values, positions)
        originals = [tail.text for tail in tails] if self._keeps_texts else None
        batch = SignedBatch(
            positions=list(positions),
            times=list(times),
            references=[
                RecordReference(topic=tail.topic, partition=tail.partition, offset=tail.offset)
                for tail in tails
            ],
            ids=[tail.id for tail in tails],
            namespaces=[tail.namespace for tail in tails],
            sources=[tail.source for tail in tails],
            deleted=(heads["flags"] & 1 == 1).tolist(),
            sketches=self._sketches(heads, [tail.short for tail in tails]),
            originals=_all_kept(originals, positions),
        )
        times_of_each = zip(heads["own_time"].tolist(), heads["arrived"].tolist(), strict=True)
        extras = [
            Extra(tail.topic_id, tail.headers, tail.original, *own_times)
            for tail, own_times in zip(tails, times_of_each, strict=True)
        ]
        return batch, extras

    def _encode_heads(self, batch: SignedBatch, extras: Sequence[Extra]) -> NDArray[Any]:
        sketches = batch.sketches
        heads = np.repeat(self._blank, batch.size)
        heads["flags"] = batch.deleted
        heads["own_time"] = [extra.own_time for extra in extras]
        heads["arrived"] = [extra.arrived for extra in extras]
        heads["size"] = sketches.sizes
        heads["fingerprint"] = sketches.fingerprints
        signatures = sketches.signatures
        heads["signature"] = np.packbits(signatures, axis=1) if self._packs else signatures
        keys = np.ascontiguousarray(sketches.keys >> _KEY_SHIFT, "<u8")
        heads["keys"] = keys.view(np.uint8).reshape(*keys.shape, 8)[:, :, :_KEY_BYTES]
        return heads

    def _encode_tails(self, batch: SignedBatch, extras: Sequence[Extra]) -> list[bytes]:
        encode = self._encoder.encode
        short = batch.sketches.short
        elements = short.values.astype("<u8").tobytes()
        bounds = (8 * short.bounds).tolist()
        none: list[bytes | None] = [None] * batch.size
        texts = none if batch.originals is None else batch.originals
        columns = zip(
            batch.ids,
            batch.namespaces,
            batch.sources,
            batch.references,
            bounds[:-1],
            bounds[1:],
            texts,
            extras,
            strict=True,
        )
        return [
            encode(
                (
                    *(name, namespace, source, reference.topic, extra.source_topic_id),
                    *(reference.partition, reference.offset, elements[start:end], text),
                    *(extra.headers, extra.original),
                )
            )
            for name, namespace, source, reference, start, end, text, extra in columns
        ]

    def _decode_tails(self, values: Sequence[bytes], positions: Sequence[int]) -> list[_Tail]:
        start, decode = self._head.itemsize, self._tails.decode
        tails: list[_Tail] = []
        try:
            for value in values:
                tails.append(decode(value[start:-_CHECK_BYTES]))
        except (msgspec.DecodeError, UnicodeDecodeError):
            _refuse(positions[len(tails)], f"nobody can have written this; {_SKIP}")
        return tails

    def _sketches(self, heads: NDArray[Any], shorts: list[bytes]) -> Sketches:
        wide = np.zeros((*heads["keys"].shape[:2], 8), np.uint8)
        wide[:, :, :_KEY_BYTES] = heads["keys"]
        keys = wide.view("<u8")[:, :, 0].astype(np.uint64) << _KEY_SHIFT
        signatures = heads["signature"]
        if self._packs:
            signatures = np.unpackbits(np.ascontiguousarray(signatures), axis=1, count=self._hashes)
        else:
            signatures = signatures.astype(np.uint16)
        elements = np.frombuffer(b"".join(shorts), "<u8").astype(np.uint64)
        bounds = bounds_of([len(short) // 8 for short in shorts])
        return Sketches(
            signatures=signatures,
            keys=keys,
            fingerprints=heads["fingerprint"].astype(np.uint64),
            sizes=heads["size"].astype(np.int64),
            short=Ragged(elements, bounds),
        )

    def _check(self, values: Sequence[bytes], positions: Sequence[int]) -> None:
        """Refuse what is not whole, or not of this version and these settings."""
        beginning, shortest = self._beginning, self._head.itemsize + _CHECK_BYTES
        for value, position in zip(values, positions, strict=True):
            if not value.startswith(beginning) or crc32(value) != _WHOLE or len(value) <= shortest:
                self._refuse(value, position)

    def _refuse(self, value: bytes, position: int) -> NoReturn:
        if value and value[0] != VERSION:
            _refuse(
                position,
                f"it is of version {value[0]}, this program reads version {VERSION}; run the "
                f"version that wrote it, or {_SKIP}",
            )
        if crc32(value) != _WHOLE or len(value) < len(self._beginning):
            _refuse(position, f"it is damaged, or something else wrote it; {_SKIP}")
        _refuse(
            position,
            "it was signed with other settings (similarity.measure, hashes or bands); run sign "
            f"and match with the same, or {_SKIP}",
        )


def _all_kept(texts: list[bytes | None] | None, positions: Sequence[int]) -> list[bytes] | None:
    """Return the texts, each of which has to be there."""
    if texts is None:
        return None
    kept = [text for text in texts if text is not None]
    if len(kept) < len(texts):
        _refuse(
            next(position for position, text in zip(positions, texts, strict=True) if text is None),
            "its text is missing, which similarity.verify = 'exact' compares; run sign and match "
            f"with the same settings, or {_SKIP}",
        )
    return kept


def _refuse(position: int, problem: str) -> NoReturn:
    raise Refused(f"signatures, position {position}: {problem}")
