"""Replaying: rejected records go to the topic of documents once more, as they came."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from confluent_kafka import KafkaError, KafkaException

from stream_dedup.errors import Unavailable
from stream_dedup.kafka.answers import Deliveries, commit
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.dead_letters import DeadLetter
from stream_dedup.kafka.refusals import refuse_final

# What is written well within a transaction's timeout.
_COUNT_MAX = 1000
_BYTES_MAX = 8 << 20
_CALL_SECONDS = 5.0
_SECONDS_MAX = 30.0


class Replayer:
    """Writes records in transactions, so that of a part that fails nothing takes effect."""

    def __init__(self, clients: Clients, transactional_id: str, topic: str) -> None:
        self._topic = topic
        self._id = transactional_id
        self._deliveries = Deliveries()
        self._producer = clients.producer(transactional_id, on_delivery=self._deliveries)
        self.count = 0  # of records that were replayed

    def replay(self, letters: Iterable[DeadLetter], advance: Callable[[int], None]) -> None:
        """Write records in their order. They get new times: this is when they arrive."""
        try:
            self._producer.init_transactions(_SECONDS_MAX)
        except KafkaException as exception:
            raise self._stopped(exception.args[0]) from None
        for part in _parts(letters):
            try:
                self._write(part)
            except KafkaException as exception:
                raise self._given_up(exception.args[0], len(part)) from None
            self.count += len(part)
            advance(len(part))

    def _write(self, part: list[DeadLetter]) -> None:
        self._producer.begin_transaction()
        for letter in part:
            self._producer.produce(
                self._topic, letter.value, letter.key, headers=list(letter.headers)
            )
        commit(self._producer, _SECONDS_MAX, _CALL_SECONDS)

    def _given_up(self, error: KafkaError, count: int) -> Unavailable:
        """End the transaction; tell of one that may have been committed all the same."""
        if error.txn_requires_abort():
            with suppress(KafkaException):  # its timeout ends it too
                self._producer.abort_transaction(_CALL_SECONDS)
            return self._stopped(error)
        stopped = self._stopped(error)
        return Unavailable(f"{stopped}; whether {count:,} more were is not known")

    def _stopped(self, error: KafkaError) -> Unavailable:
        _, error = self._deliveries.failed or ("", error)
        refuse_final(error, f"replay to topic {self._topic} as {self._id}")
        return Unavailable(f"{error.str()}; {self.count:,} records were replayed before")


def _parts(letters: Iterable[DeadLetter]) -> Iterator[list[DeadLetter]]:
    part: list[DeadLetter] = []
    size = 0
    for letter in letters:
        part.append(letter)
        size += len(letter.value or b"")
        if len(part) >= _COUNT_MAX or size >= _BYTES_MAX:
            yield part
            part, size = [], 0
    if part:
        yield part
