"""The records of the topic of signatures."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as search
from hypothesis import strategies as st
from msgspec.structs import replace

from stream_dedup.config import Settings, SimilaritySettings
from stream_dedup.engine import Matcher, Record, Signer
from stream_dedup.errors import Refused
from stream_dedup.events import Deletion, Document, RecordReference
from stream_dedup.index.columns import bucket_numbers
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.signed import Extra, Original, SignedCodec
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.signing import SignedBatch
from tests import strategies, streams
from tests.unit.kafka import records

SMALL = SimilaritySettings(hashes=8, bands=2, rows=3)
ALL_SETTINGS = (
    SMALL,
    SimilaritySettings(),
    SimilaritySettings(hashes=8, bands=2, rows=4, verify="exact", multiset=True),
    SimilaritySettings(measure="cosine", hashes=64, bands=4, rows=8),
    SimilaritySettings(measure="cosine", hashes=71, bands=4, rows=8, verify="exact"),
)
EMPTY = Extra("", [], None, UNDATED, UNDATED)


@lru_cache
def tools(similarity: SimilaritySettings) -> tuple[Signer, SignedCodec]:
    signer = Signer(Settings(similarity=similarity))
    return signer, SignedCodec(signer.sketcher, similarity.verify == "exact")


def signed(similarity: SimilaritySettings, *texts: str) -> tuple[SignedCodec, SignedBatch]:
    signer, codec = tools(similarity)
    reference = RecordReference(topic="documents", partition=0, offset=1)
    documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
    return codec, signer.sign([Record(document, 5, UNDATED, reference) for document in documents])


def again(codec: SignedCodec, batch: SignedBatch, extras: Sequence[Extra]) -> SignedBatch:
    values = codec.encode(batch, extras)
    decoded, others = codec.decode(values, batch.positions, batch.times)
    assert others == list(extras)
    return decoded


names = st.text(max_size=9)
events = st.one_of(
    st.builds(
        Document,
        id=st.text(min_size=1, max_size=9),
        text=strategies.texts(200) | strategies.repetitive_texts(),
        source=names,
        namespace=names,
    ),
    st.builds(Deletion, id=st.text(min_size=1, max_size=9), namespace=names),
)
references = st.builds(
    RecordReference,
    topic=names,
    partition=st.integers(0, 2**31 - 1),
    offset=st.integers(0, 2**63 - 1),
)
times = st.integers(-(2**62), 2**62)
originals = st.none() | records.incoming().map(Original.of)
extras = st.builds(Extra, names, records.headers, originals, times, times)
entries = st.tuples(st.builds(Record, events, st.integers(0, 2**48 - 1), times, references), extras)


@given(st.sampled_from(ALL_SETTINGS), st.lists(entries, max_size=5))
def test_what_was_signed_comes_back(
    similarity: SimilaritySettings, drawn: list[tuple[Record, Extra]]
) -> None:
    """All of a batch and what travels with it, but of band keys only what names their buckets."""
    signer, codec = tools(similarity)
    batch = signer.sign([record for record, _ in drawn])
    decoded = again(codec, batch, [extra for _, extra in drawn])

    assert decoded._replace(sketches=batch.sketches) == batch
    for name in ("signatures", "fingerprints", "sizes"):
        ours, theirs = getattr(batch.sketches, name), getattr(decoded.sketches, name)
        np.testing.assert_array_equal(theirs, ours)
        assert theirs.dtype == ours.dtype
    for ours, theirs in zip(batch.sketches.short, decoded.sketches.short, strict=True):
        np.testing.assert_array_equal(theirs, ours)
        assert theirs.dtype == ours.dtype
    np.testing.assert_array_equal(
        bucket_numbers(decoded.sketches.keys), bucket_numbers(batch.sketches.keys)
    )


@search(max_examples=50)
@given(streams.engine_settings(), streams.streams(), st.integers(0, 20))
def test_a_decoded_batch_is_decided_as_the_one_that_was_signed(
    settings: Settings, stream: list[streams.Draft], seed: int
) -> None:
    """Which process signed makes no difference to any verdict."""
    log = streams.records(streams.timed(stream, settings.index.window), seed)
    here, there = Matcher(MemoryIndex(), settings), Matcher(MemoryIndex(), settings)
    signer = Signer(settings)
    codec = SignedCodec(signer.sketcher, settings.similarity.verify == "exact")
    for part in streams.cut(log, [7]):
        batch = signer.sign(part)
        ours = here.match(batch)
        theirs = there.match(again(codec, batch, [EMPTY] * batch.size))
        here.remember(ours)
        there.remember(theirs)

        assert streams.encoded(theirs.verdicts) == streams.encoded(ours.verdicts)


def test_the_bytes_are_those_of_the_drawing() -> None:
    """A record lies as the module draws it: what was written is read by later versions."""
    signer, codec = tools(SMALL)
    moment = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    document = Document(id="a", text="abcdefg", source="s", namespace="n", published_at=moment)
    reference = RecordReference(topic="t", partition=2, offset=258)
    batch = signer.sign([Record(document, 5, 6, reference)])
    sketches = batch.sketches
    key = np.array([[0x0102030405060708, 0xFF02030405060708]], np.uint64)
    batch = batch._replace(sketches=sketches._replace(keys=key))
    original = Original(b"k", None, [])
    extra = Extra("I", [("h", None)], original, 1000, 2000)
    content = (
        b"\1\0"
        + b"\x08\0\2\0\0"
        + (1000).to_bytes(8, "little")
        + (2000).to_bytes(8, "little")
        + (3).to_bytes(4, "little")
        + sketches.fingerprints.astype("<u8").tobytes()
        + sketches.signatures.astype("<u2").tobytes()
        + bytes([5, 4, 3, 2, 1, 5, 4, 3, 2, 0xFF])
        + b"\x9b\xa1a\xa1n\xa1s\xa1t\xa1I\2\xcd\1\2"
        + b"\xc4\x18"
        + sketches.short.values.astype("<u8").tobytes()
        + b"\xc0"
        + b"\x91\x92\xa1h\xc0"
        + b"\x93\xc4\1k\xc0\x90"
    )

    assert codec.encode(batch, [extra]) == [content + crc32(content).to_bytes(4, "little")]


def test_a_deletion_is_a_flag() -> None:
    """Whether a record is a deletion is told by one bit of its head."""
    codec, batch = signed(SMALL, "")
    (value,) = codec.encode(batch._replace(deleted=[True]), [EMPTY])

    assert value[6] == 1


def test_a_forwarded_record_is_kept_as_it_was() -> None:
    """Values are compressed on the way; a deletion has none."""
    record = Incoming("documents", 0, 1, UNDATED, b"k", b"value" * 1000, [("h", b"1")])
    original = Original.of(record)

    assert (original.key, original.value(), original.headers) == (b"k", record.value, [("h", b"1")])
    assert len(original.packed or b"") < 100
    assert Original.of(replace(record, value=None)).value() is None


def refusal(codec: SignedCodec, values: Sequence[bytes]) -> str:
    with pytest.raises(Refused) as caught:
        codec.decode(values, range(40, 40 + len(values)), [UNDATED] * len(values))
    return str(caught.value)


def checked(content: bytes) -> bytes:
    return content + crc32(content).to_bytes(4, "little")


def test_another_version_is_refused() -> None:
    """Its position is named, and which versions meet."""
    codec, batch = signed(SMALL, "abc", "abd")
    first, second = codec.encode(batch, [EMPTY] * 2)

    assert refusal(codec, [first, checked(b"\2" + second[1:-4])]).startswith(
        "signatures, position 41: it is of version 2, this program reads version 1"
    )


@given(st.integers(0, 10**6), st.integers(0, 7), st.integers(1, 10**6))
def test_damage_is_refused(place: int, bit: int, cut: int) -> None:
    """A record that lost a bit, or its end, is never taken for another one."""
    codec, batch = signed(SMALL, "abc", "abcdefgh" * 9)
    first, second = codec.encode(batch, [EMPTY] * 2)
    place %= len(second)
    flipped = second[:place] + bytes([second[place] ^ 1 << bit]) + second[place + 1 :]

    assert refusal(codec, [first, flipped]).startswith("signatures, position 41: ")
    assert refusal(codec, [first, second[: -(cut % len(second)) or -1]]).startswith(
        "signatures, position 41: it is damaged"
    )


@given(st.binary(max_size=300))
def test_anything_else_in_the_topic_is_refused(written: bytes) -> None:
    """Whatever others write, even with a right check, is an answer an operator can act on."""
    codec, batch = signed(SMALL, "abc")
    (value,) = codec.encode(batch, [EMPTY])

    for strange in (written, checked(written), checked(value[:6] + written)):
        assert "matching.skip_positions" in refusal(codec, [strange])


@pytest.mark.parametrize(
    "others",
    [
        SimilaritySettings(hashes=9, bands=2, rows=3),
        SimilaritySettings(hashes=8, bands=1, rows=3),
        SimilaritySettings(measure="cosine", hashes=64, bands=4, rows=8),
    ],
)
def test_other_settings_are_refused(others: SimilaritySettings) -> None:
    """Signatures of another shape are not compared."""
    codec, batch = signed(others, "abc")

    assert "other settings" in refusal(tools(SMALL)[1], codec.encode(batch, [EMPTY]))


def test_a_text_that_is_to_be_compared_has_to_be_there() -> None:
    """Exact verification refuses records that were signed without it; the reverse costs nothing."""
    codec, batch = signed(SMALL, "abc")
    exact, kept = signed(SimilaritySettings(hashes=8, bands=2, rows=3, verify="exact"), "abc")

    assert "its text is missing" in refusal(exact, codec.encode(batch, [EMPTY]))
    assert codec.decode(exact.encode(kept, [EMPTY]), [0], [0])[0].originals is None


def test_a_batch_of_nothing_is_a_batch() -> None:
    """No records are no events."""
    codec, batch = signed(SMALL)

    assert codec.encode(batch, []) == []
    assert codec.decode([], [], [])[0].size == 0
