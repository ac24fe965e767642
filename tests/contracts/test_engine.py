"""The engine on every index: what it says of any stream, whatever happens between two batches."""

import shutil
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import settings as search
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from stream_dedup.config import MatchingSettings, Settings
from stream_dedup.engine import Matched, Matcher, Record, Signer
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.quantities import Duration
from stream_dedup.upkeep.verification import problems
from tests import streams
from tests.oracles.engine import Event, Oracle

ids = st.sampled_from(streams.IDS)
names = st.sampled_from(streams.NAMES)
sources = st.sampled_from(streams.SOURCES)
texts = st.integers(0, 999)  # modulo those of the stream
steps = st.sampled_from(streams.STEPS)
PROGRESS = "input/next"


class InMemory:
    """An index that is closed by letting go of its reader."""

    def __init__(self, settings: Settings) -> None:
        self.index: Index = MemoryIndex()

    def reopen(self) -> None:
        """Change nothing: what is in memory is never closed."""

    def close(self) -> None:
        """Let go."""
        self.index.close()


class OnDisk:
    """An index in a directory of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.index
        self._directory = Path(tempfile.mkdtemp())
        self.index: Index = self._open()

    def _open(self) -> Index:
        return RocksIndex.open(self._directory, self._settings)

    def reopen(self) -> None:
        """Close and open again."""
        self.index.close()
        self.index = self._open()

    def close(self) -> None:
        """Close and remove."""
        self.index.close()
        shutil.rmtree(self._directory)


class Engine(RuleBasedStateMachine):
    """A matcher beside the oracle; events wait until a rule cuts the batch."""

    place_type: ClassVar[type[InMemory | OnDisk]]
    told: Bundle[Event] = Bundle("told")

    @initialize(
        settings=streams.engine_settings(),
        seed=st.integers(0, 20),
        choices=streams.text_choices(),
        undated=streams.UNDATED_FIRST,
    )
    def start(self, settings: Settings, seed: int, choices: list[int], undated: int) -> None:
        """Open an empty index under some settings."""
        self.settings, self.texts, self.choices = settings, streams.pool(seed), choices
        table = streams.table(seed, settings.similarity)
        self.oracle = Oracle(table, streams.rules(settings))
        self.clock = streams.Clock(settings.index.window, undated)
        self.waiting: list[tuple[Event, Record]] = []
        self.number = 0
        self.remembered = 0
        self.place = self.place_type(settings)
        self.signer = Signer(settings)
        self.matcher = Matcher(self.place.index, settings)

    def _append(self, event: Event) -> Event:
        self.waiting.append((event, streams.record(event, self.texts, self.number)))
        self.number += 1
        return event

    def _text(self, text: int | None) -> int | None:
        return None if text is None else self.choices[text % len(self.choices)]

    # The stream

    @rule(target=told, id=ids, name=names, source=sources, text=texts, step=steps)
    def insert(self, id: str, name: str, source: str, text: int, step: float | None) -> Event:
        """Bring any document."""
        return self._append(Event(id, name, source, self.clock.time(step), self._text(text)))

    @rule(documents=st.lists(st.tuples(ids, sources, texts), min_size=5, max_size=20))
    def crowd(self, documents: list[tuple[str, str, int]]) -> None:
        """Bring many documents in a short time, so that buckets and clusters fill."""
        for id, source, text in documents:
            self._append(Event(id, "", source, self.clock.time(0.01), self._text(text)))

    @rule(target=told, event=told, id=ids, source=sources, step=steps)
    def copy(self, event: Event, id: str, source: str, step: float | None) -> Event:
        """Bring a text again under any id."""
        time = self.clock.time(step)
        return self._append(event._replace(id=id, source=source, time=time))

    @rule(target=told, event=told, source=sources, step=steps)
    def repeat(self, event: Event, source: str, step: float | None) -> Event:
        """Bring a document again."""
        return self._append(event._replace(source=source, time=self.clock.time(step)))

    @rule(target=told, event=told, text=texts, step=steps)
    def replace(self, event: Event, text: int, step: float | None) -> Event:
        """Bring another text under an id that was there."""
        return self._append(event._replace(text=self._text(text), time=self.clock.time(step)))

    @rule(event=told, step=steps)
    def delete(self, event: Event, step: float | None) -> None:
        """Delete an id that was there."""
        self._append(event._replace(text=None, time=self.clock.time(step)))

    @rule(event=told)
    def expire(self, event: Event) -> None:
        """Let a window pass to the millisecond, or one more."""
        self._append(event._replace(id="late", text=None, time=self.clock.time(1.0)))
        self._append(event._replace(id="late", text=None, time=self.clock.time(0.001)))

    # The batches

    @rule()
    def cut(self) -> None:
        """Match what waits as one batch, and remember it."""
        self._remember(self._match())

    @rule()
    def crash(self) -> None:
        """Lose a batch that was matched and not remembered, and replay it."""
        lost = self._match()
        self.place.reopen()
        self._attach(self.settings)
        replayed = self._match()

        assert streams.encoded(replayed.verdicts) == streams.encoded(lost.verdicts)
        self._remember(replayed)

    @rule()
    def reopen(self) -> None:
        """Stop in an orderly way, and start again."""
        self.cut()
        self.place.reopen()
        self._attach(self.settings)

    @rule(
        threshold=st.sampled_from([0.5, 0.7, 0.9]),
        window=st.sampled_from(streams.WINDOWS),
        matching=st.builds(
            MatchingSettings,
            scope=st.sampled_from(["any", "same_source", "other_source"]),
            matches_max=st.integers(1, 3),
        ),
    )
    def decide_otherwise(self, threshold: float, window: float, matching: MatchingSettings) -> None:
        """Start again under other settings of those that may change."""
        self.cut()
        similarity = replace(self.settings.similarity, threshold=threshold)
        index = replace(self.settings.index, window=Duration(window))
        self.place.reopen()
        self._attach(replace(self.settings, similarity=similarity, index=index, matching=matching))
        self.oracle.rules = streams.rules(self.settings)

    @rule(id=ids, name=names, source=sources, text=st.none() | texts, step=steps)
    def look_up(
        self, id: str, name: str, source: str, text: int | None, step: float | None
    ) -> None:
        """Ask without remembering; nothing changes."""
        self.cut()
        clock = deepcopy(self.clock)
        event = Event(id, name, source, clock.time(step), self._text(text))
        before = _rows(self.place.index)
        batch = self.signer.sign([streams.record(event, self.texts, self.number)])
        verdict = self.matcher.match(batch).verdicts[0]
        oracle = _branch(self.oracle)

        streams.assert_said(verdict, event, oracle.tell(event))
        assert _rows(self.place.index) == before

    @invariant()
    def progress_is_that_of_the_last_batch(self) -> None:
        """What the caller remembers lies beside the rows it belongs to, never ahead."""
        meta = self.place.index.meta()

        assert int(meta.get(PROGRESS, b"0")) == self.remembered

    def teardown(self) -> None:
        """Match what is left."""
        if hasattr(self, "place"):
            try:
                self.cut()
                assert list(problems(self.place.index)) == []
            finally:
                self.place.close()

    def _attach(self, settings: Settings) -> None:
        self.settings = settings
        self.signer = Signer(settings)
        self.matcher = Matcher(self.place.index, settings)

    def _match(self) -> Matched:
        return self.matcher.match(self.signer.sign([record for _, record in self.waiting]))

    def _remember(self, matched: Matched) -> None:
        """Check the verdicts of what waits, then remember them."""
        self.remembered = self.number
        self.matcher.remember(matched, {PROGRESS: b"%d" % self.number})
        events = [event for event, _ in self.waiting]
        self.waiting = []

        assert len(matched.verdicts) == len(events)
        for verdict, event in zip(matched.verdicts, events, strict=True):
            streams.assert_said(verdict, event, self.oracle.tell(event))


class EngineInMemory(Engine):
    """The engine on dictionaries."""

    place_type = InMemory


class EngineOnDisk(Engine):
    """The engine on RocksDB."""

    place_type = OnDisk


def _branch(oracle: Oracle) -> Oracle:
    """Return an oracle that goes on alone; the texts never change."""
    return deepcopy(oracle, {id(oracle.texts): oracle.texts})


def _rows(index: Index) -> dict[str, object]:
    """Return all that an index holds."""
    rows: dict[str, object] = {keyspace: list(index.scan(keyspace)) for keyspace in Keyspace}
    return rows | {"meta": index.meta()}


@pytest.mark.parametrize(
    ("engine", "examples"), [(EngineInMemory, 40), (EngineOnDisk, 5)], ids=["memory", "rocksdb"]
)
def test_any_stream_is_answered_as_the_oracle_answers(engine: type[Engine], examples: int) -> None:
    """Whatever comes, wherever batches are cut and processes end, the oracle would say the same."""
    run_state_machine_as_test(
        engine, settings=search(max_examples=examples, stateful_step_count=30)
    )


@pytest.mark.soak
@pytest.mark.parametrize(
    ("engine", "examples"), [(EngineInMemory, 3000), (EngineOnDisk, 100)], ids=["memory", "rocksdb"]
)
def test_many_streams_are_answered_as_the_oracle_answers(
    engine: type[Engine], examples: int
) -> None:
    """The same holds for many streams, and longer ones."""
    run_state_machine_as_test(
        engine, settings=search(max_examples=examples, stateful_step_count=100)
    )
