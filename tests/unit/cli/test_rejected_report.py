"""What `rejected list` and `rejected show` print on a terminal."""

import io
import sys

import pytest
from rich.text import Text

from stream_dedup.cli.rejected_report import printable, show_list, show_whole
from stream_dedup.kafka.dead_letters import DeadLetter
from stream_dedup.kafka.rejected_topic import Place, Rejected, Selection
from stream_dedup.matching.logtime import UNDATED

NOON = 1_700_000_000_000
LETTER = DeadLetter(
    "documents",
    0,
    812,
    UNDATED,
    "text: missing\x1b[2J",
    5000,
    b"a[b]",
    b"{\x1b[2J\xff\n}",
    [("h", b"\x07")],
)
REJECTED = Rejected(Place(0, 7), NOON, LETTER)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard output a terminal wide enough for one line a record."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "200")
    return terminal


def test_a_terminal_gets_a_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line a record with its place, times, source, key and reason."""
    terminal = watched(monkeypatch)
    show_list([REJECTED])
    header, line = Text.from_ansi(terminal.getvalue()).plain.splitlines()

    assert header.split() == ["place", "rejected", "at", "record", "key", "reason"]
    assert line.split() == [
        *("0:7", "2023-11-14T22:13:20.000Z", "documents/0:812", "a[b]", "text:"),
        *(r"missing\x1b[2J", "(truncated", "from", "5,000", "bytes)"),
    ]
    assert "\x1b[2J" not in terminal.getvalue()


def test_a_record_is_shown_as_it_is_but_cannot_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Control characters are shown as escapes, bytes that are no text too."""
    terminal = watched(monkeypatch)
    show_whole(REJECTED)
    shown = terminal.getvalue()

    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "topic documents, partition 0, offset 812" in shown
    assert "truncated    from 5,000 bytes" in shown
    assert shown.endswith("\n\n" + r"{\x1b[2J\xff" + "\n}\n")
    assert printable("é\t日\u202e") == "é\t日\\u202e"


def rejected(partition: int, offset: int, time: int, reason: str = "") -> Rejected:
    return Rejected(Place(partition, offset), time, LETTER._replace(reason=reason))


def test_a_selection_takes_the_newest_of_those_that_fit() -> None:
    """Newest last; by words of the reason in any case, by place, or both."""
    letters = [rejected(0, 0, 5, "Bad"), rejected(0, 1, 9, "bad key"), rejected(1, 0, 7, "good")]

    def places(selection: Selection) -> list[str]:
        return [str(found.place) for found in selection.of(iter(letters))]

    assert places(Selection()) == ["0:0", "1:0", "0:1"]
    assert places(Selection(limit=2)) == ["1:0", "0:1"]
    assert places(Selection("BAD")) == ["0:0", "0:1"]
    assert places(Selection("bad", 5, frozenset({Place(0, 0), Place(1, 0)}))) == ["0:0"]
