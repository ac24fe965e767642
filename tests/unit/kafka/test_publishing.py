"""What is published of a batch, as records."""

from collections.abc import Sequence

import pytest

from stream_dedup.config import EventsSettings, KafkaSettings, Settings, TopicSettings
from stream_dedup.engine import Signer
from stream_dedup.events import Document, RecordReference
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.kafka.follower import Follower
from stream_dedup.kafka.messages import Headers, Incoming, Outgoing
from stream_dedup.kafka.publishing import Publishing
from stream_dedup.kafka.service import no_step
from stream_dedup.kafka.signed import Extra, Original, SignedCodec
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.signing import Record

ROUTES = TopicSettings(unique="unique", duplicates="duplicates")
TRACE: Headers = [("traceparent", b"00-1")]
NOON = 1_700_000_000_000


def published(settings: Settings, arrivals: Sequence[int]) -> list[Outgoing]:
    """Sign and match copies of one text that arrived then; return what goes out."""
    codec = SignedCodec.planned(settings.similarity)
    events = [
        Record(
            Document(id=str(number), text="The harbour was closed on Monday after the storm."),
            number,
            UNDATED,
            RecordReference(topic="documents", partition=0, offset=number),
        )
        for number in range(len(arrivals))
    ]
    original = Original.of(Incoming("documents", 0, 0, NOON, b"key", b"value", TRACE))
    extras = [Extra("id", TRACE, original, UNDATED, arrived) for arrived in arrivals]
    values = codec.encode(Signer(settings).sign(events), extras)
    log = [
        Incoming("signatures", 0, number, NOON + 5000, b"key", value, [])
        for number, value in enumerate(values)
    ]
    publishing = Publishing(settings)
    follower = Follower(MemoryIndex(), publishing.settings, "id", no_step)
    return list(publishing.records(follower.decide(log)))


@pytest.mark.parametrize(("arrived", "said"), [(NOON, b"1700000000000"), (0, b"0"), (-1, b"-1")])
def test_what_is_published_tells_when_its_document_arrived(arrived: int, said: bytes) -> None:
    """Verdict and forwarded original have the time of the document's record, not of the log's."""
    settings = Settings(events=EventsSettings(emit="all"), kafka=KafkaSettings(topics=ROUTES))
    records = published(settings, [UNDATED, arrived])

    assert [record.topic for record in records] == ["matches", "unique", "matches", "duplicates"]
    for undated in records[:2]:
        assert "stream-dedup-original-timestamp" not in dict(undated.headers)
    for dated in records[2:]:
        assert dated.headers[:2] == [*TRACE, ("stream-dedup-original-timestamp", said)]
    assert (records[3].key, records[3].value) == (b"key", b"value")


@pytest.mark.parametrize(
    ("emit", "routes", "topics"),
    [
        ("all", TopicSettings(), ["matches", "matches"]),
        ("matches", TopicSettings(), ["matches"]),
        ("none", TopicSettings(), []),
        ("matches", ROUTES, ["unique", "matches", "duplicates"]),
        ("none", TopicSettings(unique="unique"), ["unique"]),
    ],
)
def test_what_is_asked_for_is_published(
    emit: str, routes: TopicSettings, topics: list[str]
) -> None:
    """Verdicts as `events.emit` says, and originals on the routes there are."""
    events = EventsSettings(emit=emit)  # type: ignore[arg-type]
    settings = Settings(events=events, kafka=KafkaSettings(topics=routes))

    assert [record.topic for record in published(settings, [NOON] * 2)] == topics
