"""A process that dies at any step of its work leaves nothing lost, doubled or half done."""

from pathlib import Path

import pytest

from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.kafka_trial import Trial
from tests.integration.service_process import DIED

EVENTS = 240
# After the offsets is before the commit: nothing of ours lies between.
TRANSACTION = ("begun", "half produced", "before offsets", "after offsets", "after commit")
STEPS = [
    *(f"sign: {step}" for step in ("consumed", *TRANSACTION)),
    *(f"match: {step}" for step in ("consumed", *TRANSACTION, "before index", "after index")),
]


@pytest.mark.parametrize("step", STEPS)
def test_dying_at_a_step_changes_nothing(
    broker: Broker, names: Names, tmp_path: Path, step: str
) -> None:
    """Every event is answered once and as if nothing had happened; so is what comes later."""
    trial = Trial(broker, names, tmp_path)
    trial.feed(EVENTS // 2)
    trial.dies_at(step, 2)
    trial.feed(EVENTS // 2)
    trial.runs_to_the_end()
    trial.audit()


def test_dying_in_a_replay_changes_nothing(broker: Broker, names: Names, tmp_path: Path) -> None:
    """An index that was lost is made anew from the log, also in two attempts."""
    trial = Trial(broker, names, tmp_path)
    trial.feed(EVENTS // 2)
    trial.runs_to_the_end()
    for path in (tmp_path / "index").iterdir():
        path.unlink()
    trial.dies_at("match: replayed", 2)
    trial.feed(EVENTS // 2)
    trial.runs_to_the_end()
    trial.audit()


@pytest.mark.parametrize("stage", ["sign", "match"])
def test_dying_while_partitions_go_changes_nothing(
    broker: Broker, names: Names, tmp_path: Path, stage: str
) -> None:
    """Who dies in a rebalance has nothing under way."""
    trial = Trial(broker, names, tmp_path)
    trial.feed(EVENTS // 2)
    with trial.process(death=(f"{stage}: revoked", 1)) as running:
        trial.await_verdicts(running)
        running.process.terminate()
        running.ends_with(DIED)
    trial.feed(EVENTS // 2)
    trial.runs_to_the_end()
    trial.audit()
