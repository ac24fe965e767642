"""Processes that are killed at any moment, and a broker that goes away, lose and repeat nothing."""

from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from subprocess import TimeoutExpired
from time import monotonic

import pytest

from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.kafka_trial import SECONDS_MAX, TRANSACTION_SECONDS, Running, Trial

FROZEN_SECONDS = TRANSACTION_SECONDS + 2.0  # sessions and transactions have ended by then
LOAD = 5  # events, every so often
SECONDS_BETWEEN = 0.1
KILLS_WITHOUT_PROGRESS = 0.3  # of all: in a start, a replay, or while another one is still member


class Killer:
    """Runs both roles under a steady load, and kills them."""

    def __init__(self, trial: Trial, seed: int, stack: ExitStack) -> None:
        self._trial, self._stack = trial, stack
        self._random = Random(seed)
        self._running: dict[str, Running] = {}
        for role in ("sign", "match"):
            self._start(role)

    def kill_one(self) -> None:
        """Kill one of them, mostly while it works, and start it again."""
        role = self._random.choice(["sign", "match"])
        if self._random.random() > KILLS_WITHOUT_PROGRESS:
            self.load_until_works(role)
        self.load_for(self._random.uniform(0, 1))
        process = self._running[role].process
        assert process.poll() is None, self._running[role].said()
        process.kill()
        process.wait()
        self._start(role)

    def load_until_works(self, role: str = "match") -> None:
        """Feed until a role has committed; for `match` to do so both are at work."""
        before, give_up = self._trial.committed(role), monotonic() + SECONDS_MAX
        while self._trial.committed(role) <= before:
            for running in self._running.values():
                assert running.process.poll() is None, running.said()
            assert monotonic() < give_up, self._running[role].said()
            self.load_for(SECONDS_BETWEEN)

    def finish(self) -> None:
        """Let them end what there is, and stop them."""
        self._trial.feed(LOAD)  # so that both are at work by then
        self._trial.await_verdicts(self._running["match"])
        for running in self._running.values():
            running.stops()

    def _start(self, role: str) -> None:
        self._running[role] = self._stack.enter_context(self._trial.process(role))

    def load_for(self, seconds: float) -> None:
        """Let them work for so long, and feed them all the while."""
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            self._trial.feed(LOAD)
            self.wait_for(min(left, SECONDS_BETWEEN))

    def wait_for(self, seconds: float) -> None:
        """Let them work for so long, and feed nothing: a frozen broker would not take it."""
        for running in self._running.values():
            with suppress(TimeoutExpired):
                running.process.wait(seconds / len(self._running))


LONG = [pytest.param(seed, 50, marks=pytest.mark.soak) for seed in (2, 3)]


@pytest.mark.parametrize(("seed", "kills"), [(1, 10), *LONG])
def test_random_kills_change_nothing(
    broker: Broker, names: Names, tmp_path: Path, seed: int, kills: int
) -> None:
    """Each event is answered once and rightly, also if the broker freezes and starts again."""
    trial = Trial(broker, names, tmp_path, seed)
    is_ours = broker.kind == "jvm"
    with ExitStack() as stack:
        killer = Killer(trial, seed, stack)
        for number in range(kills):
            if number == kills // 3 and is_ours:
                freeze(broker, killer)
            if number == 2 * kills // 3 and is_ours:
                killer.load_until_works()
                broker.restart()
            killer.kill_one()
        killer.finish()
    try:
        trial.audit()
    except AssertionError as error:
        raise AssertionError(f"seed {seed}") from error
    if not is_ours:
        pytest.skip(f"the kills were audited; a Kafka of kind {broker.kind!r} cannot be frozen")


def freeze(broker: Broker, killer: Killer) -> None:
    """Stop the broker for longer than a transaction may last."""
    killer.load_until_works()  # a process that only starts would not wait for a broker
    broker.pause()
    try:
        killer.wait_for(FROZEN_SECONDS)
    finally:
        broker.resume()
