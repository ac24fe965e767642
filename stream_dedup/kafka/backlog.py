"""How far the roles are behind, by what the broker says: true also of a role that hangs."""

import time
from collections.abc import Iterable
from typing import Any

from confluent_kafka import (
    OFFSET_INVALID,
    TIMESTAMP_NOT_AVAILABLE,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import OffsetSpec

from stream_dedup.config import KafkaSettings
from stream_dedup.kafka.clients import Clients
from stream_dedup.metrics import LAG_RECORDS, LAG_SECONDS, OPEN_RECORDS, Metrics

_ANSWER_SECONDS = 5.0
_RECORDS_SECONDS = 1.0
_SPECS: Any = OffsetSpec  # whose methods have no types
_EARLIEST, _LATEST = _SPECS.earliest(), _SPECS.latest()
# One record of each partition is looked at, for its time.
_FRUGAL = {
    "fetch.message.max.bytes": 1 << 16,
    "queued.min.messages": 1,
    "enable.partition.eof": True,
}
# What is committed now, whichever transaction is about to commit more.
_UNCOMMITTED = {"isolation.level": "read_uncommitted"}


class Backlog:
    """Measures what the group of a role has not committed yet."""

    def __init__(
        self, clients: Clients, settings: KafkaSettings, roles: Iterable[str], metrics: Metrics
    ) -> None:
        topics = {"sign": settings.topics.documents, "match": settings.topics.signatures}
        self._topics = {role: topics[role] for role in roles}
        self._application, self._from_end = settings.application, settings.start == "latest"
        self._metrics, self._clients = metrics, clients
        self._open()

    def sample(self) -> bool:
        """Measure once; return whether the broker answered, else all stays as it was."""
        self._admin.poll(0)  # its troubles are heard by nobody else
        try:
            for role, topic in self._topics.items():
                self._measure(role, topic)
        except (KafkaException, TimeoutError):
            # A client that has lost a coordinator may never find it again.
            self.close()
            self._open()
            return False
        return True

    def close(self) -> None:
        """Let go of the clients."""
        for client in (self._reader, *self._groups.values()):
            client.close()

    def _open(self) -> None:
        self._admin, self._reader = self._clients.admin(), self._clients.reader(**_FRUGAL)
        # Consumers that never join: an admin client that asks for offsets of a group, and is told
        # that another broker has it by now, ends the process from within librdkafka.
        self._groups = {
            role: self._clients.consumer(f"{self._application}-{role}", **_UNCOMMITTED)
            for role in self._topics
        }

    def _measure(self, role: str, topic: str) -> None:
        described = self._reader.list_topics(topic, timeout=_ANSWER_SECONDS).topics[topic]
        if described.error is not None or not described.partitions:
            raise KafkaException(described.error or KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
        partitions = [TopicPartition(topic, number) for number in described.partitions]
        ends = self._offsets(partitions, _LATEST, IsolationLevel.READ_COMMITTED)
        begins = self._begins(role, partitions, ends)
        waiting = {number: begin for number, begin in begins.items() if begin < ends[number]}
        times = self._times(topic, waiting)
        now = time.time()
        for number, end in ends.items():
            labels = (role, str(number))
            since = times.get(number, now)
            # Ends of transactions have offsets too: behind the last record there may be one.
            is_level = number not in waiting or since is None
            self._metrics.set(LAG_RECORDS, 0 if is_level else end - begins[number], *labels)
            if is_level or number in times:
                self._metrics.set(LAG_SECONDS, max(0, now - (since or now)), *labels)
        if role == "match":
            written = self._offsets(partitions, _LATEST, IsolationLevel.READ_UNCOMMITTED)
            self._metrics.set(OPEN_RECORDS, sum(written.values()) - sum(ends.values()))

    def _begins(
        self, role: str, partitions: list[TopicPartition], ends: dict[int, int]
    ) -> dict[int, int]:
        """Return where the group reads on, or will begin."""
        answer = self._groups[role].committed(partitions, _ANSWER_SECONDS)
        found = {place.partition: place.offset for place in answer}
        if role == "sign" and self._from_end:
            first = ends
        else:
            uncommitted = IsolationLevel.READ_UNCOMMITTED
            first = self._offsets(partitions, _EARLIEST, uncommitted)
        return {
            number: first[number] if found.get(number, OFFSET_INVALID) < 0 else found[number]
            for number in ends
        }

    def _offsets(
        self, partitions: list[TopicPartition], spec: Any, isolation: Any
    ) -> dict[int, int]:
        asked = self._admin.list_offsets(
            dict.fromkeys(partitions, spec),
            isolation_level=isolation,
            request_timeout=_ANSWER_SECONDS,
        )
        return {
            place.partition: future.result(2 * _ANSWER_SECONDS).offset
            for place, future in asked.items()
        }

    def _times(self, topic: str, offsets: dict[int, int]) -> dict[int, float | None]:
        """Return when the records at these offsets came, None where there is none; if told soon."""
        times: dict[int, float | None] = {}
        if not offsets:
            return times
        self._reader.assign([TopicPartition(topic, *place) for place in offsets.items()])
        give_up = time.monotonic() + _RECORDS_SECONDS
        while len(times) < len(offsets) and time.monotonic() < give_up:
            for message in self._reader.consume(len(offsets), 0.1):
                error, number = message.error(), message.partition() or 0
                kind, stamp = message.timestamp()
                if error is not None and error.code() == KafkaError._PARTITION_EOF:
                    times.setdefault(number, None)
                elif error is None and kind != TIMESTAMP_NOT_AVAILABLE:
                    times.setdefault(number, stamp / 1000)
        self._reader.unassign()
        return times
