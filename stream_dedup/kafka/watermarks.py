"""How far the partitions of a topic reach."""

from contextlib import closing

from confluent_kafka import Consumer, KafkaException, TopicPartition

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.refusals import refuse_final

_SECONDS = 30.0


def watermarks(clients: Clients, topic: str) -> dict[int, tuple[int, int]]:
    """Return the first offset and the one behind the last of each partition."""
    with clients.waits.waiting(), closing(clients.reader()) as reader:
        return _watermarks(reader, topic)


def _watermarks(reader: Consumer, topic: str) -> dict[int, tuple[int, int]]:
    try:
        described = reader.list_topics(topic, timeout=_SECONDS).topics[topic]
        if described.error is not None:
            refuse_final(described.error, f"topic {topic}")
            raise Refused(f"topic {topic}: {described.error.str()}; stream-dedup topics check")
        return {
            number: reader.get_watermark_offsets(TopicPartition(topic, number), timeout=_SECONDS)
            for number in described.partitions
        }
    except KafkaException as exception:
        error = exception.args[0]
        refuse_final(error, f"topic {topic}")
        raise Unavailable(f"topic {topic}: {error.str()}") from None
