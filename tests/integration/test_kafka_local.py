import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.brokers import (
    ENVIRONMENT,
    FOLDER,
    TOOL_SECONDS_MAX,
    KafkaProcess,
    needs_jars,
    needs_java_and_maven,
)


@contextmanager
def broker(data: Path) -> Iterator[KafkaProcess]:
    """Run one and leave nothing of it behind."""
    started = KafkaProcess(data)
    try:
        yield started
    finally:
        started.close()


def attempt(
    *arguments: str, script: Path = FOLDER / "broker.py", **environ: str
) -> tuple[int, str]:
    """Run a broker that will not start; return its exit code and what it says about it."""
    result = subprocess.run(
        [sys.executable, str(script), *arguments],
        capture_output=True,
        text=True,
        env=ENVIRONMENT | environ,
        timeout=TOOL_SECONDS_MAX,
        check=False,
    )
    assert result.stdout == ""
    return result.returncode, result.stderr


def kafka(tool: str, *arguments: str) -> str:
    """Run one of Kafka's own commands; return what it prints."""
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{FOLDER}/libs/*", tool, *arguments]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=TOOL_SECONDS_MAX, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@needs_java_and_maven
@needs_jars
def test_a_restart_keeps_topics_and_committed_records(tmp_path: Path) -> None:
    """Transactions work on one node, and what they committed is there after a restart."""
    data = tmp_path / "a folder, not made yet"
    with broker(data) as first:
        servers = f"--bootstrap-server={first.address()}"
        kafka("org.apache.kafka.tools.TopicCommand", servers, "--create", "--topic=kept")
        kafka(
            "org.apache.kafka.tools.ProducerPerformance",
            *("--topic", "kept", "--num-records", "100", "--record-size", "10"),
            *("--throughput", "-1", "--transactional-id", "writer"),
            *("--bootstrap-server", servers.partition("=")[2]),
        )
        assert (first.terminate(), first.is_gone()) == (0, True)

    with broker(data) as second:
        records = kafka(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            f"--bootstrap-server={second.address()}",
            *("--topic=kept", "--partition=0", "--offset=earliest"),
            *("--isolation-level=read_committed", "--max-messages=100", "--timeout-ms=60000"),
        )
        assert len(records.splitlines()) == 100


@needs_java_and_maven
@needs_jars
def test_a_running_broker_is_left_alone_until_ctrl_c(tmp_path: Path) -> None:
    """A second broker on the same data is told so; Ctrl-C ends the first and all it started."""
    with broker(tmp_path) as running:
        assert re.fullmatch(r"127\.0\.0\.1:\d+", running.address())
        code, said = attempt("--port=0", f"--data={tmp_path}")

        assert code == 2
        assert f"another broker is running on the data in {tmp_path}" in said
        assert "make kafka DATA=" in said
        assert (running.interrupt(), running.is_gone()) == (130, True)


@needs_java_and_maven
@needs_jars
def test_ctrl_c_ends_a_broker_that_is_still_starting(tmp_path: Path) -> None:
    """Ctrl-C leaves no process behind while Kafka is being started either."""
    with broker(tmp_path) as starting:
        assert starting.says("Starting Kafka")
        assert (starting.interrupt(), starting.is_gone()) == (130, True)


def test_a_taken_port_is_named_and_what_to_type_instead(tmp_path: Path) -> None:
    """Where the port is taken, the error tells how to take another; no data is touched."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = attempt(f"--port={port}", f"--data={tmp_path / 'data'}")

    assert code == 2
    assert said.startswith(f"error: port {port} cannot be used: Address already in use;")
    assert "make kafka PORT=0" in said
    assert not (tmp_path / "data").exists()


def fake(tmp_path: Path, **programs: str) -> str:
    """Make a folder to search for programs that has only these shell scripts; return its path."""
    for name, script in programs.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return str(tmp_path)


def test_missing_programs_are_named_in_one_line(tmp_path: Path) -> None:
    """Without Java and Maven one line says what is needed, what is missing and how to get it."""
    shutil.copy(FOLDER / "broker.py", tmp_path)  # where no jars are beside it
    shutil.copy(FOLDER / "pom.xml", tmp_path)
    code, said = attempt("--port=0", script=tmp_path / "broker.py", PATH=fake(tmp_path / "none"))

    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith("error: Java 17+ and Maven are needed for a local Kafka;")
    assert "not found: java and mvn" in said


def test_an_old_java_is_named(tmp_path: Path) -> None:
    """A Java that is too old is told by its own words, before anything is fetched."""
    path = fake(tmp_path, java="echo 'openjdk version \"11.0.2\" 2019-01-15' >&2", mvn="exit 1")
    code, said = attempt("--port=0", PATH=path)

    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith("error: Java 17+ and Maven are needed for a local Kafka;")
    assert 'java says: openjdk version "11.0.2"' in said
