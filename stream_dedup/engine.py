"""The engine: `Signer.sign(batch)`, then `Matcher.match(batch)`, then `Matcher.remember`.

Everything that a matcher decides follows from the records and their order. It changes nothing
until it is told to remember, which is one write; until then a batch may as well not have been.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from stream_dedup.config import Settings
from stream_dedup.events import Verdict
from stream_dedup.gate import Gate
from stream_dedup.index.columns import exact_keys, id_keys
from stream_dedup.index.identity import (
    deciding_as,
    decisions,
    identity,
    refuse_another,
    stored_decisions,
)
from stream_dedup.interfaces import Index
from stream_dedup.matching.buckets import Numbers
from stream_dedup.matching.groups import stretch_of
from stream_dedup.matching.logtime import UNDATED, LogTime
from stream_dedup.matching.overlay import Overlay
from stream_dedup.matching.piece import Agenda, Piece, Rules, Survey
from stream_dedup.matching.verdicts import Decision, verdict
from stream_dedup.matching.walk import Walk
from stream_dedup.recall import RecallMeter
from stream_dedup.signing import Record, SignedBatch, Signer
from stream_dedup.similarity.scheme import settings_fingerprint
from stream_dedup.similarity.sketch import Sketcher

__all__ = ["UNDATED", "Matched", "Matcher", "Record", "SignedBatch", "Signer"]

# Entries of meta: the state of a matcher.
LOG_TIME = "log_time"
NEXT_OFFSET = "next_offset"
TALLY = "tally"
TEXTS_KEPT_FROM = "texts_kept_from"

_PIECE_SIZE_MIN = 16

State = TypeVar("State")


class Tally(msgspec.Struct, frozen=True):
    """What was decided since the index was made."""

    types: dict[str, int] = {}
    # Documents that looked into buckets of which a part was hidden, by the number of these buckets.
    capped: dict[int, int] = {}
    # Entries of full buckets that had to go for newer ones.
    evicted: int = 0

    def plus(self, decisions: list[Decision], types: Counter[str]) -> "Tally":
        """Return the tally after these decisions, of which so many are of each type."""
        types, capped = Counter(self.types) + types, Counter(self.capped)
        capped.update(decision.capped for decision in decisions if decision.capped)
        evicted = self.evicted + sum(decision.evicted for decision in decisions)
        return Tally(dict(types), dict(capped), evicted)


class Matched(NamedTuple):
    """What was decided of a batch, and what is to be remembered of it."""

    verdicts: list[Verdict]  # those to publish, in the order of the log
    types: Counter[str]
    log_time: LogTime
    tally: Tally
    next_offset: int
    batch: SignedBatch
    overlay: Overlay
    met: dict[int, Numbers]  # what `RecallMeter.add` takes
    decisions: list[Decision]  # one for each event
    pieces: list[tuple[Piece, int]]  # in which they were made, each with the index behind its last

    def surveys(self) -> Iterator[Survey]:
        """Tell what was met on the way, piece by piece."""
        return (piece.survey(end) for piece, end in self.pieces)


class Matcher:
    """Decides batches of the log in their order, and remembers them; one thread does both.

    Beside it any thread may match what will never be remembered: it sees whole batches.
    """

    def __init__(self, index: Index, settings: Settings, gate: Gate | None = None) -> None:
        """Go on where the index stands; refuse one that other settings made.

        Who takes the place of another matcher takes its gate: readers may still be inside.
        """
        meta = index.meta()
        refuse_another(meta, settings)
        self._index = index
        self._identity = identity(settings)
        self._settings = settings
        self._fingerprint = settings_fingerprint(settings)
        self._rules = Rules(
            Sketcher.planned(settings.similarity),
            settings.similarity.threshold,
            settings.index.bucket_size_max,
            settings.matching.scope != "any",
        )
        self.recall = RecallMeter(index, settings, self._rules.sketcher)
        self.gate = gate or Gate()
        self.log_time = _state(meta, LOG_TIME, LogTime())
        self.tally = _state(meta, TALLY, Tally())
        self.next_offset: int = _state(meta, NEXT_OFFSET, 0)
        self.texts_kept_from: int | None = None
        if settings.similarity.verify == "exact":
            kept_from = texts_kept_from(meta)
            self.texts_kept_from = self.next_offset if kept_from is None else kept_from

    @staticmethod
    def decisions(settings: Settings) -> dict[str, Any]:
        """Return what of the settings decides, as `settings_before` takes it."""
        return decisions(settings)

    @staticmethod
    def settings_before(
        index: Index, settings: Settings, decided: Mapping[str, Any] | None = None
    ) -> Settings:
        """Return the settings that decided before: what is replayed needs them.

        They are those under which an index was written last, where nothing else is known.
        """
        return deciding_as(stored_decisions(index.meta()) if decided is None else decided, settings)

    def match(self, batch: SignedBatch) -> Matched:
        """Decide a batch that follows what was remembered last, and change nothing."""
        with self.gate.shared():
            return self._match(batch, self._rules)

    def find(self, batch: SignedBatch, threshold: float) -> list[Decision]:
        """Decide what will never be remembered, by a threshold of its own."""
        with self.gate.shared():
            return self._match(batch, self._rules._replace(threshold=threshold)).decisions

    def _match(self, batch: SignedBatch, rules: Rules) -> Matched:
        overlay = Overlay(self._index, batch.sketches.signatures[:1].nbytes)
        agenda, log_time = self._agenda(batch)
        decisions: list[Decision] = []
        met: dict[int, Numbers] = {}
        pieces: list[tuple[Piece, int]] = []
        size = batch.size
        while len(decisions) < batch.size:
            start = len(decisions)
            events = range(start, min(start + size, batch.size))
            piece = Piece(agenda, events, overlay, rules)
            scope, emit = self._settings.matching.scope, self._settings.events.emit
            walk = Walk(piece, overlay, scope, emit)
            decided = walk.decide()
            assert decided, "a piece ends behind its first event at the earliest"
            decisions += decided
            # Where one piece ended early the next one may: little should have been read in vain.
            size = max(_PIECE_SIZE_MIN, 2 * (len(decisions) - start))
            met |= walk.met
            pieces.append((piece, len(decisions)))
        types: Counter[str] = Counter(decision.type for decision in decisions)
        next_offset = batch.positions[-1] + 1 if batch.size else self.next_offset
        return Matched(
            self._verdicts(batch, decisions),
            types,
            log_time,
            self.tally.plus(decisions, types),
            next_offset,
            batch,
            overlay,
            met,
            decisions,
            pieces,
        )

    def remember(self, matched: Matched, progress: Mapping[str, bytes] | None = None) -> None:
        """Write all that was matched, and the caller's own progress with it."""
        state = {
            LOG_TIME: matched.log_time,
            TALLY: matched.tally,
            NEXT_OFFSET: matched.next_offset,
            TEXTS_KEPT_FROM: self.texts_kept_from,
        }
        entries = {name: msgspec.msgpack.encode(value) for name, value in state.items()}
        changes = matched.overlay.changes({**self._identity, **entries, **(progress or {})})
        with self.gate.alone():
            self._index.write(changes)
            self.log_time, self.tally = matched.log_time, matched.tally
            self.next_offset = matched.next_offset
            if self.log_time.rotation_due:
                self.log_time = self.log_time.rotated()
                self._index.rotate({LOG_TIME: msgspec.msgpack.encode(self.log_time)})
        self.recall.add(matched.batch, matched.met, matched.overlay, matched.log_time.horizon)

    def _agenda(self, batch: SignedBatch) -> tuple[Agenda, LogTime]:
        window = self._settings.index.window
        milliseconds = None if window == float("inf") else round(window * 1000)
        log_time, now, horizons = self.log_time.advance(batch.times, milliseconds)
        agenda = Agenda(
            batch,
            id_keys(batch.namespaces, batch.ids),
            exact_keys(batch.sketches.fingerprints, batch.namespaces),
            now.tolist(),
            horizons.tolist(),
            stretch_of(milliseconds),
            ((batch.sketches.sizes > 0) & ~np.array(batch.deleted, np.bool_)).tolist(),
            (batch.sketches.short.lengths > 0).tolist(),
            log_time.generation_start,
            self.recall.sampled(batch.positions),
        )
        return agenda, log_time

    def _verdicts(self, batch: SignedBatch, decisions: list[Decision]) -> list[Verdict]:
        emit = self._settings.events.emit
        if emit == "none":
            return []
        matches_max = self._settings.matching.matches_max
        return [
            verdict(batch, index, decision, matches_max, self._fingerprint)
            for index, decision in enumerate(decisions)
            if emit == "all" or decision.found
        ]


def texts_kept_from(meta: Mapping[str, bytes]) -> int | None:
    """Return the position from which texts are kept, if they are and it is known."""
    stored = meta.get(TEXTS_KEPT_FROM)
    return None if stored is None else msgspec.msgpack.decode(stored, type=int | None)


def _state(meta: Mapping[str, bytes], name: str, initial: State) -> State:
    stored = meta.get(name)
    kind: Any = type(initial)
    return initial if stored is None else msgspec.msgpack.decode(stored, type=kind)
