"""What an index remembers of the log: which topic it is, what was seen of each source, what is old.

The entries lie in its meta and change in the same write as its rows.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from stream_dedup.checkpoint import LOG
from stream_dedup.errors import Refused

Source = tuple[str, int, int]  # the id of a topic, a partition, an offset


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
        entry = meta.get(LOG)
        return msgspec.msgpack.decode(entry, type=cls) if entry else cls()

    def entry(self) -> dict[str, bytes]:
        """Return this as an entry of meta."""
        return {LOG: msgspec.msgpack.encode(self)}

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

    def taking(self, sources: Iterable[Source]) -> tuple[list[int], "Ledger"]:
        """Return the places of documents that were not seen before, and the ledger behind them."""
        seen = {topic_id: dict(partitions) for topic_id, partitions in self.seen.items()}
        new = []
        for place, (topic_id, partition, offset) in enumerate(sources):
            partitions = seen.setdefault(topic_id, {})
            if offset > partitions.get(partition, -1):
                partitions[partition] = offset
                new.append(place)
        return new, msgspec.structs.replace(self, seen=seen)

    def rotated(self, position: int) -> "Ledger":
        """Return the ledger behind a change of generations; the last two are kept."""
        return msgspec.structs.replace(self, generations=(*self.generations[-1:], position))

    def before_rotation(self) -> "Ledger":
        """Return the ledger without the last change, as it has not come about.

        The generation before is no longer known by then: less can be purged, until the next change.
        """
        return msgspec.structs.replace(self, generations=self.generations[:-1])
