"""A log of signed documents, made up and as `sign` writes it, and how far it was read."""

from collections.abc import Iterator

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.synthetic import Mix, Stream
from stream_dedup.config import KafkaSettings, Settings
from stream_dedup.kafka.signed import Extra, SignedCodec
from stream_dedup.signing import SignedBatch
from stream_dedup.similarity.sketch import Sketcher

MIX = Mix(near=0.1, exact=0.05)

_BATCH = 2000
_SECONDS_MAX = 60.0


def write_log(settings: Settings, documents: int) -> None:
    """Write so many signed documents to `signatures`."""
    producer = Producer(
        {
            "bootstrap.servers": settings.kafka.bootstrap_servers,
            "enable.idempotence": True,
            "compression.type": "lz4",
        }
    )
    for key, value in _records(settings, documents):
        while True:
            try:
                producer.produce(settings.kafka.topics.signatures, value, key)
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(_SECONDS_MAX) == 0


def commit_offset(kafka: KafkaSettings, role: str, topic: str, offset: int) -> None:
    """Commit as a role does that has come so far: an index that has less of the log was lost."""
    group = f"{kafka.application}-{role}"
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def signed_batches(settings: Settings, documents: int) -> Iterator[SignedBatch]:
    """Yield the documents as they are before they are records."""
    stream = Stream(Sketcher.planned(settings.similarity), MIX)
    for start in range(0, documents, _BATCH):
        yield stream.batch(min(_BATCH, documents - start))


def _records(settings: Settings, documents: int) -> Iterator[tuple[bytes, bytes]]:
    codec = SignedCodec.planned(settings.similarity)
    for batch in signed_batches(settings, documents):
        # Of a topic that no document comes from, so that what is signed later is new.
        extras = [Extra("made-up", [], None, time, time) for time in batch.times]
        yield from zip(
            (name.encode() for name in batch.ids), codec.encode(batch, extras), strict=True
        )
