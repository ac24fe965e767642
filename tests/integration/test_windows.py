"""Generations of the index change and the log is purged: whoever dies then loses nothing."""

import shutil
from pathlib import Path
from time import time

import pytest

from stream_dedup.kafka.messages import ORIGINAL_TIMESTAMP
from stream_dedup.quantities import Duration
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names
from tests.integration.kafka_trial import Trial, create

EVENTS = 480
SECONDS = 2.0
YEAR_SECONDS = 365 * 86400
STEPS = ["index: rotating", "index: dropped", "index: rotated"]


def windowed(broker: Broker, names: Names, folder: Path, by: str = "published") -> Trial:
    """Make an application with a window that passes many times."""
    index = {"window": Duration(SECONDS), "window_by": by}
    return Trial(broker, names, folder, index=index)


@pytest.mark.parametrize("step", [*STEPS, "match: purging"])
def test_dying_while_the_window_moves_changes_nothing(
    broker: Broker, names: Names, tmp_path: Path, step: str
) -> None:
    """Every event is answered as if nothing had happened, and what lives is still in the log."""
    trial = windowed(broker, names, tmp_path)
    trial.feed(EVENTS)
    trial.sign_all()
    trial.dies_at(step, 3, "match")
    trial.dies_at("match: before offsets", 2, "match")  # one batch later
    trial.check_nothing_living_was_purged()
    trial.feed(EVENTS // 4)
    trial.sign_all()
    trial.runs_to_the_end("match")
    trial.audit()
    trial.check_nothing_living_was_purged()


def test_a_lost_index_is_made_from_what_was_not_purged(
    broker: Broker, names: Names, tmp_path: Path
) -> None:
    """It knows each document of the window, and what comes later is answered, once each."""
    trial = windowed(broker, names, tmp_path)
    trial.feed(EVENTS)
    trial.sign_all()
    trial.runs_to_the_end("match")
    trial.check_nothing_living_was_purged()
    shutil.rmtree(tmp_path / "index")
    trial.feed(EVENTS // 4)
    trial.runs_to_the_end()
    trial.check_offsets()
    assert [verdict.record.offset for verdict in trial.verdicts()] == list(range(5 * EVENTS // 4))


def test_a_stop_for_longer_than_the_window_changes_nothing(
    broker: Broker, names: Names, tmp_path: Path
) -> None:
    """By the log's own times: what came while nobody matched is matched as if somebody had."""
    trial = windowed(broker, names, tmp_path, "arrival")
    trial.feed(EVENTS // 4)
    trial.runs_to_the_end()
    for _ in range(4):  # each takes longer than half a window
        trial.feed(EVENTS // 8)
        trial.sign_all()
    trial.runs_to_the_end("match")
    trial.audit()


def test_a_backfill_of_old_records_is_matched_as_it_comes(
    broker: Broker, names: Names, tmp_path: Path
) -> None:
    """What was written decades ago, the latest first, has a window from when the log took it."""
    create(broker, names.topics().documents, 1, retention_ms="-1")
    trial = Trial(broker, names, tmp_path, index={"window": Duration(3600), "window_by": "arrival"})
    trial.feed(EVENTS // 10)
    for years in (1, 20, 40):
        trial.feed(EVENTS // 10, written=round(1000 * (time() - years * YEAR_SECONDS)))
    trial.runs_to_the_end()
    trial.audit()
    assert {verdict.type for verdict in trial.verdicts()} > {"unique", "duplicate"}
    written = [
        int(dict(record.headers)[ORIGINAL_TIMESTAMP] or b"")
        for record in read_all(broker, names.topics().matches)
    ]
    assert max(written) - min(written) > 1000 * 39 * YEAR_SECONDS
