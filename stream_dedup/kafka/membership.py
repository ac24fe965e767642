"""A member of a consumer group: which partitions are its own, and records of them in batches.

Rebalances are heard within `receive` only, so nothing is ever under way when one comes.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from confluent_kafka import (
    OFFSET_END,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    Message,
    TopicPartition,
)

from stream_dedup.errors import Refused
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.messages import Headers, Incoming
from stream_dedup.kafka.refusals import refuse_final
from stream_dedup.kafka.same_topic import SameTopic
from stream_dedup.kafka.transactions import committed
from stream_dedup.kafka.vitals import Vitals
from stream_dedup.logs import fields
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.metrics import PARTITIONS, REBALANCES

_log = logging.getLogger(__name__)


class Membership:
    """One consumer of one topic in a group."""

    def __init__(
        self,
        clients: Clients,
        group: str,
        topic: str,
        topic_id: str,
        vitals: Vitals,
        on_step: Callable[[str], None],
    ) -> None:
        self.group = group
        self._clients, self._waits = clients, clients.waits
        self._topic = topic
        self._same_topic = SameTopic(clients, topic, topic_id)
        self._vitals, self._on_step = vitals, on_step
        self._new: set[int] = set()
        self.owned: set[int] = set()
        self.paused = False
        self.consumer = clients.consumer(group)
        self.consumer.subscribe(
            [topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )

    def close(self) -> None:
        """Leave the group, which hands over at once."""
        with self._waits.waiting():
            self.consumer.close()

    @property
    def is_known(self) -> bool:
        """Tell whether the group has a name for this member."""
        return bool(self.consumer.memberid())

    def newly_owned(self) -> list[int]:
        """Return the partitions that came since the last call; they are paused until `begin`."""
        new, self._new = self._new & self.owned, set()
        return sorted(new)

    def committed(self, partitions: Iterable[int]) -> dict[int, TopicPartition]:
        """Return what the group has committed of these."""
        asked = [TopicPartition(self._topic, partition) for partition in partitions]
        with self._waits.waiting():
            answer = committed(self._clients, self.group, asked, self.consumer)
        return {found.partition: found for found in answer}

    def begin(self, offsets: dict[int, int]) -> None:
        """Read on from these offsets."""
        for partition, offset in offsets.items():
            self.consumer.seek(TopicPartition(self._topic, partition, offset))
        if not self.paused:
            self.consumer.resume([TopicPartition(self._topic, partition) for partition in offsets])

    def pause(self, wanted: bool) -> None:
        """Stop to read, or read on."""
        if wanted != self.paused:
            partitions = [TopicPartition(self._topic, partition) for partition in self.owned]
            (self.consumer.pause if wanted else self.consumer.resume)(partitions)
            self.paused = wanted

    def receive(self, count_max: int, timeout_seconds: float) -> list[Incoming]:
        """Wait for a record, and return what has come with it, or none.

        Rebalances are heard meanwhile. Nobody waits for a batch to fill: under load it does so
        while the one before is worked on.
        """
        messages = self.consumer.consume(1, timeout_seconds)
        if messages and count_max > 1:
            messages += self.consumer.consume(count_max - 1, 0)
        records = incoming(messages)
        self._same_topic.heard(bool(records))
        return records

    def _assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        numbers = {found.partition for found in partitions}
        # Where to begin is decided outside of the callback; the end exists in any case.
        consumer.incremental_assign(
            [TopicPartition(self._topic, partition, OFFSET_END) for partition in numbers]
        )
        if numbers:
            consumer.pause([TopicPartition(self._topic, partition) for partition in numbers])
        self.owned |= numbers
        self._new |= numbers
        self._tell("assigned", numbers)

    def _revoked(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self._on_step("revoked")
        self._let_go(consumer, partitions, "revoked")

    def _lost(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self._let_go(consumer, partitions, "lost")

    def _let_go(self, consumer: Consumer, partitions: Sequence[TopicPartition], what: str) -> None:
        numbers = {found.partition for found in partitions}
        consumer.incremental_unassign(list(partitions))
        self.owned -= numbers
        self._tell(what, numbers)

    def _tell(self, what: str, numbers: set[int]) -> None:
        self._vitals.count(REBALANCES, what)
        self._vitals.put(PARTITIONS, len(self.owned))
        listed = ",".join(map(str, sorted(numbers)))
        _log.info("partitions %s", what, extra=fields(topic=self._topic, partitions=listed))


def incoming(messages: Iterable[Message]) -> list[Incoming]:
    """Return the records among what a consumer gives, refuse what no waiting mends."""
    records = []
    for message in messages:
        error = message.error()
        if error is None:
            records.append(_incoming(message))
        elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise Refused(
                f"topic {message.topic()}, partition {message.partition()}: {error.str()}; records "
                "that were not read yet are gone, or the topic was made anew. Decide where to go "
                "on with kafka-consumer-groups --reset-offsets"
            )
        else:
            # What concerns the group comes without a topic.
            where = f"topic {message.topic()}" if message.topic() else "the consumer group"
            refuse_final(error, where, "READ")
            _log.warning("waiting for records: %s", error.str())
    return records


def _incoming(message: Message) -> Incoming:
    kind, timestamp = message.timestamp()
    headers, unreadable = _headers(message)
    return Incoming(
        message.topic() or "",
        message.partition() or 0,
        message.offset() or 0,
        UNDATED if kind == TIMESTAMP_NOT_AVAILABLE else timestamp,
        message.key(),
        message.value(),
        headers,
        unreadable,
    )


def _headers(message: Message) -> tuple[Headers, str]:
    """Return the headers, or why there are none: the client has names as text only."""
    try:
        headers: Any = message.headers() or []  # a list of pairs, of bytes
    except (SystemError, UnicodeDecodeError):  # the former is raised with the latter as its cause
        return [], "headers: a name is not UTF-8"
    return headers, ""
