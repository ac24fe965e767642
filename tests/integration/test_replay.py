"""The log read again: the index that comes of it is the one that was, whatever the settings now."""

import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from stream_dedup.config import Settings
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Keyspace
from stream_dedup.kafka.follower import Follower
from stream_dedup.kafka.replay import Replay
from stream_dedup.kafka.service import no_step
from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.index_views import rows
from tests.integration.kafka_trial import Trial

BANDS: Mapping[str, Any] = {"bands": 32, "rows": 4}  # for each threshold the same


@pytest.fixture
def trial(broker: Broker, names: Names, tmp_path: Path) -> Trial:
    """An application of its own."""
    return Trial(broker, names, tmp_path)


def with_threshold(settings: Settings, threshold: float) -> Settings:
    return replace(settings, similarity=replace(settings.similarity, threshold=threshold, **BANDS))


def rows_of(settings: Settings) -> dict[Keyspace, list[tuple[bytes, bytes]]]:
    with closing(RocksIndex.open(settings.index.directory, settings.index)) as index:
        return rows(index)


def test_a_limit_that_moves_on_leaves_nothing_out(trial: Trial) -> None:
    """Who follows an owner that is behind the log takes in each record, if somewhat later."""
    trial.feed(240)
    trial.sign_all()
    log = trial.log()
    follower = Follower(MemoryIndex(), trial.settings, trial.topic_id(), no_step)
    with closing(Replay(trial.clients, trial.settings, no_step)) as replay:
        for limit in range(5, log[-1].offset + 6, 5):
            while not replay.advance(follower, limit):
                pass

    assert follower.next_offset == log[-1].offset + 1
    assert rows(follower.index) == rows(trial.led_along(log))


def test_what_other_settings_decided_is_decided_again_as_it_was(trial: Trial) -> None:
    """An index that was lost comes back as it was, though the threshold has changed twice since."""
    for threshold, events in ((0.95, 160), (0.5, 40)):
        trial.settings = with_threshold(trial.settings, threshold)
        trial.feed(events)
        trial.runs_to_the_end()
    before = rows_of(trial.settings)
    for threshold in (0.95, 0.5):
        trial.settings = with_threshold(trial.settings, threshold)
        assert rows(trial.led_along(trial.log())) != before
    shutil.rmtree(trial.settings.index.directory)

    trial.settings = with_threshold(trial.settings, 0.8)
    with trial.process("match") as running:
        trial.await_said(running, "matching")
        running.stops()
    assert rows_of(trial.settings) == before
