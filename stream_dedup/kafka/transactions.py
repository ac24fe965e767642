"""Transactions whose end is always known: records and offsets take effect together, or neither do.

Whoever asks to commit is told whether it was. Where the broker does not tell, the producer is
thrown away, another one with the same id ends what was under way, and the group's offsets say
whether the transaction was committed before.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.kafka.answers import Deliveries, cause, commit, within
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.group import members
from stream_dedup.kafka.messages import Outgoing
from stream_dedup.kafka.refusals import refuse_final
from stream_dedup.kafka.vitals import Vitals
from stream_dedup.metrics import FENCED, LAST_COMMIT, PRODUCERS, TRANSACTIONS

_log = logging.getLogger(__name__)

# How long a broker may be away before the process ends, to be started again by who watches it.
UNAVAILABLE_SECONDS_MAX = 120.0
_CALL_SECONDS = 5.0
_PAUSE_SECONDS = 0.2
_PAUSE_SECONDS_MAX = 5.0
_ABORTS_MAX = 25  # as many as fit into that time, about


class Fenced(Unavailable):
    """Stop: another process took over the transactional id. If that is a mistake, stop one."""


class Transactions:
    """Commits one transaction after another under one transactional id."""

    def __init__(
        self,
        clients: Clients,
        transactional_id: str,
        group: str,
        vitals: Vitals,
        on_step: Callable[[str], None],
        goes_with_partition: bool = False,
    ) -> None:
        """Take an id of this process, or one that goes to whoever has the partition."""
        self._goes_with_partition = goes_with_partition
        self._clients, self._vitals = clients, vitals
        self._id = transactional_id
        self._group = group  # whose offsets are committed
        self._member_id = ""  # of the last session there
        self._on_step = on_step
        self._deliveries = Deliveries()
        self._producer: Producer | None = None
        self._topics: set[str] = set()  # that a transaction has written to
        self._aborts = 0  # one after the other

    def open(self) -> None:
        """End what an earlier owner of the id left open, and fence it off."""
        with self._clients.waits.waiting():
            self._open()

    def _open(self) -> None:
        self.close()
        give_up = time.monotonic() + UNAVAILABLE_SECONDS_MAX
        pause = _PAUSE_SECONDS
        while True:
            producer = self._clients.producer(self._id, on_delivery=self._deliveries)
            try:
                producer.init_transactions(_CALL_SECONDS)
            except KafkaException as exception:
                error = exception.args[0]
                refuse_final(error, f"transactional id {self._id}")
                if time.monotonic() > give_up:
                    raise Unavailable(f"no transactions for {self._id}: {error.str()}") from None
                _log.warning("waiting for transactions: %s", error.str())
                producer.purge()
                time.sleep(pause)
                pause = min(2 * pause, _PAUSE_SECONDS_MAX)
            else:
                self._producer = producer
                return

    def close(self) -> None:
        """Let go of the producer without waiting for what it may still hold."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            with suppress(KafkaException):  # what ended it, which is known already
                producer.poll(0)

    def commit(
        self, records: Iterable[Outgoing], offsets: Sequence[TopicPartition], consumer: Consumer
    ) -> bool:
        """Write records and offsets; return whether they took effect, else nothing has."""
        with self._clients.waits.waiting():
            is_committed = self._commit(records, offsets, consumer)
            self._aborts = 0 if is_committed else self._aborts + 1
            if self._aborts:
                self._pause()
        return is_committed

    def _commit(
        self, records: Iterable[Outgoing], offsets: Sequence[TopicPartition], consumer: Consumer
    ) -> bool:
        if self._producer is None:
            self.open()
        producer = self._producer
        assert producer is not None
        self._deliveries.failed = None
        self._member_id = consumer.memberid() or self._member_id
        try:
            producer.begin_transaction()
            self._on_step("begun")
            with self._vitals.timed("publish"):
                self._produce(producer, records)
            self._on_step("before offsets")
            with self._vitals.timed("commit"):
                metadata = consumer.consumer_group_metadata()
                within(
                    2 * _CALL_SECONDS,
                    lambda: producer.send_offsets_to_transaction(
                        list(offsets), metadata, _CALL_SECONDS
                    ),
                )
                self._on_step("after offsets")
                commit(producer, UNAVAILABLE_SECONDS_MAX, _CALL_SECONDS, _tell_waiting)
        except KafkaException as exception:
            return self._settle(producer, exception.args[0], offsets, consumer)
        self._on_step("after commit")
        self._vitals.count(TRANSACTIONS, "committed")
        self._vitals.put(LAST_COMMIT, time.time())
        return True

    def _produce(self, producer: Producer, records: Iterable[Outgoing]) -> None:
        for number, record in enumerate(records):
            if number == 1:
                self._on_step("half produced")
            self._topics.add(record.topic)
            _enqueue(producer, record)

    def _settle(
        self,
        producer: Producer,
        error: KafkaError,
        offsets: Sequence[TopicPartition],
        consumer: Consumer,
    ) -> bool:
        """Find out what became of a transaction that went wrong, and be ready for the next."""
        error = cause(producer, error)
        left = _aborted(producer) if error.txn_requires_abort() else error
        if left is None:
            self._refuse_if_final(error)
            self._vitals.count(TRANSACTIONS, "aborted")
            _log.warning("transaction aborted: %s", error.str())
            return False
        self._refuse_if_final(error)
        self._vitals.count(TRANSACTIONS, "unknown")
        _log.warning("transaction without answer, asking the group: %s", error.str())
        # Who took the id over while nothing was heard is met only by the attempt to abort.
        is_fenced = KafkaError._FENCED in (error.code(), left.code())
        self._vitals.count(FENCED, amount=is_fenced)
        if (is_fenced and not self._is_ours(consumer)) or self._is_given_away(offsets):
            raise Fenced(f"another process works as {self._id}")
        self._vitals.count(PRODUCERS)
        self.open()
        return self._are_committed(offsets, consumer)

    def _are_committed(self, offsets: Sequence[TopicPartition], member: Consumer) -> bool:
        """Tell whether these offsets were committed; all of a transaction's are, or none."""
        bare = [TopicPartition(offset.topic, offset.partition) for offset in offsets]
        answer = committed(self._clients, self._group, bare, member)
        now = {(found.topic, found.partition): found.offset for found in answer}
        return all(now[offset.topic, offset.partition] >= offset.offset for offset in offsets)

    def _is_ours(self, consumer: Consumer) -> bool:
        """Tell whether nobody else can have the id, and refuse two of one name in the group.

        A broker that was frozen has ended the session too. Then those who are there count. One that
        started again begins the session anew: who has given it up meanwhile is there by its old id.
        """
        present = members(self._clients, self._group, UNAVAILABLE_SECONDS_MAX)
        ids = {self._member_id, consumer.memberid()}
        others = {member.client_id for member in present if member.id not in ids}
        is_there = any(member.id in ids for member in present)
        own = self._clients.name
        if is_there and own in others:
            raise Refused(
                f"another process runs as {own} in the group {self._group}, and took over the "
                f"transactional id {self._id}: give each process a kafka.instance of its own"
            )
        return is_there or not (others if self._goes_with_partition else own in others)

    def _is_given_away(self, offsets: Sequence[TopicPartition]) -> bool:
        """Tell whether the id, which goes with these partitions, is another process's by now."""
        if not self._goes_with_partition:
            return False
        ours = {(offset.topic, offset.partition) for offset in offsets}
        present = members(self._clients, self._group, UNAVAILABLE_SECONDS_MAX)
        strangers = [member for member in present if member.client_id != self._clients.name]
        return any(member.partitions & ours for member in strangers)

    def _refuse_if_final(self, error: KafkaError) -> None:
        if self._deliveries.failed is not None:
            topic, failure = self._deliveries.failed
            refuse_final(failure, f"topic {topic}")
        is_of_topic = error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        one = f"one of the topics {', '.join(sorted(self._topics))}"
        refuse_final(error, one if is_of_topic else f"transactional id {self._id}")

    def _pause(self) -> None:
        """Give the cluster time to get over what it did not take, with a bound."""
        if self._aborts > _ABORTS_MAX:
            raise Unavailable(f"{self._id}: {self._aborts} transactions after another were aborted")
        time.sleep(min(_PAUSE_SECONDS * 2 ** (self._aborts - 1), _PAUSE_SECONDS_MAX))


def _enqueue(producer: Producer, record: Outgoing) -> None:
    """Hand a record over, as soon as there is room for it."""
    was_empty = False
    while True:
        try:
            place = record.topic, record.value, record.key, record.partition
            producer.produce(*place, headers=list(record.headers))
        except BufferError:
            if was_empty:  # no waiting helps
                raise Refused(
                    f"a record for topic {record.topic} is larger than the queue to the broker; "
                    "raise queue.buffering.max.kbytes in kafka.client"
                ) from None
            was_empty = not len(producer)
            producer.poll(0.05)
        else:
            return


def _aborted(producer: Producer) -> KafkaError | None:
    """Abort; return why that failed if it did."""
    try:
        producer.abort_transaction(_CALL_SECONDS)
    except KafkaException as exception:
        error: KafkaError = exception.args[0]
        _log.warning("abort failed: %s", error.str())
        return error
    producer.poll(0)
    return None


def _tell_waiting(error: KafkaError) -> None:
    _log.warning("waiting for a commit: %s", error.str())


def committed(
    clients: Clients,
    group: str,
    partitions: Sequence[TopicPartition],
    member: Consumer | None = None,
) -> list[TopicPartition]:
    """Return what the group has committed; wait for transactions that are about to.

    A member whose session ended with a broker that restarted may get no answer until it has heard
    of that, which it does when it receives. So it is asked once, and then one that is no member.
    """
    give_up = time.monotonic() + UNAVAILABLE_SECONDS_MAX
    while True:
        try:
            if member is not None:
                return _asked(member, partitions)
            with closing(clients.consumer(group)) as consumer:
                return _asked(consumer, partitions)
        except KafkaException as exception:
            error = exception.args[0]
            refuse_final(error, "committed offsets")
            if time.monotonic() > give_up:
                raise Unavailable(f"no answer about committed offsets: {error.str()}") from None
            _log.warning("waiting for committed offsets: %s", error.str())
            member = None


def _asked(consumer: Consumer, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
    found: list[TopicPartition] = consumer.committed(list(partitions), _CALL_SECONDS)
    return found
