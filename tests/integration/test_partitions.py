"""Who owns what changes while documents are under way: nothing is lost, doubled or said by two."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from msgspec.structs import replace

from stream_dedup.config import Settings
from stream_dedup.errors import Unavailable
from stream_dedup.kafka.replay import PARTITION
from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.index_views import next_offset
from tests.integration.kafka_trial import SECONDS_MAX, Running, Trial

SHARE = r"partitions assigned.*partitions=\d"
EVENTS = 120
LOAD = 10  # events, again and again
LONG_SESSION_SECONDS = 6


def named(settings: Settings, name: str, folder: Path) -> Settings:
    """Return the settings of another instance."""
    return replace(
        settings,
        kafka=replace(settings.kafka, instance=name),
        index=replace(settings.index, directory=str(folder / name)),
    )


def test_signers_that_die_and_join_share_the_documents(
    broker: Broker, names: Names, tmp_path: Path
) -> None:
    """One is killed with a transaction open, another one joins while documents are under way."""
    trial = Trial(broker, names, tmp_path, partitions=3)
    two, three = (named(trial.settings, name, tmp_path) for name in ("two", "three"))
    trial.feed(EVENTS)
    with trial.process("match") as matcher, trial.process("sign") as first:
        trial.await_said(first, SHARE)
        with trial.process("sign", two, freeze=("sign: after offsets", 1)) as second:
            feed_until(trial, second, second.is_frozen)
            second.process.kill()
        with trial.process("sign", three) as third:
            feed_until(trial, third, lambda: third.has_said(SHARE))
            trial.feed(EVENTS)
            trial.await_verdicts(matcher)
            third.stops()
        first.stops()
        matcher.stops()
    trial.audit()


def feed_until(trial: Trial, running: Running, holds: Callable[[], bool]) -> None:
    """Write documents again and again until something holds."""

    def is_done() -> bool:
        trial.feed(LOAD)
        return holds()

    trial.await_that(running, is_done)


def fence(trial: Trial, role: str) -> None:
    """End the transaction of a role as the broker does once its time is over."""
    kafka = trial.settings.kafka
    name = kafka.instance if role == "sign" else str(PARTITION)
    trial.clients.producer(f"{kafka.application}-{role}-{name}").init_transactions(SECONDS_MAX)


STEPS = [
    "match: after offsets",
    *(
        pytest.param(step, marks=pytest.mark.soak)
        for step in ("match: consumed", "match: before offsets")
    ),
]


@pytest.mark.parametrize("step", STEPS)
def test_who_lost_the_log_in_the_middle_of_a_batch_does_nothing_more(
    broker: Broker, names: Names, tmp_path: Path, step: str
) -> None:
    """It freezes, another one takes over and answers; when it goes on it writes nothing."""
    trial = Trial(broker, names, tmp_path)
    first, other = trial.settings, named(trial.settings, "two", tmp_path)
    trial.feed(EVENTS)
    with trial.process("sign") as signer, trial.process("match", freeze=(step, 2)) as owner:
        trial.await_that(owner, owner.is_frozen)
        before = next_offset(first)
        with trial.process("match", other) as standby:
            trial.await_verdicts(standby)
            owner.goes_on()
            trial.feed(LOAD)
            said = owner.ends_with(Unavailable.exit_code)
            assert "another process works as" in said
            trial.await_verdicts(standby)
            standby.stops()
        signer.stops()
    assert next_offset(first) == before
    trial.check_index(before)
    trial.settings = other
    trial.audit()


@pytest.mark.parametrize("role", ["sign", "match"])
def test_who_was_missed_by_nobody_goes_on(
    broker: Broker, names: Names, tmp_path: Path, role: str
) -> None:
    """Session and transaction have ended when it comes back, and nobody is in its place."""
    trial = Trial(broker, names, tmp_path)
    trial.feed(EVENTS)
    with trial.process(freeze=(f"{role}: after offsets", 2)) as running:
        trial.await_that(running, lambda: running.is_frozen() and not trial.members(role))
        fence(trial, role)
        running.goes_on()
        trial.await_verdicts(running)
        running.stops()
    trial.audit()


@pytest.mark.parametrize("role", ["sign", "match"])
def test_who_comes_back_is_not_taken_for_another_one(
    broker: Broker, names: Names, tmp_path: Path, role: str
) -> None:
    """It has given up its session, which the broker began anew, and its transaction has ended."""
    trial = Trial(broker, names, tmp_path)
    client = {**trial.settings.kafka.client, "session.timeout.ms": 1000 * LONG_SESSION_SECONDS}
    settings = replace(trial.settings, kafka=replace(trial.settings.kafka, client=client))
    trial.feed(EVENTS)
    with trial.process(settings=settings, freeze=(f"{role}: after offsets", 2)) as running:
        trial.await_that(running, running.is_frozen)
        frozen_at = monotonic()
        trial.await_that(running, lambda: monotonic() > frozen_at + LONG_SESSION_SECONDS / 2)
        broker.restart()
        fence(trial, role)
        trial.await_that(running, lambda: monotonic() > frozen_at + LONG_SESSION_SECONDS)
        assert trial.members(role), "the session has ended for the broker as well"
        running.goes_on()
        trial.await_verdicts(running)
        running.stops()
    trial.audit()
