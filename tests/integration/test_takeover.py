"""An instance that stands by has the index already, however large it is, when the owner dies."""

import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import TimeoutExpired
from time import monotonic

import pytest
from confluent_kafka import OFFSET_END, Consumer, TopicPartition
from msgspec.structs import replace

from benchmarks.signed_log import write_log
from stream_dedup.config import EventsSettings, Settings
from stream_dedup.errors import StreamDedupError
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.upkeep.standing import standing
from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.kafka_trial import SECONDS_MAX, Running, Trial

# Beyond the session, after which the owner is known to be dead. Few documents take no longer, but
# other tests may run beside them.
TAKEOVER_SECONDS_MAX = 5
BUSY_SECONDS_MAX = 60
LONG = pytest.param(500_000, TAKEOVER_SECONDS_MAX, marks=pytest.mark.soak)
FOLLOWED_PER_SECOND = 1000  # at least, on a busy machine
TEXT = "The harbour of the old town was closed on Monday after a ship had lost its cargo of timber."


def has_come_to(settings: Settings, end: int) -> bool:
    """Tell whether the index of a process is that far."""
    try:
        with closing(
            RocksIndex.open(settings.index.directory, settings.index, mode="view")
        ) as index:
            state = standing(index.meta())
    except StreamDedupError:  # not made yet
        return False
    return state is not None and state.next_offset >= end


def wait_for(seconds: float, running: Running, holds: Callable[[], bool]) -> None:
    give_up = monotonic() + seconds
    while not holds():
        assert running.process.poll() is None, running.said()
        assert monotonic() < give_up, running.said()
        with pytest.raises(TimeoutExpired):
            running.process.wait(0.5)


def seconds_to_the_first_verdict(trial: Trial, verdicts: Consumer, standby: Running) -> float:
    """Write a document twice, and wait for what is said of the second."""
    started = monotonic()
    for name in ("a", "b"):
        trial.write(json.dumps({"id": name, "text": TEXT}).encode(), name)
    while not [found for found in verdicts.consume(1, 0.05) if not found.error()]:
        assert standby.process.poll() is None, standby.said()
        assert monotonic() < started + SECONDS_MAX, standby.said()
    return monotonic() - started


@pytest.mark.parametrize(("documents", "seconds_max"), [(5000, BUSY_SECONDS_MAX), LONG])
def test_a_standby_answers_soon(
    broker: Broker, names: Names, tmp_path: Path, documents: int, seconds_max: float
) -> None:
    """From the owner's end to the next verdict it takes the session and a few seconds at most."""
    trial = Trial(broker, names, tmp_path)
    owned = replace(
        trial.settings,
        events=EventsSettings(emit="matches"),
        kafka=replace(trial.settings.kafka, batch_size_max=2000),
    )
    standing_by = replace(
        owned,
        kafka=replace(owned.kafka, instance="two"),
        index=replace(owned.index, directory=str(tmp_path / "standby")),
    )
    write_log(owned, documents)
    trial.set_offset("sign", owned.kafka.topics.documents, 0)  # or the log were no first start's
    topic = owned.kafka.topics.matches
    seconds = SECONDS_MAX + documents / FOLLOWED_PER_SECOND
    with (
        trial.process("match", settings=owned) as owner,
        trial.process("sign", settings=owned) as signer,
        closing(trial.clients.reader(**{"auto.offset.reset": "latest"})) as verdicts,
    ):
        wait_for(seconds, owner, lambda: trial.committed("match") >= documents)
        with trial.process("match", settings=standing_by) as standby:
            wait_for(seconds, standby, lambda: has_come_to(standing_by, documents))
            partitions = verdicts.list_topics(topic, timeout=SECONDS_MAX).topics[topic].partitions
            verdicts.assign([TopicPartition(topic, number, OFFSET_END) for number in partitions])
            verdicts.consume(1, 1)  # which finds the ends
            owner.process.kill()
            waited = seconds_to_the_first_verdict(trial, verdicts, standby)
            sys.stdout.write(f"{waited:.1f} seconds after {documents:,} documents\n")
            assert waited < broker.session_seconds + seconds_max, standby.said()
            standby.stops()
        signer.stops()
