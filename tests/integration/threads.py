"""The service in threads of the test's own process, where a test looks at what it shows."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic

from stream_dedup.config import Settings
from stream_dedup.engine import Matcher
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.index_gauges import IndexGauges
from stream_dedup.kafka.service import Service
from stream_dedup.panel import Panel

STOP_SECONDS_MAX = 180.0
WAIT_SECONDS_MAX = 180.0


class Steps:
    """Does something at steps of the stages; a stage goes on when it is done."""

    def __init__(self) -> None:
        self.acts: dict[str, Callable[[], None]] = {}

    def __call__(self, step: str) -> None:
        if act := self.acts.get(step):
            act()


@dataclass(frozen=True)
class Running:
    """What of a service can be read."""

    index: RocksIndex
    matcher: Callable[[], Matcher]
    thread: Thread

    def said(self) -> str:
        """Return what is known of its end; it logs to the test's own log."""
        return f"the service runs: {self.thread.is_alive()}"

    def assert_alive(self) -> None:
        """Fail if it has ended."""
        assert self.thread.is_alive(), self.said()

    def shows(self, wanted: object, look: Callable[[], object]) -> None:
        """Wait until a look at it shows what is wanted, while it runs."""
        give_up, pause = monotonic() + WAIT_SECONDS_MAX, Event()
        while (seen := look()) != wanted:
            self.assert_alive()
            assert monotonic() < give_up, seen
            pause.wait(0.05)


@contextmanager
def service(settings: Settings, panel: Panel, steps: Steps) -> Iterator[Running]:
    """Run the service in threads of this process, and stop it at the end."""
    stopped = Event()
    directory = settings.index.directory
    with closing(RocksIndex.open(directory, settings.index)) as index:
        made = Service(settings, "all", index, steps, panel)
        gauges = IndexGauges(index, directory, made.matcher, panel.metrics)
        made.measures.append(gauges.sample)
        thread = Thread(target=made.run, args=(stopped,))
        thread.start()
        try:
            yield Running(index, made.matcher, thread)
        finally:
            stopped.set()
            thread.join(STOP_SECONDS_MAX)
            assert not thread.is_alive()
