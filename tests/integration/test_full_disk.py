"""The service on a disk that is full: it stops and says so, and loses nothing."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.kafka_trial import Trial

DISK_BYTES = 8 << 20
FAILED = 1


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk, in a namespace where any user may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounting = f"mount -t tmpfs -o size={DISK_BYTES} tmpfs '{place}' && echo mounted && exec cat"
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounting]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdin
        assert holder.stdout
        if holder.stdout.readline() != "mounted\n":
            pytest.skip("a user may not mount a disk of their own here")
        try:
            yield Path(f"/proc/{holder.pid}/root{place}")
        finally:
            holder.stdin.close()


def fill(disk: Path) -> Path:
    """Leave no byte free; return what takes the room."""
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return ballast


def test_a_full_disk_stops_the_service_and_nothing_is_lost(
    broker: Broker, names: Names, tmp_path: Path, disk: Path
) -> None:
    """Full while it runs, full when it starts; once there is room it goes on as if nothing was."""
    trial = Trial(broker, names, tmp_path)
    index = replace(trial.settings.index, directory=str(disk / "index"))
    trial.settings = replace(trial.settings, index=index)
    trial.feed(80)
    with trial.process() as running:
        trial.await_verdicts(running)
        ballast = fill(disk)
        trial.feed(160)
        said = running.ends_with(FAILED)
    assert "No space left on device" in said
    assert "ake room" in said
    assert "Traceback" not in said

    for role in ("match", "sign"):
        with trial.process(role) as running:
            said = running.ends_with(FAILED)
        assert "No space left on device" in said

    ballast.unlink()
    trial.runs_to_the_end()
    trial.audit()
