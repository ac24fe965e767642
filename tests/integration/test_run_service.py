"""`stream-dedup run` without --input as a process that finds no broker."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SECONDS_MAX = 60  # on a busy machine; what hangs takes longer


@contextmanager
def service(folder: Path, address: str) -> Iterator["subprocess.Popen[str]"]:
    """Run the service in a folder, and kill it if it is still there at the end."""
    words = f"-m stream_dedup run --set kafka.bootstrap_servers={address} --index index"
    with subprocess.Popen(
        [sys.executable, *words.split()], cwd=folder, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_without_a_broker_it_ends_and_says_what_to_do(tmp_path: Path) -> None:
    """It says at once that it waits, and within a bound what is wrong and which ways there are."""
    with service(tmp_path, "127.0.0.1:1") as process:
        _, said = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 1
    assert "waiting for a broker servers=127.0.0.1:1" in said
    error = said[said.index("error: kafka.bootstrap_servers = 127.0.0.1:1: no broker answers") :]
    for part in ("Connection refused", "`make kafka`", "kafka.client", "--input FILE"):
        assert part in error


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_wait_for_a_broker(tmp_path: Path, number: int, code: int) -> None:
    """Whoever stops it need not wait with it, even where something listens and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with service(tmp_path, address) as process:
            assert process.stderr
            assert any("waiting for a broker" in line for line in process.stderr)
            process.send_signal(number)
            assert process.wait(SECONDS_MAX) == code
