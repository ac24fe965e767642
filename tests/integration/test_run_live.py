"""`stream-dedup run` beside others: pipes and growing files, signals and terminals."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

COPY = b'{"id": "a%d", "text": "A text that all of these documents have, word for word."}\n'


@contextmanager
def started(
    directory: Path, *arguments: str, stderr: int = subprocess.PIPE
) -> Iterator["subprocess.Popen[bytes]"]:
    """Start the command, and see that it is over in the end."""
    plain = {key: value for key, value in os.environ.items() if "STREAM_DEDUP" not in key}
    process = subprocess.Popen(
        [sys.executable, "-m", "stream_dedup", "run", *arguments],
        cwd=directory,
        env=plain | {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "COLUMNS": "200"},
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )
    try:
        with process:
            yield process
    finally:
        process.kill()


def verdict(line: bytes) -> tuple[str, str]:
    read = json.loads(line)
    return read["document"]["id"], read["type"]


def test_a_pipe_that_stays_open_gets_its_verdicts(tmp_path: Path) -> None:
    """A verdict comes while whoever wrote the document still waits, and all at the end."""
    with started(tmp_path, "--input", "-", "--emit", "all") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(5):
            process.stdin.write(COPY % number)
            expected = (f"a{number}", "duplicate" if number else "unique")
            assert verdict(process.stdout.readline()) == expected
        process.stdin.write(COPY[:-1] % 5)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (0, b"")
    assert verdict(out) == ("a5", "duplicate")


class Story(NamedTuple):
    """Some of a year's documents, alike but for a word, and when they came."""

    text: list[str]
    hours: list[float]


def year(random: Random) -> Iterator[tuple[bytes, bool]]:
    """Write documents of a year, and whether one alike came in the three days before."""
    stories: list[Story] = []
    hours = 0.0
    for number in range(700):
        hours += random.expovariate(700 / (365 * 24))
        if not stories or random.random() < 0.5:
            new = ["".join(random.choices("abcdefghijklm", k=8)) for _ in range(60)]
            stories.append(Story(new, []))
        story = random.choice(stories[-8:])
        words = story.text.copy()
        words[random.randrange(60)] = random.choice(["edited", words[0]])
        moment = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
        document = {"id": f"d{number}", "text": " ".join(words), "published_at": moment.isoformat()}
        yield json.dumps(document).encode() + b"\n", any(hours - seen <= 72 for seen in story.hours)
        story.hours.append(hours)


def test_a_backfill_of_a_year_is_matched_as_if_it_had_been_live(tmp_path: Path) -> None:
    """Through a window of 72 hours a file at once is told what a pipe is, line by line."""
    documents = list(year(Random(20_260_131)))
    (tmp_path / "feed").write_bytes(b"".join(line for line, _ in documents))
    arguments = ("--emit", "all", "--window", "72h")
    with started(tmp_path, "--input", "feed", *arguments, "--index", "at-once") as process:
        at_once, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    live = []
    with started(tmp_path, "--input", "-", *arguments, "--index", "live") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, _ in documents:
            process.stdin.write(line)
            live.append(process.stdout.readline())
        process.communicate(timeout=60)

    told = [json.loads(line) for line in at_once.splitlines()]
    assert [said["type"] == "duplicate" for said in told] == [alike for _, alike in documents]
    assert 100 < sum(alike for _, alike in documents) < 600
    same = itemgetter("document", "type", "matches", "match_count", "cluster")
    assert [*map(same, told)] == [same(json.loads(line)) for line in live]


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_followed_file_is_left_when_asked(tmp_path: Path, number: int, exit_code: int) -> None:
    """Appended lines are decided at once; a stop ends cleanly, and the next start goes on."""
    feed = tmp_path / "feed"
    feed.write_bytes(COPY % 0)
    arguments = ("--input", "feed", "--emit", "all", "--follow")
    with feed.open("ab", 0) as writing:
        with started(tmp_path, *arguments) as process:
            assert process.stdout is not None
            assert verdict(process.stdout.readline()) == ("a0", "unique")
            for document in range(1, 4):
                writing.write(COPY % document)
                assert verdict(process.stdout.readline()) == (f"a{document}", "duplicate")
            writing.write(b'{"id": "half')
            process.send_signal(number)
            ended = (*process.communicate(timeout=60), process.returncode)
        writing.write(b'", "text": ""}\n' + COPY % 4)
        with started(tmp_path, *arguments) as process:
            assert process.stdout is not None
            assert verdict(process.stdout.readline()) == ("half", "skipped")
            assert verdict(process.stdout.readline()) == ("a4", "duplicate")
            process.send_signal(number)
            again = (*process.communicate(timeout=60), process.returncode)

    assert ended == again == (b"", b"", exit_code)


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_stop_leaves_whole_lines_that_are_all_remembered(
    tmp_path: Path, number: int, exit_code: int
) -> None:
    """Stopped in the middle of a file, a run leaves nothing to be cut off."""
    feed = tmp_path / "feed"
    feed.write_bytes(b"".join(COPY % document for document in range(4000)))
    arguments = ("--input", "feed", "--output", "out", "--set", "kafka.batch_size_max=20")
    out = tmp_path / "out"
    with started(tmp_path, *arguments, "--emit", "all") as process:
        while process.poll() is None and not (out.exists() and out.stat().st_size):
            pass
        process.send_signal(number)
        ended = (*process.communicate(timeout=60), process.returncode)
    before = out.read_bytes()
    with started(tmp_path, *arguments, "--emit", "none") as process:
        process.communicate(timeout=60)

    assert ended == (b"", b"", exit_code)
    assert 0 < before.count(b"\n") < 4000
    assert out.read_bytes() == before
    last = json.loads(before.splitlines()[-1])
    assert last["record"]["offset"] + 1 == before.count(b"\n")


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    """`stream-dedup run … | head -1` ends quietly."""
    (tmp_path / "feed").write_bytes(b"".join(COPY % document for document in range(3000)))
    with started(tmp_path, "--input", "feed") as process:
        assert process.stdout is not None
        assert verdict(process.stdout.readline()) == ("a1", "duplicate")
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()

    assert (process.returncode, err) == (0, b"")


def test_a_terminal_shows_what_was_done(tmp_path: Path) -> None:
    """Somebody who watches sees a bar and, at the end, what the documents were."""
    (tmp_path / "feed").write_bytes(COPY % 0 + COPY % 1 + COPY % 1 + b"oops\n")
    ours, theirs = pty.openpty()
    with started(tmp_path, "--input", "feed", "--output", "out", stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # how a terminal says that its other end is closed
            pass
        os.close(ours)

    assert process.returncode == 0
    told = shown.decode()
    assert "Matching" in told
    assert "skipped feed:4: JSON" in told
    assert "3 documents: 1 duplicate, 1 unique, 1 repeat" in told
    assert "documents/s; the index is in ./index" in told
