"""How far a role is said to be behind, on a real log."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from confluent_kafka import TopicPartition

from benchmarks.signed_log import commit_offset
from stream_dedup.config import Settings
from stream_dedup.kafka.backlog import Backlog
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.topics import ensure
from stream_dedup.metrics import LAG_RECORDS, LAG_SECONDS, Metrics
from tests.integration.brokers import Broker
from tests.integration.conftest import Names

SECONDS_MAX = 90.0
MATCH = ("match", "0")


class Log:
    """The log of an application, of which nobody has read anything yet."""

    def __init__(self, broker: Broker, names: Names) -> None:
        self.settings = Settings(kafka=names.kafka(broker, instance="one"))
        self._topic = self.settings.kafka.topics.signatures
        self._clients = Clients(self.settings.kafka)
        ensure(self._clients, self.settings)
        self.metrics = Metrics()
        self.backlog = Backlog(self._clients, self.settings.kafka, ["match"], self.metrics)

    def write(self, count: int) -> None:
        """Write records in one transaction, whose end has an offset of its own."""
        producer = self._clients.producer("writer")
        producer.init_transactions(SECONDS_MAX)
        producer.begin_transaction()
        for _ in range(count):
            producer.produce(self._topic, b"value", b"key")
        producer.commit_transaction(SECONDS_MAX)

    def commit(self, offset: int) -> None:
        """Commit as the role does: behind the last record that it has read."""
        commit_offset(self.settings.kafka, "match", self._topic, offset)

    @contextmanager
    def committing(self, offset: int) -> Iterator[None]:
        """Be within a transaction that commits an offset at its end."""
        producer = self._clients.producer("committer")
        group = f"{self.settings.kafka.application}-match"
        with closing(self._clients.consumer(group)) as consumer:
            producer.init_transactions(SECONDS_MAX)
            producer.begin_transaction()
            producer.send_offsets_to_transaction(
                [TopicPartition(self._topic, 0, offset)],
                consumer.consumer_group_metadata(),
                SECONDS_MAX,
            )
            yield
            producer.commit_transaction(SECONDS_MAX)

    def lag(self) -> tuple[float | None, float | None]:
        """Sample until the broker has answered; return records and seconds."""
        give_up = time.monotonic() + SECONDS_MAX
        while not self.backlog.sample():
            assert time.monotonic() < give_up
        return self.metrics.value(LAG_RECORDS, *MATCH), self.metrics.value(LAG_SECONDS, *MATCH)


@pytest.fixture
def log(broker: Broker, names: Names) -> Iterator[Log]:
    """A log with four records, and the end of their transaction behind them."""
    log = Log(broker, names)
    log.write(4)
    yield log
    log.backlog.close()


def test_what_is_not_committed_is_counted_and_grows_old(log: Log) -> None:
    """From the first record that was not committed on, all count, and it has an age."""
    log.commit(1)
    records, seconds = log.lag()
    _, later = log.lag()

    assert records == 4, "three records, and the end of a transaction"
    assert seconds is not None
    assert later is not None
    assert 0 < seconds < later < SECONDS_MAX


def test_who_has_read_all_is_not_behind(log: Log) -> None:
    """The end of a transaction behind the last record is nothing that anybody waits for."""
    log.commit(1)
    assert log.lag()[0] == 4
    log.commit(4)

    assert log.lag() == (0, 0)


def test_a_transaction_under_way_is_not_waited_for(log: Log) -> None:
    """What is committed already is told, though a transaction is about to commit more."""
    log.commit(1)
    with log.committing(4):
        assert log.backlog.sample()
        assert log.lag()[0] == 4
    # The broker takes a moment to make known what it has agreed to.
    give_up = time.monotonic() + SECONDS_MAX
    while log.lag() != (0, 0):
        assert time.monotonic() < give_up


def test_a_topic_that_is_gone_is_no_answer(log: Log) -> None:
    """Nothing is raised, for nobody would look after that."""
    topic = log.settings.kafka.topics.signatures
    admin = Clients(log.settings.kafka).admin()  # gone before its answer, it would not give one
    admin.delete_topics([topic])[topic].result(SECONDS_MAX)

    give_up = time.monotonic() + SECONDS_MAX
    while log.backlog.sample():
        assert time.monotonic() < give_up
