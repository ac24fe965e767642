"""`stream-dedup pairs`: every similar pair in files or a pipe."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

import typer

from stream_dedup.cli import options
from stream_dedup.cli.rejected import Rejections
from stream_dedup.cli.terminal import COMPILING, notice_if_slow, on_terminal, progress, stderr
from stream_dedup.cli.threads import usable_cores
from stream_dedup.errors import UsageError

if TYPE_CHECKING:
    from stream_dedup.config import Settings
    from stream_dedup.corpus import Corpus
    from stream_dedup.pairs import Pairs, PairSearch

_STANDARD_INPUT = "-"


def pairs(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Documents, one JSON object a line; .gz and .zst too. Without any, or for -, "
            "standard input.",
        ),
    ] = None,
    threshold: options.Threshold = None,
    unit: options.Unit = None,
    size: options.Size = None,
    measure: options.Measure = None,
    verify: Annotated[
        Literal["signature", "exact"] | None,
        typer.Option(
            help="Estimate similarities from signatures, or read the texts again and compute them.",
            show_default="signature",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write here instead of standard output.")
    ] = None,
    clusters: Annotated[
        bool, typer.Option("--clusters", help="Print groups of duplicates instead of pairs.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first line that is no document.")
    ] = False,
    text_field: options.TextField = None,
    id_field: options.IdField = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Find every pair of similar documents in a collection.

    Prints one JSON object a line, a the earlier document, in the order in which b came:

    \b
    {"a": "r1", "b": "x7", "similarity": 0.914, "error": 0.025, "kind": "near", "containment": 0.99}

    error is one standard error of the similarity, 0 where it is exact; containment is the share of
    b found in a. kind is exact (the same text), near, excerpt (b is part of a) or extension.

    Example: stream-dedup pairs --threshold 0.9 --verify exact feed.jsonl.gz > pairs.jsonl
    """
    given = options.similarity(threshold, unit, size, measure) | options.events(
        text_field, id_field
    )
    given["similarity.verify"] = ("--verify", verify)
    settings = options.settings_from(config, override, given)
    names = files or [_STANDARD_INPUT]
    if _STANDARD_INPUT in names and (sys.stdin is None or sys.stdin.isatty()):
        raise UsageError("name a file, or pipe documents in: stream-dedup pairs FILE...")
    if names.count(_STANDARD_INPUT) > 1:
        raise UsageError("standard input (-) can be read once only")
    _check_output(output, names)
    _find(names, settings, output, clusters, strict)


def _check_output(output: Path | None, names: list[str]) -> None:
    """Refuse to write where nobody reads, or over what is to be read."""
    if output is None:
        if sys.stdout is None:
            raise UsageError("standard output is closed: name a file with --output FILE")
    elif output.is_file():
        inputs = [Path(name) for name in names if name != _STANDARD_INPUT]
        if any(path.exists() and output.samefile(path) for path in inputs):
            raise UsageError(f"cannot write {output}: it is an input")


def _find(
    names: list[str], settings: "Settings", output: Path | None, clusters: bool, strict: bool
) -> None:
    from stream_dedup.pairs import PairSearch
    from stream_dedup.results import write_clusters, write_pairs

    exact = settings.similarity.verify == "exact"
    corpus = _open_corpus(names, settings, keep_pipes=exact)
    rejections = Rejections(strict)
    with _opened(output) as out:
        with progress("Signing", corpus.size, in_bytes=True) as advance:
            threshold = settings.similarity.threshold
            search = PairSearch(corpus, threshold, advance, lambda line: rejections.add(*line))
        found = (_compared if exact else _estimated)(search, watched=not out.isatty())
        write = write_clusters if clusters else write_pairs
        count = write(found, search.ids, out)
    rejections.summarise()
    _summarise(search, f"{count:,} {'clusters' if clusters else 'pairs'}")


def _estimated(search: "PairSearch", watched: bool) -> Iterator["Pairs"]:
    with progress("Matching", len(search.ids), visible=watched) as advance:
        for candidates in search.candidates(advance):
            yield search.estimate(candidates)


def _compared(search: "PairSearch", watched: bool) -> Iterator["Pairs"]:
    from stream_dedup.corpus import map_ordered

    with progress("Matching", len(search.ids)) as advance:
        found = list(search.candidates(advance))
    with ExitStack() as stack:
        with progress("Reading again", search.corpus.size, in_bytes=True) as advance:
            elements = stack.enter_context(search.elements(found, advance))
        compare = partial(search.compare, elements)
        with progress("Comparing", len(search.ids), visible=watched) as advance:
            pairs = map_ordered(compare, found, search.corpus.threads)
            for candidates, verified in zip(found, pairs, strict=True):
                yield verified
                advance(len(candidates.counts))


def _open_corpus(names: list[str], settings: "Settings", keep_pipes: bool) -> "Corpus":
    from stream_dedup.corpus import Corpus
    from stream_dedup.events import DocumentDecoder
    from stream_dedup.files import Source
    from stream_dedup.similarity.sketch import Sketcher

    sketcher = Sketcher.planned(settings.similarity)
    line_bytes_max = settings.events.document_bytes_max
    sources = [Source(name, line_bytes_max, keep_pipes) for name in names]
    with notice_if_slow(COMPILING):
        sketcher.sketch(["A text to compile the kernels with.", "Ein Text für jede Art von Text."])
    decoder = DocumentDecoder(settings.events, texts_only=True)
    return Corpus(sources, decoder, sketcher, usable_cores())


@contextmanager
def _opened(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        return
    try:
        file = output.open("wb")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None
    with file:
        yield file


def _summarise(search: "PairSearch", found: str) -> None:
    if search.cut:
        stderr.print(
            f"{search.cut:,} documents may have more similar ones before them than are listed: "
            "the earliest are. --clusters shows such crowds in one line."
        )
    if search.hidden:
        stderr.print("Crowds of texts were not searched in full; some pairs may be missing.")
    if on_terminal():
        empty = f" and {search.empty:,} without text" if search.empty else ""
        stderr.print(f"{len(search.ids):,} documents{empty}: {found}")
