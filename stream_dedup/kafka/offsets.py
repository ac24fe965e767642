"""Offsets of a group: what is committed with them, and where reading begins.

Each carries the settings fingerprint, so that an instance with other settings is told before it
mixes its work with that of others, and the id of its topic, for another of the same name has other
records there.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from confluent_kafka import TopicPartition
from msgspec import Struct

from stream_dedup.config import Settings
from stream_dedup.errors import Refused
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.history import History
from stream_dedup.kafka.membership import Membership
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.watermarks import holds_records, watermarks
from stream_dedup.similarity.scheme import settings_fingerprint

_VERSION = 1


class Stamp(Struct, frozen=True, omit_defaults=True):
    """What is committed with an offset."""

    v: int
    settings: str
    history: History = History()  # of the log that the offset is in, where that has one
    topic_id: str = ""  # not known of offsets that were committed before it was noted


class Stamps:
    """Stamps offsets with the settings, and knows those of others."""

    def __init__(self, settings: Settings, topic_id: str) -> None:
        """Stamp offsets of this topic."""
        self._own = Stamp(_VERSION, settings_fingerprint(settings), topic_id=topic_id)

    def stamped(
        self, topic: str, ends: Mapping[int, int], history: History | None = None
    ) -> list[TopicPartition]:
        """Return offsets as they are committed."""
        stamp = msgspec.structs.replace(self._own, history=history or History())
        metadata = msgspec.json.encode(stamp).decode()
        return [TopicPartition(topic, partition, end, metadata) for partition, end in ends.items()]

    def check(self, found: Iterable[TopicPartition]) -> None:
        """Refuse offsets of other settings or a later version, or of a topic that is gone."""
        for partition in found:
            where = f"topic {partition.topic}, partition {partition.partition}"
            stamp = _read(partition.metadata)
            if stamp is None:
                continue
            if (stamp.v, stamp.settings) != (_VERSION, self._own.settings):
                raise Refused(
                    f"{where}: the last work there was done with the settings {stamp.settings} "
                    f"(format {stamp.v}), these are {self._own.settings} (format {_VERSION}). Give "
                    "both the same [similarity] and [events] settings, or give the new ones a "
                    "kafka.application of their own (UPGRADING.md)"
                )
            if stamp.topic_id not in {"", self._own.topic_id}:
                raise Refused(
                    f"{where}: the last work there was done on another topic of this name (id "
                    f"{stamp.topic_id}) than the one that is there (id {self._own.topic_id}): it "
                    "was deleted and made anew. Set the offsets of the group to where the new one "
                    "is to be read from, with kafka-consumer-groups --reset-offsets"
                )


def history(found: TopicPartition) -> History:
    """Return what an offset of the log tells of it."""
    stamp = _read(found.metadata)
    return stamp.history if stamp is not None else History()


def _read(metadata: str | None) -> Stamp | None:
    """Return the stamp; an offset that was set by hand has none."""
    if not metadata:
        return None
    try:
        return msgspec.json.decode(metadata, type=Stamp)
    except msgspec.DecodeError:
        return None


def next_offsets(records: Sequence[Incoming]) -> dict[int, int]:
    """Return for each partition the offset behind its last record."""
    return {record.partition: record.offset + 1 for record in records}


def start_offsets(
    clients: Clients,
    settings: Settings,
    stamps: Stamps,
    member: Membership,
    partitions: Sequence[int],
) -> dict[int, int]:
    """Return where to read documents from: where the group stopped, or as a first start asks.

    A partition that was added later is read from its beginning. A group that has lost all its
    offsets is not taken for a first start.
    """
    topics = settings.kafka.topics
    bounds = watermarks(clients, topics.documents)
    found = member.committed(bounds)
    stamps.check(found.values())
    missing = [number for number in partitions if found[number].offset < 0]
    is_first = all(at.offset < 0 for at in found.values())
    if missing and is_first and holds_records(clients, topics.signatures):
        raise Refused(
            f"the group {member.group} has no offsets, and the topic {topics.signatures} is not "
            f"empty: it is not a first start. If the offsets are lost, or {topics.documents} was "
            "deleted and made anew, set them with kafka-consumer-groups --reset-offsets: what was "
            "signed before from the same topic is recognised and left out. To begin anew take "
            "another kafka.application and other topics"
        )
    at_end = is_first and settings.kafka.start == "latest"
    starts = {number: found[number].offset for number in partitions if number not in missing}
    return starts | {number: bounds[number][int(at_end)] for number in missing}
