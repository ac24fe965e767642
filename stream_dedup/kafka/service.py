"""The service: its roles, a thread each, until it is stopped or one of them cannot go on."""

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from threading import Event, Thread
from traceback import clear_frames
from types import TracebackType
from typing import Literal

from stream_dedup.config import Settings
from stream_dedup.engine import Matcher
from stream_dedup.errors import Unavailable
from stream_dedup.interfaces import Index
from stream_dedup.interpreter import attune
from stream_dedup.kafka.backlog import Backlog
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.match_stage import MatchStage
from stream_dedup.kafka.sign_stage import SignStage
from stream_dedup.kafka.topics import ensure, topic_id
from stream_dedup.kafka.vitals import Vitals
from stream_dedup.kafka.watch import Watch
from stream_dedup.logs import fields
from stream_dedup.panel import Panel
from stream_dedup.rehearsal import rehearse

_log = logging.getLogger(__name__)

Role = Literal["all", "sign", "match"]

_LOOK_SECONDS = 0.2


def no_step(_name: str) -> None:
    """Let every step pass."""


class Service:
    """Runs one role or both."""

    def __init__(
        self,
        settings: Settings,
        role: Role,
        index: Index | None,
        on_step: Callable[[str], None] = no_step,
        panel: Panel | None = None,
    ) -> None:
        """Prepare the roles; `match` needs an index."""
        panel = panel or Panel.of(settings)

        def named(stage: str) -> Callable[[str], None]:
            return lambda step: on_step(f"{stage}: {step}")

        self._clients = clients = Clients(settings.kafka)
        clients.check()
        ensure(clients, settings)
        rehearse(settings)
        admin, topics = clients.admin(), settings.kafka.topics
        self._timeout = settings.kafka.shutdown_timeout_seconds
        self._failures: list[BaseException] = []
        self._stages: dict[str, MatchStage | SignStage] = {}
        self.measures: list[Callable[[], None]] = []  # what else is to be looked at now and then
        self._match = match = None
        if role != "sign":
            assert index is not None, "the role match has an index"
            log_id, vitals = topic_id(admin, topics.signatures), Vitals("match", panel)
            self._match = match = MatchStage(
                clients, settings, log_id, index, vitals, named("match")
            )
            self._stages["match"] = match
        if role != "match":
            self._stages["sign"] = SignStage(
                clients,
                settings,
                topic_id(admin, topics.documents),
                lambda: match is not None and match.lag_bytes > settings.kafka.lag_bytes_max,
                Vitals("sign", panel),
                named("sign"),
            )
        kafka = settings.kafka
        self._panel, self._backlog = panel, Backlog(clients, kafka, self._stages, panel.metrics)
        names = fields(role=role, application=kafka.application, instance=kafka.instance)
        _log.info("started", extra=names)

    def matcher(self) -> Matcher:
        """Return who decides at the moment; only where there is the role match."""
        assert self._match is not None, "the role sign decides nothing"
        return self._match.matcher

    def run(self, stopped: Event) -> None:
        """Work until stopped; what one role cannot get over ends the others too."""
        attune()
        threads = [
            # Not waited for at the end of the process: one that hangs must not hold it.
            Thread(target=self._work, args=(stage, stopped), name=name, daemon=True)
            for name, stage in self._stages.items()
        ]
        watch = Watch(self._clients, self._backlog, threads, self._panel, self.measures)
        watching = Thread(target=watch.run, args=(stopped,), name="watch", daemon=True)
        for thread in [*threads, watching]:
            thread.start()
        # A handler of signals that sets an event must not meet a wait for it in the same thread.
        while not stopped.is_set():
            time.sleep(_LOOK_SECONDS)
        self._panel.health.hinder("service", "stopping")
        give_up = time.monotonic() + self._timeout
        for thread in threads:
            while self._is_at_work(thread) and time.monotonic() < give_up:
                thread.join(_LOOK_SECONDS)
        if self._failures:
            raise self._failures[0]
        if late := [thread.name for thread in threads if self._is_at_work(thread)]:
            raise Unavailable(
                f"{' and '.join(late)} did not end within kafka.shutdown_timeout_seconds"
            )
        _log.info("stopped")

    def _is_at_work(self, thread: Thread) -> bool:
        """Tell whether a thread is to be waited for: not where only a broker could end it."""
        return thread.is_alive() and not self._clients.waits.is_stuck(thread)

    def _work(self, stage: MatchStage | SignStage, stopped: Event) -> None:
        """Run a role; what ends it ends the others, and only then it leaves, for that may hang."""
        with ExitStack() as stack:
            stack.push(self._keep)
            stack.callback(stage.close)
            stack.callback(stopped.set)
            stack.push(self._keep)
            stage.run(stopped)

    def _keep(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Hand what went wrong to the thread that waits."""
        if error is not None:
            self._failures.append(error)
            # What its frames hold, such as clients, is let go here and not by who reads it.
            clear_frames(trace)
        return True
