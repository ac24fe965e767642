"""`stream-dedup run` on files, killed at any moment: the real command in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from time import monotonic

import pytest

DOCUMENTS = 9000  # so many that a kill on a busy machine comes before the end
START = datetime(2026, 3, 1, tzinfo=UTC)
# Some seventeen windows, each of some 500 documents, in some 360 commits.
SETTINGS = ["--window", "90m", "--emit", "all", "--set", "kafka.batch_size_max=25"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def text(random: Random) -> str:
    """Draw a text unlike any other."""
    words = ("".join(random.choices(LETTERS, k=random.randrange(3, 9))) for _ in range(40))
    return " ".join(words)


def edited(random: Random, original: str) -> str:
    """Replace a word."""
    words = original.split()
    words[random.randrange(len(words))] = "edited"
    return " ".join(words)


def feed(seed: int, count: int = DOCUMENTS) -> bytes:
    """Write copies, edited copies, revisions, repeats and deletions of recent documents, and dirt.

    Three of ten have no time of their own; some are two hours late.
    """
    random = Random(seed)
    recent: list[dict[str, str]] = [{"id": "d-0", "text": text(random)}]
    lines = []
    for number in range(count):
        old = random.choice(recent[-200:])
        new = {"id": f"d-{number}", "namespace": random.choice(["", "", "tenant"])}
        line: object = random.choices(
            [
                new | {"text": text(random)},
                new | {"text": old["text"]},
                new | {"text": edited(random, old["text"])},
                old | {"text": edited(random, old["text"])},
                old | {"text": text(random)},
                old,
                {key: value for key, value in old.items() if key != "text"} | {"deleted": True},
                new | {"text": " ... "},
                {"id": f"d-{number}"},
            ],
            weights=[50, 15, 15, 5, 3, 4, 5, 2, 2],
        )[0]
        assert isinstance(line, dict)
        if "text" in line:
            recent.append(line)
        seconds = 10 * number - random.choices([0, 7200], weights=[50, 1])[0]
        if random.random() < 0.7:
            moment = START + timedelta(seconds=seconds)
            line = line | {"published_at": moment.isoformat(), "source": f"s{number % 7}"}
        lines.append(json.dumps(line).encode())
        if random.random() < 0.03:
            lines.append(random.choice([b"", b"{", b'{"id": 1, "text": "\xff"}', b"null"]))
    return b"\n".join(lines) + b"\n"


class Trial:
    """One feed with its index and outputs, and the command that is run on them."""

    def __init__(self, directory: Path, lines: bytes) -> None:
        directory.mkdir()
        (directory / "feed.jsonl").write_bytes(lines)
        self.output = directory / "matches.jsonl"
        self.rejected = directory / "rejected.jsonl"
        self._command = [sys.executable, "-m", "stream_dedup", "run", *SETTINGS]
        self._command += ["--input", "feed.jsonl", "--output", "matches.jsonl"]
        self._command += ["--rejected", "rejected.jsonl"]
        self._directory = directory
        environment = {key: value for key, value in os.environ.items() if "STREAM_DEDUP" not in key}
        self._environment = environment | {"PYTHONPATH": os.pathsep.join(sys.path)}

    @contextmanager
    def started(self, *more: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Start the command, and see that it is over in the end."""
        process = subprocess.Popen(
            [*self._command, *more],
            cwd=self._directory,
            env=self._environment,
            stderr=subprocess.PIPE,
        )
        try:
            with process:
                yield process
        finally:
            process.kill()

    def finish(self) -> None:
        """Run to the end of the feed."""
        with self.started() as process:
            _, told = process.communicate(timeout=120)
        assert process.returncode == 0, told.decode()

    def written(self) -> tuple[bytes, bytes]:
        """Return what the outputs hold."""
        return tuple(  # type: ignore[return-value]
            path.read_bytes() if path.exists() else b"" for path in (self.output, self.rejected)
        )

    def size(self) -> int:
        """Return how much the outputs hold."""
        paths = (self.output, self.rejected)
        return sum(path.stat().st_size for path in paths if path.exists())


def wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Let it run for a while, or to its end."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def kill_when(trial: Trial, size: float, then_seconds: float) -> tuple[int, tuple[bytes, bytes]]:
    """Start, wait for outputs of a size and a little more, kill; return the end and the work."""
    with trial.started() as process:
        while process.poll() is None and trial.size() < size:
            wait(process, 0.005)
        wait(process, then_seconds)
        process.kill()
        process.communicate(timeout=60)
    return process.returncode, trial.written()


def kills_leave_no_trace(directory: Path, seed: int, kills: int) -> None:
    """Kill at moments spread over the run, its starts and its end; compare with a quiet run.

    A kill counts that left work to be done. Where the run was over before, as where the machine
    is busy, the next run is killed in its place.
    """
    random = Random(seed)
    lines = feed(seed)
    quiet = Trial(directory / "quiet", lines)
    began = monotonic()
    quiet.finish()
    start_seconds = (monotonic() - began) / 2  # no more, so that some of the run is left
    expected = quiet.written()
    assert len(expected[0]) > 100_000
    assert expected[1]
    hits = 0
    for number in range(kills):
        disturbed = Trial(directory / f"disturbed-{number}", lines)
        for moment in sorted(random.uniform(0, 1.05) for _ in range(kills - hits)):
            at_start = random.random() < 0.2
            exit_code, written = kill_when(
                disturbed,
                0 if at_start else min(1, moment) * quiet.size(),
                random.uniform(0, start_seconds if at_start else 0.03),
            )
            assert exit_code in (0, -signal.SIGKILL)
            for all_of_it, part in zip(expected, written, strict=True):
                assert all_of_it.startswith(part)
            hits += exit_code == -signal.SIGKILL and written != expected
        disturbed.finish()

        assert disturbed.written() == expected
        if hits == kills:
            return
    pytest.fail(f"only {hits} of {kills} kills hit a run")


def test_a_killed_run_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """Killed ten times, a run leaves the same bytes in its outputs as an undisturbed one."""
    kills_leave_no_trace(tmp_path, seed=1, kills=10)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 22))
def test_two_hundred_kills_leave_no_trace(tmp_path: Path, seed: int) -> None:
    """The same with other feeds and other moments, two hundred kills in all."""
    kills_leave_no_trace(tmp_path, seed, kills=10)
