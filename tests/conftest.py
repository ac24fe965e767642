"""What all tests share: how hypothesis searches and reports, and a place for commands to run."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.integration import brokers

# A busy machine is not a failure; a failing example prints what reproduces it.
settings.register_profile("house", deadline=None, print_blob=True)
# For who asks only whether there is an example, not for the smallest one.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
settings.register_profile("unshrunk", settings.get_profile("house"), phases=PHASES)
settings.load_profile("house")
# Tests that a shell started in the background, with `&`, would let all their processes ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """Say which Kafka the tests will use: only a conftest.py at the root is asked."""
    return brokers.header()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let commands run in this process, in an empty directory, without settings of ours."""
    for name in [name for name in os.environ if name.startswith("STREAM_DEDUP_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
