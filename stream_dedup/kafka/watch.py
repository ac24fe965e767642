"""A look at the roles from outside, now and then: at what they cannot tell while they wait."""

import logging
import time
from collections.abc import Callable, Sequence
from threading import Event, Thread

from stream_dedup.errors import StreamDedupError
from stream_dedup.kafka.backlog import Backlog
from stream_dedup.kafka.clients import Clients
from stream_dedup.metrics import READY, WAITING
from stream_dedup.panel import Panel

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
# The broker and the index are asked less often: that costs something.
_MEASURE_SECONDS = 5.0


class Watch:
    """Looks until stopped, in a thread of its own: a broker that is away delays nobody."""

    def __init__(
        self,
        clients: Clients,
        backlog: Backlog,
        roles: Sequence[Thread],
        panel: Panel,
        measures: Sequence[Callable[[], None]],
    ) -> None:
        """Take threads that are named after their roles, and what else is to be measured."""
        self._clients, self._backlog, self._roles = clients, backlog, roles
        self._metrics, self._health, self._live = panel.metrics, panel.health, panel.live
        self._measures = measures

    def run(self, stopped: Event) -> None:
        """Look; whatever goes wrong, the next look comes: nobody would see that none does."""
        measured = -_MEASURE_SECONDS
        while not stopped.wait(_LOOK_SECONDS):
            try:
                self._look()
                if time.monotonic() >= measured + _MEASURE_SECONDS:
                    self._measure()
                    measured = time.monotonic()
            except Exception:
                _log.exception("not looked at")
        self._backlog.close()

    def _measure(self) -> None:
        for measure in self._measures:
            try:
                measure()
            except (StreamDedupError, OSError) as error:  # the roles stumble over it themselves
                _log.warning("not measured: %s", error)
        reason = ""
        if self._backlog.sample():
            self._clients.trouble = None
        else:
            reason = f"no answer from the broker{self._trouble()}"
        self._health.hinder("broker", reason)

    def _look(self) -> None:
        for role in self._roles:
            is_stuck = self._clients.waits.is_stuck(role)
            reason = f"waits for the broker{self._trouble()}" if is_stuck else ""
            self._health.hinder(role.name, reason)
            self._metrics.set(WAITING, is_stuck, role.name)
        self._metrics.set(READY, self._health.ready().ok)
        self._live.settle()

    def _trouble(self) -> str:
        trouble = self._clients.trouble
        return f": {trouble.str()}" if trouble else ""
