"""`stream-dedup demo`: a feed made up on the spot, streamed through the engine, and the score."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from stream_dedup.cli import options
from stream_dedup.cli.terminal import COMPILING, notice_if_slow
from stream_dedup.errors import UsageError

if TYPE_CHECKING:
    from stream_dedup.cli.demo_view import View
    from stream_dedup.config import Settings
    from stream_dedup.engine import Record
    from stream_dedup.events import Deletion, Document, Verdict
    from stream_dedup.feed.planting import Planted
    from stream_dedup.feed.score import Score

    Decide = Callable[[Sequence[Document | Deletion], int], list[Verdict]]

_SECONDS_WATCHED = 15.0
_PICTURES_A_SECOND = 12
_BATCH_UNWATCHED = 200
_TOPIC = "demo"


def demo(
    documents: Annotated[int, typer.Option(min=10, max=100_000, help="Length of the feed.")] = 3000,
    seed: Annotated[
        int, typer.Option(help="Another number makes up another feed, the same one each time.")
    ] = 1,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=86_400,
            help="Spread the feed over this time, to be watched; 0 is as fast as it goes.",
            show_default="15 on a terminal, else 0",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Keep the feed, to try the other commands on it."),
    ] = None,
    threshold: options.Threshold = None,
    override: options.Override = None,
) -> None:
    """Watch a made-up news feed go through the engine, and see what was found and missed.

    Agencies write, papers print it with edits, corrections, cuts and footers of their own. What
    was made from what is known, so the end tells recall and precision. Translations, forecasts and
    small print must not match. The index lies in a temporary directory; nothing is left behind.

    \b
    Examples: stream-dedup demo
              stream-dedup demo --seed 7 --documents 20000 --seconds 0
              stream-dedup demo --threshold 0.6
    """
    settings = options.settings_from(
        None, override, {"similarity.threshold": ("--threshold", threshold)}
    )
    from stream_dedup.feed.planting import news_feed

    watched = _is_watched()
    if seconds is None:
        seconds = _SECONDS_WATCHED if watched else 0
    with notice_if_slow("Writing the news …"):
        feed = list(news_feed(seed, documents))
    if save:
        _save(feed, save)
    _play(feed, settings, seconds, seed, save)


def _is_watched() -> bool:
    """Tell whether standard output is a terminal on which a picture can be drawn over."""
    from rich.console import Console

    stdout = sys.stdout is not None and sys.stdout.isatty()
    return stdout and not Console().is_dumb_terminal


def _save(feed: Sequence["Planted"], path: Path) -> None:
    """Write the feed as `run --input` reads it."""
    import msgspec

    from stream_dedup.events import Deletion

    lines = []
    for planted in feed:
        fields = msgspec.to_builtins(planted.event)
        if isinstance(planted.event, Deletion):
            fields["deleted"] = True
        lines.append(msgspec.json.encode(fields) + b"\n")
    saved = b"".join(lines)
    try:
        size = path.stat().st_size if path.is_file() else 0
        if size and (size != len(saved) or path.read_bytes() != saved):
            raise UsageError(f"{path} is another file already: remove it, or name another one")
        path.write_bytes(saved)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _play(
    feed: Sequence["Planted"], settings: "Settings", seconds: float, seed: int, saved: Path | None
) -> None:
    from stream_dedup.cli.demo_report import Run, show
    from stream_dedup.cli.demo_view import Lines, Picture
    from stream_dedup.feed.score import Score

    score = Score(settings.similarity.threshold)
    size = _BATCH_UNWATCHED
    if seconds:
        size = min(size, max(1, round(len(feed) / (seconds * _PICTURES_A_SECOND))))
    with _engine(settings) as decide:
        view = (Picture if _is_watched() else Lines)(len(feed), seed, score)
        with view:
            busy = _stream(feed, size, seconds, decide, score, view)
    run = Run(len(feed), busy, seconds, seed, saved)
    show(score, settings.similarity, run, view.example)


def _stream(
    feed: Sequence["Planted"],
    size: int,
    seconds: float,
    decide: "Decide",
    score: "Score",
    view: "View",
) -> float:
    """Feed batches at their time; return how long the engine was at work."""
    standing: dict[str, Document] = {}
    busy, started = 0.0, time.perf_counter()
    for first in range(0, len(feed), size):
        batch = feed[first : first + size]
        begun = time.perf_counter()
        verdicts = decide([planted.event for planted in batch], first)
        busy += time.perf_counter() - begun
        for planted, verdict in zip(batch, verdicts, strict=True):
            score.add(planted, verdict, standing)
            view.add(planted, verdict, standing)
            _stand(planted.event, standing)
        view.show(busy)
        due = started + seconds * (first + len(batch)) / len(feed)
        time.sleep(max(0.0, due - time.perf_counter()))
    return busy


def _stand(event: "Document | Deletion", standing: dict[str, "Document"]) -> None:
    """Take note of what the id stands for from now on."""
    from stream_dedup.events import Document

    if isinstance(event, Document):
        standing[event.id] = event
    else:
        standing.pop(event.id, None)


@contextmanager
def _engine(settings: "Settings") -> Iterator["Decide"]:
    """Yield the way from events, of which the first has a position, to their verdicts."""
    from msgspec.structs import replace

    with notice_if_slow(COMPILING):
        from stream_dedup.engine import Matcher, Signer
        from stream_dedup.index.rocksdb import RocksIndex

    settings = replace(settings, events=replace(settings.events, emit="all"))
    with (
        TemporaryDirectory(prefix="stream-dedup-demo-") as directory,
        closing(RocksIndex.open(Path(directory) / "index", settings.index)) as index,
    ):
        signer, matcher = Signer(settings), Matcher(index, settings)
        with notice_if_slow(COMPILING):
            matcher.match(signer.sign(_records(_some_events(), 0)))

        def decide(events: Sequence["Document | Deletion"], first: int) -> list["Verdict"]:
            matched = matcher.match(signer.sign(_records(events, first)))
            matcher.remember(matched)
            return matched.verdicts

        yield decide


def _some_events() -> list["Document | Deletion"]:
    """Make up events to compile the kernels with; nothing remembers them."""
    from stream_dedup.feed.planting import news_feed

    return [planted.event for planted in news_feed(seed=0, documents=50)]


def _records(events: Sequence["Document | Deletion"], first: int) -> list["Record"]:
    """Give each event a place in a log of its own."""
    from stream_dedup.engine import Record
    from stream_dedup.events import RecordReference
    from stream_dedup.signing import own_time

    records = []
    for position, event in enumerate(events, first):
        reference = RecordReference(topic=_TOPIC, partition=0, offset=position)
        records.append(Record(event, position, own_time(event), reference))
    return records
