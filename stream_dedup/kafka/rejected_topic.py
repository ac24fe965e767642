"""The topic of rejected records: what lies in it, and how it is given back to be read anew."""

import heapq
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from stream_dedup.errors import InputError, Unavailable
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.dead_letters import DeadLetter, read_dead_letter
from stream_dedup.kafka.membership import incoming
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.refusals import refuse_final

_ANSWER_SECONDS = 10.0
_SILENCE_SECONDS_MAX = 30.0
_POLL_SECONDS = 0.5
_POLLED_MAX = 500


class Place(NamedTuple):
    """Where a dead letter lies in the topic."""

    partition: int
    offset: int

    def __str__(self) -> str:
        """Write it as it is given on the command line."""
        return f"{self.partition}:{self.offset}"


class Rejected(NamedTuple):
    """A dead letter in its place."""

    place: Place
    time: int  # when it was written there, in milliseconds since 1970
    letter: DeadLetter


class Selection(NamedTuple):
    """Which dead letters are meant; of an empty selection all are."""

    reason: str = ""  # words of it, in any case
    limit: int | None = None  # so many, the newest
    places: frozenset[Place] = frozenset()

    def of(self, letters: Iterable[Rejected]) -> list[Rejected]:
        """Return the chosen ones, newest last, without what they hold: it may be much."""
        chosen = map(_emptied, filter(self._takes, letters))
        if self.limit is None:
            return sorted(chosen, key=_age)
        return heapq.nlargest(self.limit, chosen, key=_age)[::-1]

    def _takes(self, rejected: Rejected) -> bool:
        if self.places and rejected.place not in self.places:
            return False
        return self.reason.lower() in rejected.letter.reason.lower()


class RejectedTopic:
    """Reads what was committed to the topic until now; changes nothing."""

    def __init__(self, clients: Clients, topic: str) -> None:
        self._clients = clients
        self._topic = topic

    def letters(self) -> Iterator[Rejected]:
        """Yield all dead letters, those of a partition in their order."""
        with closing(self._reader()) as reader:
            partitions = self._partitions(reader)
            yield from self._read(reader, dict.fromkeys(partitions, OFFSET_BEGINNING))

    def letter(self, place: Place) -> Rejected:
        """Return the dead letter of this place."""
        with closing(self._reader()) as reader:
            if place.partition in self._partitions(reader):
                low, high = self._bounds(reader, place.partition)
                if low <= place.offset < high:
                    found = next(self._read(reader, dict([place])), None)
                    if found and found.place == place:
                        return found
        raise InputError(f"topic {self._topic} has no record at {place}")

    def _reader(self) -> Consumer:
        return self._clients.reader(**{"enable.partition.eof": True})

    def _partitions(self, reader: Consumer) -> list[int]:
        try:
            found = reader.list_topics(self._topic, _ANSWER_SECONDS).topics[self._topic]
        except KafkaException as exception:
            raise self._unavailable(exception.args[0]) from None
        if found.error is not None:
            refuse_final(found.error, f"topic {self._topic}")
            if found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise InputError(f"topic {self._topic} does not exist: nothing was rejected yet")
            raise self._unavailable(found.error)
        return sorted(found.partitions)

    def _bounds(self, reader: Consumer, partition: int) -> tuple[int, int]:
        asked = TopicPartition(self._topic, partition)
        try:
            bounds = reader.get_watermark_offsets(asked, _ANSWER_SECONDS)
        except KafkaException as exception:
            raise self._unavailable(exception.args[0]) from None
        if bounds is None:
            raise Unavailable(f"topic {self._topic}: no answer")
        return bounds

    def _read(self, reader: Consumer, starts: Mapping[int, int]) -> Iterator[Rejected]:
        """Yield what lies behind these offsets, and stop where each partition ends now."""
        reader.assign([TopicPartition(self._topic, *start) for start in starts.items()])
        unfinished = set(starts)
        give_up = time.monotonic() + _SILENCE_SECONDS_MAX
        while unfinished:
            messages = reader.consume(_POLLED_MAX, _POLL_SECONDS)
            for message in messages:
                if self._is_end(message):
                    unfinished.discard(message.partition() or 0)
                elif message.partition() in unfinished:
                    yield from map(_rejected, incoming([message]))
            if messages:
                give_up = time.monotonic() + _SILENCE_SECONDS_MAX
            elif time.monotonic() > give_up:
                raise Unavailable(f"topic {self._topic}: no record for {_SILENCE_SECONDS_MAX:g} s")

    def _is_end(self, message: Message) -> bool:
        error = message.error()
        if error is not None and error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise Unavailable(
                f"topic {self._topic}: records were deleted while they were read; try again"
            )
        return error is not None and error.code() == KafkaError._PARTITION_EOF

    def _unavailable(self, error: KafkaError) -> Unavailable:
        refuse_final(error, f"topic {self._topic}")
        return Unavailable(f"topic {self._topic}: {error.str()}")


def _rejected(record: Incoming) -> Rejected:
    place = Place(record.partition, record.offset)
    return Rejected(place, record.timestamp, read_dead_letter(record))


def _emptied(rejected: Rejected) -> Rejected:
    return rejected._replace(letter=rejected.letter._replace(value=None, headers=[]))


def _age(rejected: Rejected) -> tuple[int, Place]:
    return rejected.time, rejected.place
