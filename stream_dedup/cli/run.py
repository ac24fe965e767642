"""`stream-dedup run`: tell of each document, as it comes, what it is a copy of."""

import sys
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from stream_dedup.cli import options
from stream_dedup.cli.service import Role, serve
from stream_dedup.cli.stopping import stopping
from stream_dedup.cli.terminal import COMPILING, notice_if_slow
from stream_dedup.cli.threads import usable_cores
from stream_dedup.config import Settings
from stream_dedup.errors import UsageError

if TYPE_CHECKING:
    from stream_dedup.filerun import FileRun
    from stream_dedup.inputs import Input

_STREAM = "-"
_defaults = Settings()


def run(
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="Documents, one JSON object a line; .gz and .zst too. - is standard input.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where verdicts go. - is standard output.",
            show_default=_STREAM,
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="What is remembered lies here.",
            show_default=str(_defaults.index.directory),
        ),
    ] = None,
    rejected: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep lines that are no documents here, with reasons."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for lines that others append to the file.")
    ] = False,
    emit: Annotated[
        Literal["matches", "all", "none"] | None,
        typer.Option(
            help="Tell of documents that match, of all, or fill the index only.",
            show_default=str(_defaults.events.emit),
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long documents are remembered, by their published_at in files, by their "
            "arrival on Kafka; none: for ever.",
            show_default="72h",
        ),
    ] = None,
    role: Annotated[
        Role,
        typer.Option(help="Without --input: what this process does of the service on Kafka."),
    ] = "all",
    threshold: options.Threshold = None,
    unit: options.Unit = None,
    size: options.Size = None,
    measure: options.Measure = None,
    text_field: options.TextField = None,
    id_field: options.IdField = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Compare each document with all that came before it, and remember it.

    Prints one JSON object a line for each document that resembles an earlier
    one: its matches, how similar they are, and the group of copies it joins.
    A line {"id": "a1", "deleted": true} makes it forget a document.

    \b
    Examples: stream-dedup run --input feed.jsonl --output matches.jsonl
              stream-dedup run --input feed.jsonl --follow | ./alert
              zcat old/*.gz | stream-dedup run --input - --emit none
              stream-dedup run --config news.toml --role match

    Stopped, killed or without power, a run goes on where it was when the same
    command is given again: the file is read on, and the output lacks no line
    and has none twice. The file may have grown. Another input on the same
    index is compared with what is remembered of the first.

    Without --input documents come from the topics of \\[kafka] and verdicts go
    there, each exactly once: see the settings and stream-dedup topics plan.

    A pipe cannot be read again: each start takes what comes as new input. What
    was written to a pipe cannot be taken back: after a kill, the last lines
    may come a second time.
    """
    given = options.similarity(threshold, unit, size, measure) | options.events(
        text_field, id_field
    )
    given["index.directory"] = ("--index", index)
    given["index.window"] = ("--window", window)
    given["events.emit"] = ("--emit", emit)
    settings = options.settings_from(config, override, given)
    if source is None:
        if output or rejected or follow:
            raise UsageError(
                "name the input: stream-dedup run --input FILE, or - for standard input; without "
                "it documents come from Kafka, and --output, --rejected and --follow mean nothing"
            )
        serve(settings, role)
        return
    output = _STREAM if output is None else output
    if source == _STREAM and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("name a file, or pipe documents in: stream-dedup run --input FILE")
    _check_outputs(source, output, rejected, settings.index.directory)
    _run(source, output, rejected, follow, settings)


def _check_outputs(source: str, output: str, rejected: str | None, directory: str) -> None:
    """Refuse to write where nobody reads, or over what is to be read or remembered."""
    if output == _STREAM and sys.stdout is None:
        raise UsageError("standard output is closed: name a file with --output FILE")
    written = [_real_path(name) for name in (output, rejected) if name is not None]
    if len(set(written)) < len(written):
        raise UsageError("--output and --rejected need a file each")
    for path in filter(None, written):
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a directory")
        if path == _real_path(source):
            raise UsageError(f"cannot write {path}: it is the input")
        if path.is_relative_to(Path(directory).resolve()):
            raise UsageError(f"cannot write {path}: it lies in the directory of the index")


def _real_path(name: str) -> Path | None:
    return None if name == _STREAM else Path(name).resolve()


def _run(
    source: str, output: str, rejected: str | None, follow: bool, settings: "Settings"
) -> None:
    from stream_dedup.cli.run_report import RunReport
    from stream_dedup.inputs import Input

    feed = Input(source, follow)
    stopped = Event()
    with ExitStack() as stack:
        file_run = _wired(stack, feed, output, rejected, settings, stopped)
        visible = output != _STREAM or not sys.stdout.isatty()
        size = None if follow else feed.size
        report = RunReport(file_run, feed.name, size, settings.index.directory, visible)
        with stopping(stopped):
            report.follow()


def _wired(
    stack: ExitStack,
    feed: "Input",
    output: str,
    rejected: str | None,
    settings: "Settings",
    stopped: Event,
) -> "FileRun":
    """Open everything, the outputs last: nothing is cut off before all else is in order."""
    from stream_dedup.checkpoint import Checkpoint, Stretch, stretch_entry
    from stream_dedup.engine import Matcher, Signer
    from stream_dedup.events import DocumentDecoder
    from stream_dedup.filerun import FileRun, written
    from stream_dedup.index.rocksdb import RocksIndex
    from stream_dedup.interfaces import Changes
    from stream_dedup.numbering import Numbering
    from stream_dedup.outputs import open_output
    from stream_dedup.readahead import ReadAhead
    from stream_dedup.rejections import RejectedShare

    index = stack.enter_context(closing(RocksIndex.open(settings.index.directory, settings.index)))
    checkpoint = Checkpoint(index.meta())
    way_out = "Give files an index of their own: --index DIR"
    checkpoint.refuse_log(settings.index.directory, "a file", way_out)
    with notice_if_slow(COMPILING):
        signer, matcher = Signer(settings), Matcher(index, settings)
    progress = checkpoint.input(feed.key)
    with notice_if_slow("Finding the place where the last run stopped …"):
        reader = stack.enter_context(closing(feed.open(progress.read, progress.lines, stopped)))
    verdicts = stack.enter_context(closing(open_output(output, checkpoint)))
    rejections = (
        stack.enter_context(closing(open_output(rejected, checkpoint))) if rejected else None
    )
    stretch = Stretch(input=feed.key, name=feed.topic, line=progress.lines)
    begun = stretch_entry(checkpoint, stretch)
    # From here on what an output holds is known to be ours, even if the first commit never comes.
    index.write(Changes({}, {}, {**written(verdicts, rejections), **begun}))
    lines_max = settings.kafka.batch_size_max
    portions = reader.portions(lines_max, settings.events.document_bytes_max)
    return FileRun(
        ReadAhead(portions, lines_max, stopped),
        Numbering(feed, DocumentDecoder(settings.events), matcher.next_offset),
        signer,
        matcher,
        verdicts,
        rejections,
        RejectedShare(settings.events.rejected_ratio_max),
        usable_cores(),
    )
