"""What `rejected list` and `rejected show` print, for people or as JSON."""

import sys
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stream_dedup.kafka.rejected_topic import Rejected
from stream_dedup.upkeep.statistics import moment

_LABEL_WIDTH = 12


def show_list(found: Sequence[Rejected]) -> None:
    """Print a table where somebody watches, else a line of JSON for each."""
    if not sys.stdout.isatty():
        for rejected in found:
            typer.echo(msgspec.json.encode(_summary(rejected)).decode())
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("place", "rejected at", "record", "key"):
        table.add_column(title, no_wrap=True)
    table.add_column("reason")
    for rejected in found:
        letter = rejected.letter
        cut = f" (truncated from {letter.truncated_from:,} bytes)" if letter.truncated_from else ""
        table.add_row(
            str(rejected.place),
            moment(rejected.time) or "",
            Text(printable(f"{letter.topic}/{letter.partition}:{letter.offset}")),
            Text(_shown(letter.key), overflow="ellipsis"),
            Text(printable(letter.reason) + cut),
        )
    Console(highlight=False).print(table)


def show_whole(rejected: Rejected) -> None:
    """Print a record with its value: as it is where somebody watches, else as a line of JSON."""
    letter = rejected.letter
    if not sys.stdout.isatty():
        headers = [{"name": name, **_bytes("value", value)} for name, value in letter.headers]
        whole = {**_summary(rejected), "headers": headers, **_bytes("value", letter.value)}
        typer.echo(msgspec.json.encode(whole).decode())
        return
    lines = [
        ("place", str(rejected.place)),
        ("rejected at", moment(rejected.time) or ""),
        ("reason", letter.reason),
        ("record", letter.source),
        ("written at", moment(letter.timestamp) or "undated"),
        ("key", _shown(letter.key)),
        *((f"header {name}", _shown(value)) for name, value in letter.headers),
    ]
    if letter.truncated_from is not None:
        lines.append(("truncated", f"from {letter.truncated_from:,} bytes"))
    for label, value in lines:
        typer.echo(printable(f"{label:{_LABEL_WIDTH}} {value}".rstrip()))
    typer.echo(f"\n{_shown(letter.value)}")


def _summary(rejected: Rejected) -> dict[str, Any]:
    letter = rejected.letter
    return {
        "place": str(rejected.place),
        "rejected_at": moment(rejected.time),
        "record": {
            "topic": letter.topic,
            "partition": letter.partition,
            "offset": letter.offset,
            "written_at": moment(letter.timestamp),
        },
        "reason": letter.reason,
        "truncated_from": letter.truncated_from,
        **_bytes("key", letter.key),
    }


def _bytes(name: str, value: bytes | None) -> dict[str, str | None]:
    """Write bytes as text if they are text, else as base64."""
    if value is None:
        return {name: None}
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": b64encode(value).decode()}


def _shown(value: bytes | None) -> str:
    return "" if value is None else printable(value.decode("utf-8", "backslashreplace"))


def printable(text: str) -> str:
    """Return what a terminal may be sent: nothing that moves its cursor or changes its colours."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else _escaped(char) for char in text
    )


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode()
