"""How far the partitions of a topic reach, and whether anything lies in them."""

import logging
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.refusals import refuse_final
from stream_dedup.kafka.transactions import UNAVAILABLE_SECONDS_MAX

_log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_TO_THE_END: dict[str, Any] = {"enable.partition.eof": True, "auto.offset.reset": "earliest"}
_CALL_SECONDS = 5.0
_PAUSE_SECONDS = 1.0


def watermarks(clients: Clients, topic: str) -> dict[int, tuple[int, int]]:
    """Return the first offset and the one behind the last of each partition; wait for a broker.

    One that comes back knows its topics before it leads their partitions.
    """
    return _asked(clients, topic, _watermarks)


def holds_records(clients: Clients, topic: str) -> bool:
    """Tell whether a topic has records, or had some; what was taken back has offsets, and is none.

    Wait for a broker.
    """
    return _asked(clients, topic, _holds_records)


def _asked(clients: Clients, topic: str, ask: Callable[[Consumer, str], Answer]) -> Answer:
    give_up = time.monotonic() + UNAVAILABLE_SECONDS_MAX
    with clients.waits.waiting():
        while True:
            try:
                with closing(clients.reader(**_TO_THE_END)) as reader:
                    return ask(reader, topic)
            except KafkaException as exception:
                error = exception.args[0]
                refuse_final(error, f"topic {topic}", "READ")
                if time.monotonic() > give_up:
                    raise Unavailable(f"topic {topic}: {error.str()}") from None
                _log.warning("waiting for topic %s: %s", topic, error.str())
                time.sleep(_PAUSE_SECONDS)


def _watermarks(reader: Consumer, topic: str) -> dict[int, tuple[int, int]]:
    described = reader.list_topics(topic, timeout=_CALL_SECONDS).topics[topic]
    if described.error is not None:
        if described.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(described.error)
        raise Refused(f"topic {topic}: {described.error.str()}; stream-dedup topics check")
    return {
        number: reader.get_watermark_offsets(TopicPartition(topic, number), timeout=_CALL_SECONDS)
        for number in described.partitions
    }


def _holds_records(reader: Consumer, topic: str) -> bool:
    bounds = _watermarks(reader, topic)
    if any(low > 0 for low, _ in bounds.values()):
        return True
    left = {number for number, (_, high) in bounds.items() if high > 0}
    reader.assign([TopicPartition(topic, number, 0) for number in left])
    give_up = time.monotonic() + _CALL_SECONDS
    while left and time.monotonic() < give_up:
        for message in reader.consume(1, _PAUSE_SECONDS):
            error = message.error()
            if error is None:
                return True
            if error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            left.discard(message.partition() or 0)
    if left:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"nothing read of {topic}"))
    return False
