"""Clients of Kafka with the settings that the service needs; the user's own come on top."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from stream_dedup.config import KafkaSettings
from stream_dedup.errors import SettingsError
from stream_dedup.kafka.messages import RECORD_BYTES_MAX
from stream_dedup.kafka.rights import reader_group
from stream_dedup.kafka.waits import Waits

_log = logging.getLogger(__name__)

Client = TypeVar("Client", AdminClient, Consumer, Producer)

TRANSACTION_TIMEOUT_SECONDS = 10
SESSION_TIMEOUT_SECONDS = 10
# Bounds what a consumer holds that nobody has asked for yet.
_FETCHED_KILOBYTES_MAX = 64 * 1024
# Bounds what a producer holds that no broker has taken yet; the largest single record has room.
_QUEUED_KILOBYTES_MAX = 128 * 1024

_CONSUMER: dict[str, Any] = {
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "fetch.wait.max.ms": 50,
    "fetch.queue.backoff.ms": 50,
    "fetch.message.max.bytes": 8 << 20,
    "queued.max.messages.kbytes": _FETCHED_KILOBYTES_MAX,
}
_MEMBER: dict[str, Any] = {
    "partition.assignment.strategy": "cooperative-sticky",
    "session.timeout.ms": SESSION_TIMEOUT_SECONDS * 1000,
    "heartbeat.interval.ms": 1000,
}
_PRODUCER: dict[str, Any] = {
    "enable.idempotence": True,
    "transaction.timeout.ms": TRANSACTION_TIMEOUT_SECONDS * 1000,
    # With librdkafka's 100 every small transaction would wait 100 ms for the one before it.
    "retry.backoff.ms": 5,
    "retry.backoff.max.ms": 10,
    "linger.ms": 50,  # a commit flushes anyway
    "compression.type": "lz4",
    "message.max.bytes": RECORD_BYTES_MAX,  # the topic's own limit decides
    "queue.buffering.max.kbytes": _QUEUED_KILOBYTES_MAX,
    "queue.buffering.max.messages": 1_000_000,
}
# What librdkafka warns of, on each start, where the other kind of client is given it.
_FOR_CONSUMERS = (
    *("check.crcs", "consume.callback.", "coordinator.query.interval.ms", "enable.partition.eof"),
    *("fetch.", "group.", "heartbeat.interval.ms", "max.poll.interval.ms", "queued."),
    "session.timeout.ms",
)
_FOR_PRODUCERS = (
    *("acks", "batch.", "compression.", "delivery.", "linger.ms", "message.send.max.retries"),
    *("message.timeout.ms", "partitioner", "queue.buffering.", "queuing.strategy"),
    *("request.required.acks", "request.timeout.ms", "retries", "sticky.partitioning."),
    "transaction.timeout.ms",
)
# Upon these rests that each verdict comes once, and that the roles know one another.
_OURS = {
    "auto.offset.reset",
    "bootstrap.servers",
    "client.id",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.idempotence",
    "group.id",
    "isolation.level",
    "partition.assignment.strategy",
    "transactional.id",
}


class Clients:
    """Makes clients of one cluster."""

    def __init__(self, settings: KafkaSettings) -> None:
        """Refuse what is not the user's to choose."""
        if taken := sorted(_OURS & set(settings.client)):
            raise SettingsError(f"kafka.client: {', '.join(taken)} cannot be chosen")
        self._settings = settings
        self.trouble: KafkaError | None = None  # what a connection failed with last
        self.waits = Waits()

    @property
    def name(self) -> str:
        """The name of this process among the members of a group."""
        return f"{self._settings.application}-{self._settings.instance}"

    def check(self) -> None:
        """Refuse what librdkafka does not take, before anything is begun."""
        quiet = {"log_level": 0}  # a broker that is away is told of by who asks it something
        self.reader(**quiet).close()
        self.producer(f"{self._settings.application}-check", **quiet)

    def admin(self) -> AdminClient:
        """Return a client that looks at topics and makes them."""
        others = (*_FOR_CONSUMERS, *_FOR_PRODUCERS)
        return _made(AdminClient, self._config({}, others))

    def consumer(self, group: str, **others: Any) -> Consumer:
        """Return a member of a group."""
        own = {**_CONSUMER, **_MEMBER, "group.id": group}
        return _made(Consumer, self._config({**own, **others}, _FOR_PRODUCERS))

    def reader(self, **others: Any) -> Consumer:
        """Return a consumer that is told what to read and commits nothing."""
        group = reader_group(self._settings.application)
        own = {**_CONSUMER, "group.id": group, **others}
        return _made(Consumer, self._config(own, _FOR_PRODUCERS))

    def producer(self, transactional_id: str, **others: Any) -> Producer:
        """Return a producer of transactions; deliveries are told of where they failed."""
        own = {**_PRODUCER, "transactional.id": transactional_id}
        own["delivery.report.only.error"] = True
        return _made(Producer, self._config({**own, **others}, _FOR_CONSUMERS))

    def _config(self, own: Mapping[str, Any], foreign: tuple[str, ...]) -> dict[str, Any]:
        given = self._settings.client
        return {
            "bootstrap.servers": self._settings.bootstrap_servers,
            "client.id": self.name,
            "error_cb": self._on_error,
            "logger": logging.getLogger("stream_dedup.librdkafka"),
            **own,
            **{name: value for name, value in given.items() if not name.startswith(foreign)},
        }

    def _on_error(self, error: KafkaError) -> None:
        """Tell of a lost connection; librdkafka mends it by itself."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # which says less than the one before
            self.trouble = error
        _log.debug("client: %s", error)


def _made(kind: Callable[[dict[str, Any]], Client], config: dict[str, Any]) -> Client:
    """Make a client; what librdkafka does not take is one of the user's own settings."""
    try:
        return kind(config)
    except KafkaException as exception:
        error: KafkaError = exception.args[0]
        if error.code() != KafkaError._INVALID_ARG:
            raise
        raise SettingsError(f"kafka.client: {error.str()}") from None
