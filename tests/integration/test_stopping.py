"""The service is stopped while the broker does not answer: it ends soon, and nothing is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.kafka_trial import SECONDS_MAX, Running, Trial

EVENTS = 400


@pytest.fixture
def trial(broker: Broker, names: Names, tmp_path: Path) -> Trial:
    """An application of its own, fed."""
    trial = Trial(broker, names, tmp_path)
    trial.feed(EVENTS)
    return trial


@contextmanager
def frozen(broker: Broker) -> Iterator[None]:
    """Let the broker answer nothing meanwhile."""
    broker.pause()
    try:
        yield
    finally:
        broker.resume()


def ends(running: Running) -> None:
    """Stop it as a supervisor does. If it waited for an answer it would end with 1, and late."""
    running.process.terminate()
    assert running.process.wait(SECONDS_MAX) == 0, running.said()
    assert "Traceback" not in running.said()


def test_whoever_is_idle_ends_without_a_broker(trial: Trial) -> None:
    """To leave its groups takes an answer; it is not waited for."""
    with trial.process() as running:
        trial.await_verdicts(running)
        with frozen(trial.broker):
            ends(running)
    trial.audit()


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.soak)])
def test_whoever_is_at_work_ends_without_a_broker(trial: Trial, count: int) -> None:
    """Wherever the answers stop coming, the next start goes on from what was committed."""
    with trial.process() as running:
        trial.await_verdicts(running, count)
        with frozen(trial.broker):
            ends(running)
    trial.runs_to_the_end()
    trial.audit()


@pytest.mark.parametrize(
    "words", [pytest.param("started", marks=pytest.mark.soak), "partitions assigned"]
)
def test_whoever_starts_ends_without_a_broker(trial: Trial, words: str) -> None:
    """Before its first transaction it waits for a coordinator, for offsets, for its place."""
    with trial.process() as running:
        trial.await_said(running, words)
        with frozen(trial.broker):
            ends(running)
    trial.runs_to_the_end()
    trial.audit()
