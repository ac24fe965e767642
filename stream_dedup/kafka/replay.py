"""The log read again into an index, with outputs off: after a crash, a loss, or on standby.

It has a consumer of its own, so that the member of the group is left alone meanwhile.
"""

from collections.abc import Callable

from confluent_kafka import TopicPartition

from stream_dedup.config import Settings
from stream_dedup.errors import Refused
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.follower import Follower
from stream_dedup.kafka.membership import incoming
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.watermarks import watermarks

PARTITION = 0  # the log has one
_WAIT_SECONDS = 0.2


class Replay:
    """Leads an index along the log up to a limit that may move on."""

    def __init__(
        self,
        clients: Clients,
        settings: Settings,
        on_step: Callable[[str], None],
    ) -> None:
        self._clients = clients
        self._topic = settings.kafka.topics.signatures
        self._batch_size = settings.kafka.batch_size_max
        self._on_step = on_step
        self._consumer = clients.reader(**{"auto.offset.reset": "earliest"})
        self._at = -1  # where the follower is to go on
        self._ahead: list[Incoming] = []  # from there on, read and not below the limit

    def close(self) -> None:
        """Let go of the consumer."""
        self._consumer.close()

    def rest(self) -> None:
        """Stop to read, until there is something to lead again."""
        self._consumer.unassign()
        self._at, self._ahead = -1, []

    def check(self, index_offset: int, limit: int) -> None:
        """Refuse an index that is ahead of the group, and a group that is behind the log."""
        low, high = watermarks(self._clients, self._topic)[PARTITION]
        if index_offset > limit:
            raise Refused(
                f"the index knows the log up to {index_offset}, the group has committed {limit}: "
                "its offsets were set back by hand, or the index belongs to another application. "
                "Set the offsets forward again, or move the index away to have it made anew"
            )
        if limit < low:
            raise Refused(
                f"the group has committed {limit}, and {self._topic} begins at {low}: records "
                "were deleted before they were matched. Set the offset of the group to "
                f"{low} with kafka-consumer-groups --reset-offsets to go on without them"
            )
        if limit > high:
            raise Refused(
                f"the group has committed {limit}, and {self._topic} ends at {high}: it was "
                "deleted and made anew. Give the service a new kafka.application and move the "
                "index away"
            )

    def advance(self, follower: Follower, limit: float) -> bool:
        """Take in one batch of records below the limit; return whether the limit is reached.

        Records that were purged are older than all that is remembered.
        """
        if follower.next_offset >= limit:
            return True
        if self._at != follower.next_offset:
            self._at, self._ahead = follower.next_offset, []
            self._consumer.assign([TopicPartition(self._topic, PARTITION, self._at)])
        read = self._ahead or incoming(self._consumer.consume(self._batch_size, _WAIT_SECONDS))
        records = [record for record in read if record.offset < limit]
        self._ahead = read[len(records) :]
        if records:
            follower.remember(follower.decide(records))
            self._at = records[-1].offset + 1
            self._on_step("replayed")
        if self._ahead:
            return True
        # Ends of transactions have offsets too, so the last record may lie well before the limit.
        place = self._consumer.position([TopicPartition(self._topic, PARTITION)])[0].offset
        return follower.next_offset >= limit or place >= limit
