"""`stream-dedup explain`: why two documents are duplicates, or why they are not."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from stream_dedup.cli import options
from stream_dedup.cli.terminal import COMPILING, notice_if_slow
from stream_dedup.errors import InputError

if TYPE_CHECKING:
    from stream_dedup.config import Settings
    from stream_dedup.explanation import Explanation

_PASSAGES_MAX = 5
_PASSAGE_CHARACTERS_MAX = 300


def explain(
    a: Annotated[str, typer.Argument(help="A text file, or with --input a document's id.")],
    b: Annotated[str, typer.Argument(help="Another one.")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="Documents, one JSON object a line, to take A and B from.",
        ),
    ] = None,
    threshold: options.Threshold = None,
    unit: options.Unit = None,
    size: options.Size = None,
    measure: options.Measure = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    text_field: options.TextField = None,
    id_field: options.IdField = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Compare two documents: how similar, by which bands found, what they share and what not.

    \b
    Examples: stream-dedup explain old.txt new.txt
              stream-dedup explain r1 x7 --input feed.jsonl
    """
    given = options.similarity(threshold, unit, size, measure) | options.events(
        text_field, id_field
    )
    settings = options.settings_from(config, override, given)
    from stream_dedup.explanation import explain_pair
    from stream_dedup.similarity.sketch import Sketcher

    texts = _read_files(a, b) if source is None else _read_documents(source, a, b, settings)
    sketcher = Sketcher.planned(settings.similarity)
    with notice_if_slow(COMPILING):
        explanation = explain_pair(texts, sketcher, settings.similarity.threshold, _PASSAGES_MAX)
    if as_json:
        from dataclasses import asdict

        typer.echo(json.dumps(asdict(explanation), ensure_ascii=False, indent=2))
    else:
        _show(explanation, Console(highlight=False, soft_wrap=True))


def _read_files(a: str, b: str) -> tuple[str, str]:
    return _read_file(a), _read_file(b)


def _read_file(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        hint = "; for ids of a JSONL file add --input FILE" if not Path(name).exists() else ""
        raise InputError(f"cannot read {name}: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {name}: not UTF-8 at byte {error.start}") from None


def _read_documents(source: Path, a: str, b: str, settings: "Settings") -> tuple[str, str]:
    from stream_dedup.corpus import find_texts
    from stream_dedup.events import DocumentDecoder
    from stream_dedup.files import Source

    lines = Source(str(source), settings.events.document_bytes_max)
    texts = find_texts(lines, DocumentDecoder(settings.events, texts_only=True), {a, b})
    for wanted in (a, b):
        if wanted not in texts:
            raise InputError(f"{lines.name} has no document with the id {wanted!r}")
    return texts[a], texts[b]


def _show(explained: "Explanation", out: Console) -> None:
    verdict = "[green]duplicates[/]" if explained.duplicate else "[yellow]no duplicates[/]"
    sign = "≥" if explained.similarity >= explained.threshold else "<"
    found = f"{explained.candidate_probability:.4f}"
    out.print(
        f"[bold]{verdict}[/]: {explained.measure} similarity [bold]{explained.similarity:.4f}[/] "
        f"{sign} threshold {explained.threshold:g}"
    )
    out.print(f"estimated from signatures: {explained.estimate:.4f} ± {explained.error:.4f}")
    out.print(
        f"bands shared: {explained.bands_shared} of {explained.bands} (of {explained.rows} rows); "
        f"a pair so similar shares one or more with probability {found}"
    )
    for name, other, side in (("A", "B", explained.a), ("B", "A", explained.b)):
        out.print(
            f"{name}: {side.characters:,} characters, {side.shingles:,} shingles, "
            f"{side.containment:.1%} of them found in {other}"
        )
    _show_passages(out, "in both", "=", "green", explained.shared)
    _show_passages(out, "only in A", "-", "red", explained.a.only)
    _show_passages(out, "only in B", "+", "cyan", explained.b.only)


def _show_passages(out: Console, title: str, sign: str, style: str, passages: list[str]) -> None:
    if passages:
        out.print(f"\n[bold]{title}[/] (the longest, normalised)")
    for passage in passages:
        shown = passage
        if len(passage) > _PASSAGE_CHARACTERS_MAX:
            half = _PASSAGE_CHARACTERS_MAX // 2
            shown = f"{passage[:half]} […] {passage[-half:]}"
        out.print(f"[{style}]{sign} {escape(shown)}[/]")
