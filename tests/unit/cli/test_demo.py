"""`stream-dedup demo` from outside: what it streams, what it shows, how it ends."""

import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from stream_dedup.cli import main
from stream_dedup.config import EventsSettings
from stream_dedup.events import DocumentDecoder
from stream_dedup.feed.planting import COPIES, NO_COPIES, news_feed

fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")

COLOUR = re.compile(r"\x1b\[[\d;]*(?:3[0-7]|9[0-7]|38;5;\d+)[\d;]*m")
ERASED = re.compile(r"(?:\x1b\[2K(?:\x1b\[1A)?)+")
# Any sequence that is no text: colours, cursors.
SEQUENCE = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")


class Printed(NamedTuple):
    """How a run ended and what it printed."""

    exit_code: int
    out: str
    err: str


Run = Callable[..., Printed]


@pytest.fixture
def run(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, alone: None
) -> Run:
    """Run a command in this process, in a directory and with temporary files of its own."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    def call(*arguments: object) -> Printed:
        exit_code = main([*map(str, arguments)])
        return Printed(exit_code, *capfd.readouterr())

    return call


def figure(name: str, out: str) -> float:
    found = re.search(rf"^{name} +([\d.]+)  ", out, re.MULTILINE)
    assert found, out
    return float(found[1])


def test_it_finds_what_was_planted(run: Run, tmp_path: Path) -> None:
    """Recall and precision are high, every role is told, and nothing is left behind."""
    shown = run("demo", "--documents", 1500)

    assert (shown.exit_code, shown.err) == (0, "")
    assert figure("recall", shown.out) >= 0.95
    assert figure("precision", shown.out) >= 0.97
    for role in (*COPIES, *NO_COPIES):
        assert re.search(rf"^{role} +[\d,]+ +[\d,]+$", shown.out, re.MULTILINE)
    assert re.search(r"^translation +\d+ +0$", shown.out, re.MULTILINE)
    assert re.search(r"^The engine took [\d.]+ s for 1,500 events", shown.out, re.MULTILINE)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["temporary"]


def test_a_pipe_gets_the_same_lines_each_time(run: Run) -> None:
    """Without a terminal there are plain lines, a quarter of a day each, and no waiting."""
    first, second = (run("demo", "--documents", 300).out.splitlines() for _ in range(2))
    speed = [line.startswith("The engine took") for line in first]

    assert sum(speed) == 1
    assert [line for line in first if not line.startswith("The engine took")] == [
        line for line in second if not line.startswith("The engine took")
    ]
    assert first[0] == "A made-up news feed: 300 events, seed 1"
    assert 10 <= sum("duplicates (" in line for line in first) <= 13
    assert "\x1b" not in "".join(first)


def test_another_seed_is_another_feed(run: Run) -> None:
    """--seed makes up other news."""
    assert run("demo", "--documents", 50, "--seed", 1).out != (
        run("demo", "--documents", 50, "--seed", 2).out
    )


def test_the_threshold_is_obeyed(run: Run) -> None:
    """A lower threshold reports what is less alike, and wrong things with it."""
    strict, loose = (
        run("demo", "--documents", 400, "--threshold", threshold).out for threshold in (0.95, 0.5)
    )

    assert figure("recall", strict) < 0.9 < figure("recall", loose)
    assert figure("precision", loose) < 0.95 < figure("precision", strict)
    assert "fell below 0.95" in strict
    assert "made apart and yet 0.5 similar" in loose


def test_exact_verification_leaves_nothing_to_estimates(run: Run) -> None:
    """With the texts compared, whatever is reported wrongly is as similar as was asked for."""
    shown = run("demo", "--documents", 600, "--set", "similarity.verify=exact")

    assert shown.exit_code == 0
    assert "Wrong: " not in shown.out or "estimated too high: 0." in shown.out
    assert "similarity.verify=exact" not in shown.out


def test_a_saved_feed_is_the_feed(run: Run, tmp_path: Path) -> None:
    """--save writes what was streamed, deletions included, as other commands read it."""
    shown = run("demo", "--documents", 1000, "--save", tmp_path / "kept.jsonl")
    lines = (tmp_path / "kept.jsonl").read_bytes().splitlines()
    decoder = DocumentDecoder(EventsSettings())

    assert shown.exit_code == 0
    assert [decoder.decode_event(line) for line in lines] == [
        planted.event for planted in news_feed(1, 1000)
    ]


def test_a_file_that_is_there_is_not_written_over(run: Run, tmp_path: Path) -> None:
    """--save may write again what it wrote before, and nothing over anything else."""
    saving = ("demo", "--save", tmp_path / "kept.jsonl", "--documents")
    again = [run(*saving, documents).exit_code for documents in (300, 300)]
    kept = (tmp_path / "kept.jsonl").read_bytes()
    refused = run(*saving, 301)

    assert again == [0, 0]
    assert (refused.exit_code, refused.out) == (2, "")
    assert "remove it" in refused.err
    assert (tmp_path / "kept.jsonl").read_bytes() == kept


def test_what_is_to_be_tried_next_works(run: Run) -> None:
    """Each command that the demo ends with runs as printed, and tells of the same feed."""
    shown = run("demo", "--documents", 500)
    _, next_steps = shown.out.split("Try next\n")
    commands = [shlex.split(line, comments=True) for line in next_steps.splitlines()]

    assert [command[:2] for command in commands] == [
        ["stream-dedup", name] for name in ("demo", "run", "explain", "plan", "demo")
    ]
    for command in commands[:-1]:
        tried = run(*command[1:])
        assert tried.exit_code == 0, tried
        if command[1] == "explain":
            assert re.match(r"(?:no )?duplicates: jaccard similarity 0\.[789]", tried.out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--documents", "5"), "--documents"),
        (("--seconds", "-1"), "--seconds"),
        (("--save", "missing/feed.jsonl"), "cannot write missing/feed.jsonl: No such file"),
        (("--threshold", "2"), "--threshold"),
    ],
)
def test_what_cannot_be_done_is_told_first(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    """Wrong arguments end with 2 and one line, before anything is streamed."""
    refused = run("demo", *arguments)

    assert (refused.exit_code, refused.out) == (2, "")
    assert refused.err.startswith("error: ")
    assert message in refused.err


def test_help_teaches_at_once() -> None:
    """--help shows examples and imports nothing that computes."""
    program = (
        "import sys; from stream_dedup.cli import main; main(['demo', '--help']);"
        "sys.exit(bool({'numpy', 'numba', 'rocksdict'} & set(sys.modules)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert "Examples: stream-dedup demo" in done.stdout


class Watched(NamedTuple):
    """What a terminal received: each picture before it was wiped away, and what stayed."""

    exit_code: int
    pictures: list[str]
    end: str


def watch(
    *arguments: str, rows: int = 40, columns: int = 120, interrupt: bool = False, **environment: str
) -> Watched:
    """Run the demo on a terminal, and press Ctrl-C once a picture is there if asked to."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    plain = {
        **{name: value for name, value in os.environ.items() if not name.startswith("STREAM_")},
        **{"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm-256color"},
        **environment,
    }
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        if name not in environment:
            plain.pop(name, None)
    command = [sys.executable, "-m", "stream_dedup", "demo", *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=plain, start_new_session=True
    ) as done:
        os.close(theirs)
        received = b""
        try:
            while part := os.read(ours, 65536):
                received += part
                if interrupt and b"unique" in received:
                    done.send_signal(signal.SIGINT)
                    interrupt = False
        except OSError:  # how a terminal says that its other end is closed
            pass
        os.close(ours)
    *pictures, end = ERASED.split(received.decode())
    return Watched(done.returncode, pictures, end)


def test_a_terminal_shows_the_latest_matches_beside_each_other() -> None:
    """A picture that moves: counts, rate, and two texts with the words that differ marked."""
    watched = watch("--documents", "400", "--seconds", "2")
    last = [picture for picture in watched.pictures if "unique" in picture][-1]
    both = [line for line in SEQUENCE.sub("", last).splitlines() if line.count(" · ") == 2]

    assert watched.exit_code == 0
    assert len(watched.pictures) > 10
    assert all(word in last for word in ("400 events", "unique", "near", "planted copies", "/s"))
    assert any(
        re.fullmatch(r"\d\d:\d\d .+ · .+-\d+ +\d\d:\d\d .+ · .+-\d+ *", line) for line in both
    )
    assert re.search(r"\x1b\[1;31m\S+\x1b\[0m", "".join(watched.pictures))
    assert re.search(r"\x1b\[1;32m\S+\x1b\[0m", "".join(watched.pictures))
    assert "recall" in watched.end
    assert "paced to 2 s" in watched.end


def test_colour_is_left_out_on_request() -> None:
    """NO_COLOR leaves bold type, and no colour."""
    watched = watch("--documents", "100", "--seconds", "1", NO_COLOR="1")

    assert watched.exit_code == 0
    assert not COLOUR.search("".join(watched.pictures) + watched.end)
    assert "\x1b[1m" in "".join(watched.pictures)


@pytest.mark.parametrize(("rows", "columns"), [(40, 50), (6, 20)])
def test_a_small_terminal_is_not_overrun(rows: int, columns: int) -> None:
    """No picture is wider or higher than the terminal."""
    watched = watch("--documents", "200", "--seconds", "1", rows=rows, columns=columns)
    drawn = [SEQUENCE.sub("", picture).strip("\r\n") for picture in watched.pictures[2:]]

    assert watched.exit_code == 0
    assert drawn
    assert max(len(picture.splitlines()) for picture in drawn) <= rows
    assert max(len(line) for picture in drawn for line in picture.splitlines()) <= columns
    if columns >= 40:
        assert re.search(r"^planted copies +\d+", drawn[-2], re.MULTILINE)


def test_a_terminal_that_cannot_draw_gets_lines() -> None:
    """A dumb terminal sees what a pipe sees."""
    watched = watch("--documents", "100", TERM="dumb")

    assert watched.exit_code == 0
    assert watched.pictures == []
    assert "duplicates (" in watched.end


def test_ctrl_c_ends_it() -> None:
    """Ctrl-C ends with 130, and the terminal gets its cursor back."""
    watched = watch("--documents", "2000", "--seconds", "60", interrupt=True)

    assert watched.exit_code == 130
    assert "Traceback" not in watched.end
    assert "\x1b[?25h" in "".join([*watched.pictures, watched.end])
