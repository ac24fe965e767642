import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.config import MatchingSettings, Settings
from stream_dedup.engine import Signer
from stream_dedup.errors import Refused, StreamDedupError, Unavailable
from stream_dedup.events import Document, RecordReference
from stream_dedup.index.layout import id_key
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.interfaces import Keyspace
from stream_dedup.kafka.follower import Follower
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.service import no_step
from stream_dedup.kafka.signed import Extra, SignedCodec
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.signing import Record

FIRST = 100  # the offset of the first record; ends of transactions leave gaps behind each
COUNT = 9


class Brittle(MemoryIndex):
    """An index that fails whenever a document is looked up that it cannot stand."""

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__()
        self._key, self._error = id_key("", name), error

    def read(self, keyspace: Keyspace, keys: Sequence[bytes]) -> list[bytes | None]:
        if keyspace is Keyspace.IDS and self._key in keys:
            raise self._error
        return super().read(keyspace, keys)


def log() -> list[Incoming]:
    """Sign some documents as the role sign does."""
    settings = Settings()
    codec = SignedCodec.planned(settings.similarity)
    events = [
        Record(
            Document(id=str(number), text=f"the text of document {number}"),
            0,
            UNDATED,
            RecordReference(topic="documents", partition=0, offset=number),
        )
        for number in range(COUNT)
    ]
    batch = Signer(settings).sign(events)
    values = codec.encode(batch, [Extra("id", [], None, UNDATED, UNDATED)] * COUNT)
    return [
        Incoming("signatures", 0, FIRST + 2 * number, 1000, str(number).encode(), value, [])
        for number, value in enumerate(values)
    ]


LOG = log()


@given(st.integers(0, COUNT - 1), st.integers(1, COUNT))
def test_what_cannot_be_decided_is_named_and_can_be_passed(bad: int, count: int) -> None:
    """One position, whatever the batch; the same batch without it is decided as if it was not."""
    records, position = LOG[:count], FIRST + 2 * bad
    index = Brittle(str(bad), ZeroDivisionError("nobody thought of it"))
    follower = Follower(index, Settings(), "id", no_step)
    if bad >= count:
        assert follower.decide(records).matched.batch.size == count
        return
    with pytest.raises(Refused, match=rf"at position {position} of the log: ZeroDivisionError"):
        follower.decide(records)
    skipping = Settings(matching=MatchingSettings(skip_positions=(position,)))
    step = Follower(index, skipping, "id", no_step).decide(records)

    assert step.matched.batch.ids == [str(number) for number in range(count) if number != bad]
    assert (step.left_out, step.next_offset) == (1, records[-1].offset + 1)


def test_a_disk_that_fails_is_no_document_s_fault() -> None:
    """What has a message of its own keeps it: nobody is told to pass over a good document."""
    trouble = Unavailable("the disk is full")
    follower = Follower(Brittle("3", trouble), Settings(), "id", no_step)

    with pytest.raises(StreamDedupError, match=re.escape(str(trouble))) as raised:
        follower.decide(LOG)
    assert raised.value is trouble
