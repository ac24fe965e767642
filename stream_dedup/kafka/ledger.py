"""What an index remembers of the log: which topic it is, what was seen of each source, what is old.

The entries lie in its meta and change in the same write as its rows.
"""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from stream_dedup.errors import Refused

_LOG = "log"

Source = tuple[str, int]  # the id of a topic, a partition


class Ledger(Struct, frozen=True):
    """The state behind a position of the log."""

    topic_id: str = ""
    # The highest offset seen of each source: what comes again, after offsets were reset by hand,
    # is left out, or documents would match themselves.
    seen: dict[str, dict[int, int]] = {}
    # Where the generations of the index began: nothing before the first of them is asked for.
    generations: tuple[int, ...] = ()

    @classmethod
    def of(cls, meta: Mapping[str, bytes]) -> "Ledger":
        """Return what an index remembers; of a new one, nothing."""
        entry = meta.get(_LOG)
        return msgspec.msgpack.decode(entry, type=cls) if entry else cls()

    def entry(self) -> dict[str, bytes]:
        """Return this as an entry of meta."""
        return {_LOG: msgspec.msgpack.encode(self)}

    def bound_to(self, topic_id: str, topic: str) -> "Ledger":
        """Return the ledger of this topic; refuse that of another."""
        if self.topic_id and self.topic_id != topic_id:
            raise Refused(
                f"the index was made from another topic {topic} (id {self.topic_id}) than the one "
                f"that is there (id {topic_id}): it was deleted and made anew. Move the index "
                "away, and give the service a new kafka.application, to begin with nothing "
                "remembered"
            )
        return msgspec.structs.replace(self, topic_id=topic_id)

    def is_new(self, topic_id: str, partition: int, offset: int) -> bool:
        """Tell whether a document was not seen before."""
        return offset > self.seen.get(topic_id, {}).get(partition, -1)

    def with_seen(self, topic_id: str, partition: int, offset: int) -> "Ledger":
        """Return the ledger behind a document."""
        partitions = {**self.seen.get(topic_id, {}), partition: offset}
        return msgspec.structs.replace(self, seen={**self.seen, topic_id: partitions})

    def rotated(self, position: int) -> "Ledger":
        """Return the ledger behind a change of generations; the last two are kept."""
        return msgspec.structs.replace(self, generations=(*self.generations[-1:], position))
