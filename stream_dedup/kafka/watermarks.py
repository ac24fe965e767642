"""How far the partitions of a topic reach."""

import logging
import time
from contextlib import closing

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.refusals import refuse_final
from stream_dedup.kafka.transactions import UNAVAILABLE_SECONDS_MAX

_log = logging.getLogger(__name__)

_CALL_SECONDS = 5.0
_PAUSE_SECONDS = 1.0


def watermarks(clients: Clients, topic: str) -> dict[int, tuple[int, int]]:
    """Return the first offset and the one behind the last of each partition; wait for a broker.

    One that comes back knows its topics before it leads their partitions.
    """
    give_up = time.monotonic() + UNAVAILABLE_SECONDS_MAX
    with clients.waits.waiting():
        while True:
            try:
                with closing(clients.reader()) as reader:
                    return _watermarks(reader, topic)
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
