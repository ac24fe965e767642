"""The library: documents in, verdicts out, without files, topics or commands."""

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from threading import Lock
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from stream_dedup.checkpoint import Checkpoint
from stream_dedup.config import Settings
from stream_dedup.engine import Matcher, Record, SignedBatch, Signer
from stream_dedup.errors import DocumentRejected, SettingsError
from stream_dedup.events import Deletion, Document, Match, RecordReference, Verdict
from stream_dedup.index.layout import POSITION_MAX
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Index
from stream_dedup.interpreter import give_way
from stream_dedup.matching.verdicts import matches
from stream_dedup.quantities import Duration, Size
from stream_dedup.recall import Recall
from stream_dedup.signing import own_time

# What verdicts name as their topic; the offsets are the positions.
_TOPIC = "library"
# So many documents make the cost of a call and of a write small, and others wait for them briefly.
_BATCH = 500

Section = TypeVar("Section", bound=msgspec.Struct)
Event = TypeVar("Event", Document, Deletion)


class Deduplicator:
    """Says of each document which earlier ones it copies, and remembers it.

    Any thread may call anything. Those that add wait for each other; those that find wait at most
    for one write. Only one process at a time can open a directory.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        threshold: float | None = None,
        measure: Literal["jaccard", "cosine"] | None = None,
        unit: Literal["char", "word"] | None = None,
        size: int | None = None,
        verify: Literal["signature", "exact"] | None = None,
        window: str | None = None,
        scope: Literal["any", "same_source", "other_source"] | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Open the index in a directory, or make one; without a directory it lies in memory.

        Arguments come before `settings`, and these before the defaults. An index that was made
        with settings whose signatures cannot be compared with these is refused.
        """
        settings = Settings() if settings is None else settings
        if not isinstance(settings, Settings):
            given = type(settings).__name__
            raise SettingsError(f"settings: expected stream_dedup.config.Settings, got {given}")
        similarity = dict(threshold=threshold, measure=measure, unit=unit, size=size, verify=verify)
        self._settings = replace(
            settings,
            similarity=_changed("similarity", settings.similarity, similarity),
            index=_changed("index", settings.index, {"window": window}),
            matching=_changed("matching", settings.matching, {"scope": scope}),
            events=replace(settings.events, emit="all"),
        )
        self._changing = Lock()
        self._signer = Signer(self._settings)
        with ExitStack() as undo:
            self._index = self._open(directory)
            undo.callback(self._index.close)
            way_out = "Give the program an index of its own"
            Checkpoint(self._index.meta()).refuse_log(directory, "a program", way_out)
            self._matcher = Matcher(self._index, self._settings)
            undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index; what was added is on the disk then. A second call does nothing."""
        with self._changing:
            self._index.close()

    def add(
        self,
        *,
        id: str,
        text: str,
        source: str = "",
        namespace: str = "",
        published_at: datetime | None = None,
    ) -> Verdict:
        """Compare a document with all before it, and remember it in place of one of the same id."""
        fields = {"id": id, "text": text, "source": source, "namespace": namespace}
        document = _checked({**fields, "published_at": published_at}, Document)
        return self._decide(self._sign([document]))[0]

    def add_many(self, documents: Iterable[Document | Mapping[str, Any]]) -> list[Verdict]:
        """Add documents one after the other, in a fraction of the time.

        A mapping has the fields of `Document`; others are not looked at. One that is no document
        raises before any is added. They are remembered in portions, each of which survives the end
        of the process as a whole or not at all.
        """
        checked = [_document(given) for given in documents]
        return [verdict for signed in self._signed(checked) for verdict in self._decide(signed)]

    def find(
        self,
        text: str,
        *,
        source: str = "",
        namespace: str = "",
        published_at: datetime | None = None,
    ) -> tuple[Match, ...]:
        """Return what a new document of this text would match, best first, and remember nothing."""
        fields = {"id": "?", "text": text, "source": source, "namespace": namespace}
        document = _checked({**fields, "published_at": published_at}, Document)
        # No document has the empty id, so this one replaces none.
        signed = self._sign([document])._replace(ids=[""])
        decision = self._matcher.find(signed, self._settings.similarity.threshold)[0]
        return matches(decision, self._settings.matching.matches_max)

    def remove(self, id: str, *, namespace: str = "") -> None:
        """Forget a document, if it is known: nothing matches it any more."""
        self._decide(self._sign([_checked({"id": id, "namespace": namespace}, Deletion)]))

    @property
    def recall(self) -> Recall:
        """How much of what it should the index has found of late, by a sample."""
        return self._matcher.recall.recall()

    def _open(self, directory: str | os.PathLike[str] | None) -> Index:
        if directory is None:
            return MemoryIndex()
        return RocksIndex.open(os.fspath(directory), self._settings.index)

    def _sign(self, events: list[Document] | list[Deletion]) -> SignedBatch:
        """Sign what has no place in the log yet."""
        reference = RecordReference(topic=_TOPIC, partition=0, offset=0)
        return self._signer.sign(
            [Record(event, POSITION_MAX, own_time(event), reference) for event in events]
        )

    def _signed(self, documents: list[Document]) -> Iterator[SignedBatch]:
        """Sign batch after batch, each while the one before it is decided."""
        with ThreadPoolExecutor(1, "sign", give_way) as pool:
            ahead: Future[SignedBatch] | None = None
            for start in range(0, len(documents), _BATCH):
                signing = pool.submit(self._sign, documents[start : start + _BATCH])
                if ahead is not None:
                    yield ahead.result()
                ahead = signing
            if ahead is not None:
                yield ahead.result()

    def _decide(self, signed: SignedBatch) -> list[Verdict]:
        with self._changing:
            start = self._matcher.next_offset
            positions = list(range(start, start + signed.size))
            references = [
                RecordReference(topic=_TOPIC, partition=0, offset=position)
                for position in positions
            ]
            batch = signed._replace(positions=positions, references=references)
            matched = self._matcher.match(batch)
            self._matcher.remember(matched)
        return matched.verdicts


def _document(given: Document | Mapping[str, Any]) -> Document:
    return _checked(asdict(given) if isinstance(given, Document) else given, Document)


def _checked(fields: Mapping[str, Any], kind: type[Event]) -> Event:
    """Make an event of fields of the right types."""
    try:
        event = msgspec.convert(fields, kind)
        _refuse_surrogates(event)
        return event if event.published_at is None else _utc(event, event.published_at)
    except msgspec.ValidationError as error:
        raise DocumentRejected(_told(error)) from None


def _refuse_surrogates(event: Document | Deletion) -> None:
    """Refuse names that no file and no topic can hold."""
    source = event.source if isinstance(event, Document) else ""
    for name, value in (("id", event.id), ("namespace", event.namespace), ("source", source)):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise DocumentRejected(f"{name}: {error.reason} at character {error.start}") from None


def _utc(event: Event, moment: datetime) -> Event:
    try:
        return replace(event, published_at=moment.astimezone(UTC))
    except OverflowError:
        raise DocumentRejected("published_at: out of range") from None


def _changed(name: str, section: Section, given: Mapping[str, object]) -> Section:
    """Replace settings, those that are not None, by values of the right types."""
    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        return section
    try:
        return msgspec.convert(asdict(section) | changes, type(section), dec_hook=_quantity)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{name}.{_told(error)}") from None


def _quantity(kind: type, value: object) -> object:
    if issubclass(kind, Size | Duration):
        return value if isinstance(value, kind) else kind.parse(value)
    raise NotImplementedError


def _told(error: msgspec.ValidationError) -> str:
    """Put the name first."""
    problem, _, path = str(error).partition(" - at `$")
    return f"{path.strip('.`')}: {problem}".replace("`", "").removeprefix(": ")
