"""What README.md tells to type, typed: the service, and Kafka's own tools on its other side."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from time import monotonic

import pytest

from tests.integration.brokers import (
    ENVIRONMENT,
    TOOL_SECONDS_MAX,
    KafkaProcess,
    needs_jars,
    needs_java_and_maven,
)

ROOT = Path(__file__).parents[2]
ADDRESS = "localhost:9092"
FILE_RUN = "stream-dedup run --input demo/articles.jsonl --window none --index files"

Process = subprocess.Popen[str]


def commands() -> list[str]:
    """Return the commands of the section on Kafka, in their order."""
    section = re.split("^## ", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    (kafka,) = [text for text in section if text.startswith("Kafka\n")]
    blocks = re.findall("^```\n(.*?)^```", kafka, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def typed(pattern: str) -> str:
    """Return the one command that holds this."""
    (command,) = [command for command in commands() if re.search(pattern, command)]
    return command


@contextmanager
def terminal(command: str, folder: Path, address: str) -> Iterator[Process]:
    """Run a command in a shell, against the broker of the test."""
    scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {
        "PATH": scripts,
        "STREAM_DEDUP_KAFKA__BOOTSTRAP_SERVERS": address,
        "STREAM_DEDUP_HTTP__PORT": "0",  # other tests serve beside this one
    }
    log = folder / f"{shlex.split(command)[0]}.log"
    with (
        log.open("w") as said,
        subprocess.Popen(
            f"exec {command.replace(ADDRESS, address)}",
            shell=True,
            cwd=folder,
            env=ENVIRONMENT | environ,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def await_said(process: Process, log: Path, words: str) -> None:
    """Wait until a program has said something, as who types commands does."""
    give_up = monotonic() + TOOL_SECONDS_MAX
    while words not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert monotonic() < give_up, log.read_text()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)


def first_lines(process: Process, count: int) -> list[str]:
    """Return so many lines of what a command prints that goes on; end it if it prints too few."""
    bound = Timer(TOOL_SECONDS_MAX, process.kill)
    bound.start()
    assert process.stdout
    lines = [process.stdout.readline() for _ in range(count)]
    bound.cancel()
    return lines


def summary(lines: list[str]) -> list[tuple[str, str, list[str]]]:
    """Return what verdicts say: of which document, what it is, which ones it resembles."""
    verdicts = [json.loads(line) for line in lines]
    return [
        (each["document"]["id"], each["type"], [match["id"] for match in each["matches"]])
        for each in verdicts
    ]


@needs_java_and_maven
@needs_jars
@pytest.mark.parametrize(
    ("consumer", "producer"),
    [
        ("ConsoleConsumer", "ConsoleProducer"),
        pytest.param(
            "kcat .* -C",
            "kcat .* -P",
            marks=pytest.mark.skipif(
                not shutil.which("kcat") and "CI" not in os.environ, reason="kcat is not there"
            ),
        ),
    ],
)
def test_the_quick_start_works_as_typed(tmp_path: Path, consumer: str, producer: str) -> None:
    """The articles of the demo go in, the verdicts that a file run prints come out."""
    for name in ("demo", "deploy"):
        (tmp_path / name).symlink_to(ROOT / name)
    with terminal(FILE_RUN, tmp_path, ADDRESS) as run:
        expected = summary(run.communicate(timeout=TOOL_SECONDS_MAX)[0].splitlines())
    assert expected

    assert typed("^make kafka$")  # runs what follows
    broker = KafkaProcess(tmp_path / "data")
    try:
        address = ADDRESS.replace("9092", broker.address().rpartition(":")[2])
        with terminal(typed("^stream-dedup run$"), tmp_path, address) as service:
            await_said(service, tmp_path / "stream-dedup.log", "matching")  # the topics are there
            with terminal(typed(consumer), tmp_path, address) as reader:
                with terminal(typed(producer), tmp_path, address) as writer:
                    assert writer.wait(TOOL_SECONDS_MAX) == 0
                assert summary(first_lines(reader, len(expected))) == expected
            service.send_signal(signal.SIGTERM)
            assert service.wait(TOOL_SECONDS_MAX) == 0
    finally:
        broker.close()
