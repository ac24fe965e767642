"""Make an index anew under other settings, from the files that the old one was fed from."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from stream_dedup.checkpoint import Checkpoint, InputProgress, Stretch, input_entry, stretch_entry
from stream_dedup.config import Settings
from stream_dedup.engine import Matcher, Signer
from stream_dedup.errors import InputError, Refused
from stream_dedup.events import DocumentDecoder
from stream_dedup.filerun import Done, FileRun
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.inputs import Input, Portion
from stream_dedup.interfaces import Changes
from stream_dedup.numbering import Numbering
from stream_dedup.readahead import ReadAhead
from stream_dedup.rejections import RejectedShare
from stream_dedup.trail import Mark
from stream_dedup.upkeep.replacement import replace_index
from stream_dedup.upkeep.view import viewed

_FROM_LOG = (
    "To have it made anew, stop the service, move the directory away and start it: it reads its "
    "log again. Under other [similarity] settings the documents have to be read again: give the "
    "service another kafka.application, kafka.topics.signatures and index.directory"
)
_BY_HAND = "name the files to read, in their order, with --input FILE"


class Leg(NamedTuple):
    """Lines of one input, up to but not including `end`; None is up to the end of the input."""

    input: str  # its key
    name: str
    end: int | None


class Route(NamedTuple):
    """What is to be read, in this order, and what the new index takes over from the old one."""

    legs: list[Leg]
    inputs: dict[str, InputProgress]
    outputs: dict[str, bytes]


class Rebuilt(NamedTuple):
    """What was decided on the way, and where the old index lies now."""

    types: Counter[str]
    kept: Path | None


class Audience(Protocol):
    """Who is told how far it is."""

    def expect(self, size: int) -> None:
        """Hear how many bytes there are to be read."""
        ...

    def add(self, name: str, done: Done) -> None:
        """Hear what was done, and of which input."""
        ...


def rebuild(
    directory: Path, settings: Settings, names: Sequence[str], threads: int, audience: Audience
) -> Rebuilt:
    """Read the inputs again into a new index, and put it in the place of the old one.

    The inputs are those that the old index names unless `names` are given. Nothing is written but
    the index; until it is complete the old one stays as it is.
    """
    silent = replace(settings, events=replace(settings.events, emit="none"))
    types: Counter[str] = Counter()
    if not directory.is_dir() or not any(directory.iterdir()):
        raise InputError(f"there is no index in {directory}: nothing was written there yet")

    def make(made: Path) -> None:
        route = _route(directory, settings, names)
        audience.expect(sum(Input(key).size or 0 for key in {leg.input for leg in route.legs}))
        with closing(RocksIndex.open(made, silent.index)) as index:
            for name, done in _Tour(index, silent, threads, route).run():
                types.update(done.types)
                audience.add(name, done)
            index.sync()

    return Rebuilt(types, replace_index(directory, make))


def _route(directory: Path, settings: Settings, names: Sequence[str]) -> Route:
    try:
        with viewed(str(directory), settings.index) as view:
            checkpoint = Checkpoint(view.index.meta())
    except Refused as error:
        if not names:
            raise Refused(f"{error}. To make it anew, {_BY_HAND}") from None
        return Route(_named(names), {}, {})
    checkpoint.refuse_log(directory, "files", _FROM_LOG)
    if names:
        return Route(_named(names), {}, checkpoint.outputs())
    inputs = checkpoint.inputs()
    stretches = checkpoint.stretches()
    if not stretches:
        raise Refused(f"the index in {directory} was not made from files: {_BY_HAND}")
    for stretch in stretches:
        _refuse_changed(stretch, inputs.get(stretch.input, InputProgress()))
    return Route(_legs(stretches, inputs), inputs, checkpoint.outputs())


def _named(names: Sequence[str]) -> list[Leg]:
    legs = []
    for name in names:
        source = Input(name)
        if not source.resumable:
            raise InputError(f"cannot rebuild from {source.name}: name a file, not a pipe")
        legs.append(Leg(source.key, source.topic, None))
    return legs


def _refuse_changed(stretch: Stretch, progress: InputProgress) -> None:
    """Refuse an input that cannot be read again as it was."""
    if progress.read is None:
        if progress.lines:
            raise Refused(
                f"{stretch.name} was a pipe, which cannot be read again. Keep what came through it "
                f"in a file, and {_BY_HAND}"
            )
        return
    try:
        with closing(Input(stretch.input).open(progress.read, progress.lines, Event())):
            pass
    except (InputError, Refused) as error:
        reason = str(error).partition(". ")[0]
        raise Refused(f"{reason}. Put the file back as it was, or {_BY_HAND}") from None


def _legs(stretches: Sequence[Stretch], inputs: dict[str, InputProgress]) -> list[Leg]:
    """Return where each stretch ends: there where the next one of its input begins."""
    legs = []
    for place, stretch in enumerate(stretches):
        later = [other.line for other in stretches[place + 1 :] if other.input == stretch.input]
        read = inputs.get(stretch.input, InputProgress()).lines
        legs.append(Leg(stretch.input, stretch.name, later[0] if later else read))
    return legs


class _Feed:
    """An input that is read leg by leg."""

    def __init__(self, key: str, settings: Settings) -> None:
        self.source = Input(key)
        self._reader = self.source.open(None, 0, Event())
        self._portions = self._reader.portions(
            settings.kafka.batch_size_max, settings.events.document_bytes_max
        )
        self._rest: Portion | None = None

    def until(self, end: int | None) -> Iterator[Portion]:
        """Yield the lines before this one that were not read yet."""
        while portion := self._rest or next(self._portions, None):
            self._rest = None
            count = len(portion.lines) if end is None else max(0, end - portion.first_line)
            if count < len(portion.lines):
                self._rest = portion._replace(
                    first_line=portion.first_line + count, lines=portion.lines[count:]
                )
                portion = portion._replace(lines=portion.lines[:count], ended=True)
            if portion.lines:
                yield portion
            if self._rest is not None:
                return

    def close(self) -> None:
        self._reader.close()


class _Tour:
    """Reads all legs into an index."""

    def __init__(self, index: RocksIndex, settings: Settings, threads: int, route: Route) -> None:
        self._index, self._settings, self._threads, self._route = index, settings, threads, route
        self._signer, self._matcher = Signer(settings), Matcher(index, settings)
        self._share = RejectedShare(settings.events.rejected_ratio_max)
        self._feeds: dict[str, _Feed] = {}

    def run(self) -> Iterator[tuple[str, Done]]:
        """Yield the input's name and what was done."""
        try:
            for leg in self._route.legs:
                feed = self._feeds.get(leg.input) or _Feed(leg.input, self._settings)
                self._feeds[leg.input] = feed
                feed.source.topic = leg.name
                for done in self._leg(leg, feed):
                    yield leg.name, done
        finally:
            for feed in self._feeds.values():
                feed.close()
        self._take_over()

    def _leg(self, leg: Leg, feed: _Feed) -> Iterator[Done]:
        checkpoint = Checkpoint(self._index.meta())
        progress = checkpoint.input(leg.input)
        stretch = Stretch(input=leg.input, name=leg.name, line=progress.lines)
        self._index.write(Changes({}, {}, stretch_entry(checkpoint, stretch)))
        decoder = DocumentDecoder(self._settings.events)
        lines_max = self._settings.kafka.batch_size_max
        return FileRun(
            ReadAhead(feed.until(leg.end), lines_max, Event()),
            Numbering(feed.source, decoder, self._matcher.next_offset),
            self._signer,
            self._matcher,
            _Nowhere(),
            None,
            self._share,
            self._threads,
        ).run()

    def _take_over(self) -> None:
        """Let runs go on where they were: inputs behind what was read, outputs as they are."""
        entries = dict(self._route.outputs)
        for key, progress in self._route.inputs.items():
            entries |= input_entry(key, progress)
        self._index.write(Changes({}, {}, entries))


class _Nowhere:
    """An output for verdicts that were published before, or never will be."""

    written: tuple[str, Mark] | None = None

    def append(self, lines: bytes) -> None:
        """Write nothing."""

    def close(self) -> None:
        """Do nothing."""
