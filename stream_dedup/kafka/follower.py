"""The index led along the log, live and in replay: the same records, the same decisions."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from stream_dedup.config import Settings
from stream_dedup.engine import Matched, Matcher
from stream_dedup.errors import Refused, StreamDedupError
from stream_dedup.interfaces import Index
from stream_dedup.kafka.ledger import Ledger
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.signed import Extra, SignedCodec
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.signing import SignedBatch


class Step(NamedTuple):
    """A batch that was decided and is not remembered yet."""

    matched: Matched
    extras: list[Extra]  # one for each record of the batch
    ledger: Ledger
    next_offset: int  # behind the last record that was read, decided on or not
    left_out: int  # records that had been seen before or are to be passed over


class Follower:
    """Decides batches of the log, and remembers them when it is told to."""

    def __init__(
        self,
        index: Index,
        settings: Settings,
        topic_id: str,
        on_step: Callable[[str], None],
        before: "Follower | None" = None,
    ) -> None:
        """Go on where the index stands, in place of another follower if there was one."""
        self.index, self.settings = index, settings
        self._on_step = on_step
        self._skipped = frozenset(settings.matching.skip_positions)
        self._by_arrival = settings.index.window_by == "arrival"
        self.matcher: Matcher = Matcher(index, settings, before.matcher.gate if before else None)
        self._codec = SignedCodec.planned(settings.similarity)
        ledger = Ledger.of(index.meta()).bound_to(topic_id, settings.kafka.topics.signatures)
        # Where the process ended within a change of generations it is made again, further on.
        is_cut_short = self.matcher.log_time.rotation_due
        self.ledger = ledger.before_rotation() if is_cut_short else ledger

    @property
    def next_offset(self) -> int:
        return self.matcher.next_offset

    def decide(self, records: Sequence[Incoming]) -> Step:
        """Decide what is new of these records, and change nothing."""
        kept = [record for record in records if record.offset not in self._skipped]
        batch, extras = self._decoded(kept)
        sources = [
            (extra.source_topic_id, reference.partition, reference.offset)
            for reference, extra in zip(batch.references, extras, strict=True)
        ]
        places, ledger = self.ledger.taking(sources)
        if len(places) < len(kept):
            kept = [kept[place] for place in places]
            batch, extras = self._decoded(kept)
        matched = self._matched(batch, kept)
        return Step(matched, extras, ledger, records[-1].offset + 1, len(records) - len(places))

    def _matched(self, batch: SignedBatch, records: Sequence[Incoming]) -> Matched:
        matched = self._tried(batch)
        if isinstance(matched, Matched):
            return matched
        raise Refused(
            f"deciding failed at position {self._undecidable(records)} of the log: "
            f"{type(matched).__name__}: {matched}. Please report it; named in "
            "matching.skip_positions it is passed over"
        ) from matched

    def _undecidable(self, records: Sequence[Incoming]) -> int:
        """Find the record that it fails at: a shorter batch fails too as long as it is within."""
        enough, too_few = len(records), 0
        while enough - too_few > 1:
            middle = (enough + too_few) // 2
            batch, _ = self._decoded(records[:middle])
            if isinstance(self._tried(batch), Matched):
                too_few = middle
            else:
                enough = middle
        return records[enough - 1].offset

    def _tried(self, batch: SignedBatch) -> Matched | Exception:
        """Decide, or return what no message of ours explains."""
        try:
            return self.matcher.match(batch)
        except StreamDedupError:
            raise
        except Exception as error:
            return error

    def remember(self, step: Step) -> None:
        """Write what was decided, and how far the log was read, together."""
        matched = step.matched._replace(next_offset=step.next_offset)
        ledger = step.ledger
        if matched.log_time.rotation_due:
            ledger = ledger.rotated(step.next_offset)
        self._on_step("before index")
        self.matcher.remember(matched, ledger.entry())
        self._on_step("after index")
        self.ledger = ledger

    def purgeable(self) -> int:
        """Return the offset below which no record can matter any more."""
        return self.ledger.generations[0] if len(self.ledger.generations) > 1 else 0

    def _decoded(self, records: Sequence[Incoming]) -> tuple[SignedBatch, list[Extra]]:
        arrivals = [record.timestamp for record in records]
        batch, extras = self._codec.decode(
            [record.value or b"" for record in records],
            [record.offset for record in records],
            arrivals,
        )
        if not self._by_arrival:
            own = [
                UNDATED if extra.own_time == UNDATED else min(extra.own_time, arrival)
                for extra, arrival in zip(extras, arrivals, strict=True)
            ]
            batch = batch._replace(times=own)
        return batch, extras
