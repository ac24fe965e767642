"""An audit that finds nothing is worth what it would have found: it fails on each of these bugs."""

from pathlib import Path

import pytest

from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.index_views import next_offset
from tests.integration.kafka_trial import Trial

EVENTS = 240
FENCED = ("sign: after offsets", 3)
APART = "index: rows written"


@pytest.fixture
def trial(broker: Broker, names: Names, tmp_path: Path) -> Trial:
    """An application of its own, fed."""
    trial = Trial(broker, names, tmp_path)
    trial.feed(EVENTS)
    return trial


def goes_on(trial: Trial, bug: str = "") -> None:
    """Run the service until it has nothing left to do."""
    with trial.process(bug=bug) as running:
        trial.await_the_end(running)
        running.stops()


def test_an_index_written_before_the_commit_is_found(trial: Trial) -> None:
    """Verdicts are missing of documents that the index knows and nobody was told of."""
    bug = "remember_before_the_commit"
    trial.sign_all()
    trial.dies_at("match: before offsets", 3, "match", bug)
    goes_on(trial, bug=bug)

    with pytest.raises(AssertionError):
        trial.check_verdicts()


def test_without_the_bug_a_fenced_transaction_is_done_again(trial: Trial) -> None:
    """A producer that another one took the place of is given up, and nothing is lost."""
    with trial.process("sign", fencing=FENCED) as running:
        trial.await_signed(running)
        running.stops()
    goes_on(trial)
    trial.audit()


def test_an_outcome_that_is_ignored_is_found(trial: Trial) -> None:
    """Documents are missing whose transaction was aborted and taken for committed."""
    with trial.process("sign", fencing=FENCED, bug="ignore_outcomes") as running:
        trial.await_signed(running)
        running.stops()
    goes_on(trial)

    with pytest.raises(AssertionError):
        trial.check_verdicts()


def test_a_producer_kept_after_it_failed_is_found(trial: Trial) -> None:
    """The index goes on to the end of the log, and nothing takes effect that is published."""
    trial.sign_all()
    end = trial.log()[-1].offset + 1
    at = ("match: after offsets", 3)
    with trial.process("match", bug="keep_the_producer", fencing=at) as running:
        trial.await_said(running, "matching")
        trial.await_that(running, lambda: next_offset(trial.settings) == end)

    with pytest.raises(AssertionError):
        trial.check_verdicts()
    with pytest.raises(AssertionError):
        trial.check_offsets()


def test_a_position_apart_from_its_rows_is_found(trial: Trial) -> None:
    """Records that are decided twice, over their own rows, make the index another one."""
    trial.sign_all()
    trial.dies_at(APART, 3, "match", "write_rows_and_position_apart")
    goes_on(trial)

    with pytest.raises(AssertionError):
        trial.check_index()
