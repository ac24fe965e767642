"""Transactions whose end is always known: records and offsets take effect together, or neither do.

Whoever asks to commit is told whether it was. Where the broker does not tell, the producer is
thrown away, another one with the same id ends what was under way, and the group's offsets say
whether the transaction was committed before.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.messages import Outgoing

_log = logging.getLogger(__name__)

# How long a broker may be away before the process ends, to be started again by who watches it.
UNAVAILABLE_SECONDS_MAX = 120.0
_CALL_SECONDS = 5.0
_PAUSE_SECONDS = 0.2
_PAUSE_SECONDS_MAX = 5.0

# What no second try mends.
_FINAL = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "grant this user WRITE on the topic",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "grant this user WRITE and DESCRIBE on the "
    "transactional ids that begin with kafka.application",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "grant this user READ on the consumer groups that "
    "begin with kafka.application",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "grant this user IDEMPOTENT_WRITE on the cluster",
    KafkaError.MSG_SIZE_TOO_LARGE: "raise max.message.bytes of the topic: stream-dedup topics "
    "check tells to what",
    KafkaError.SASL_AUTHENTICATION_FAILED: "correct the credentials in kafka.client",
}


class Fenced(Unavailable):
    """Stop: another process took over the transactional id. If that is a mistake, stop one."""


def refuse_final(error: KafkaError, where: str) -> None:
    """Raise what an operator has to mend, if the error is of that kind."""
    action = _FINAL.get(error.code())
    if action:
        raise Refused(f"{where}: {error.str()}; {action}")


class Transactions:
    """Commits one transaction after another under one transactional id."""

    def __init__(
        self,
        clients: Clients,
        transactional_id: str,
        group: str,
        on_step: Callable[[str], None],
    ) -> None:
        self._clients = clients
        self._id = transactional_id
        self._group = group  # whose offsets are committed
        self._on_step = on_step
        self._deliveries = Deliveries()
        self._producer: Producer | None = None

    def open(self) -> None:
        """End what an earlier owner of the id left open, and fence it off."""
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
        if self._producer is None:
            self.open()
        producer = self._producer
        assert producer is not None
        self._deliveries.failed = None
        try:
            producer.begin_transaction()
            self._on_step("begun")
            self._produce(producer, records)
            self._on_step("before offsets")
            metadata = consumer.consumer_group_metadata()
            _within(
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
        return True

    def _produce(self, producer: Producer, records: Iterable[Outgoing]) -> None:
        for number, record in enumerate(records):
            if number == 1:
                self._on_step("half produced")
            while True:
                try:
                    producer.produce(
                        record.topic, record.value, record.key, headers=list(record.headers)
                    )
                except BufferError:
                    producer.poll(0.05)
                else:
                    break

    def _settle(
        self,
        producer: Producer,
        error: KafkaError,
        offsets: Sequence[TopicPartition],
        consumer: Consumer,
    ) -> bool:
        """Find out what became of a transaction that went wrong, and be ready for the next."""
        if error.txn_requires_abort() and self._aborted(producer):
            self._refuse_if_final()
            _log.warning("transaction aborted: %s", error.str())
            return False
        self._refuse_if_final()
        refuse_final(error, f"transactional id {self._id}")
        _log.warning("transaction without answer, asking the group: %s", error.str())
        if error.code() == KafkaError._FENCED and not self._is_member(consumer):
            raise Fenced(f"another process works as {self._id}")
        self.open()
        return _are_committed(offsets, consumer)

    def _aborted(self, producer: Producer) -> bool:
        try:
            producer.abort_transaction(_CALL_SECONDS)
        except KafkaException as exception:
            _log.warning("abort failed: %s", exception.args[0].str())
            return False
        producer.poll(0)
        return True

    def _is_member(self, consumer: Consumer) -> bool:
        """Tell whether the group still names this consumer."""
        admin = self._clients.admin()  # gone before its answer, it would not give one
        try:
            asked = admin.describe_consumer_groups([self._group])
            described = asked[self._group].result(_CALL_SECONDS)
        except KafkaException as exception:
            raise Unavailable(f"no answer about {self._group}: {exception.args[0].str()}") from None
        return any(member.member_id == consumer.memberid() for member in described.members)

    def _refuse_if_final(self) -> None:
        if self._deliveries.failed is not None:
            topic, error = self._deliveries.failed
            refuse_final(error, f"topic {topic}")


class Deliveries:
    """Hears of records that were not taken."""

    def __init__(self) -> None:
        # The topic and the error of the first; what we purge ourselves does not count.
        self.failed: tuple[str, KafkaError] | None = None

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        """Hear of one, as librdkafka tells it."""
        purged = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)
        if error is not None and error.code() not in purged and self.failed is None:
            self.failed = (message.topic() or "", error)


def commit(
    producer: Producer,
    seconds: float,
    call_seconds: float,
    on_wait: Callable[[KafkaError], None] = lambda error: None,
) -> None:
    """Commit; ask again as long as the answer is that the same question may be asked again."""
    give_up = time.monotonic() + seconds
    while True:
        try:
            producer.commit_transaction(call_seconds)
        except KafkaException as exception:
            error = exception.args[0]
            if not error.retriable() or error.txn_requires_abort() or error.fatal():
                raise
            if time.monotonic() > give_up:
                raise
            on_wait(error)
        else:
            return


def _tell_waiting(error: KafkaError) -> None:
    _log.warning("waiting for a commit: %s", error.str())


def _within(seconds: float, call: Callable[[], None]) -> None:
    """Make a call that may not come back: librdkafka can wait for a coordinator without end.

    Its own timeout is not looked at while the connection to the coordinator is down, and after a
    broker was restarted nothing may ever bring that up again. The producer is then given up.
    """
    answers: SimpleQueue[KafkaException | None] = SimpleQueue()

    def ask() -> None:
        try:
            call()
        except KafkaException as exception:
            answers.put(exception)
        else:
            answers.put(None)

    Thread(target=ask, daemon=True).start()
    try:
        failure = answers.get(timeout=seconds)
    except Empty:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "no answer")) from None
    if failure is not None:
        raise failure


def committed(consumer: Consumer, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
    """Return what the group has committed; wait for transactions that are about to."""
    give_up = time.monotonic() + UNAVAILABLE_SECONDS_MAX
    while True:
        try:
            found: list[TopicPartition] = consumer.committed(list(partitions), _CALL_SECONDS)
        except KafkaException as exception:
            error = exception.args[0]
            refuse_final(error, "committed offsets")
            if time.monotonic() > give_up:
                raise Unavailable(f"no answer about committed offsets: {error.str()}") from None
            _log.warning("waiting for committed offsets: %s", error.str())
        else:
            return found


def _are_committed(offsets: Sequence[TopicPartition], consumer: Consumer) -> bool:
    """Tell whether these offsets were committed; all of a transaction's are, or none."""
    bare = [TopicPartition(offset.topic, offset.partition) for offset in offsets]
    now = {(found.topic, found.partition): found.offset for found in committed(consumer, bare)}
    return all(now[offset.topic, offset.partition] >= offset.offset for offset in offsets)
