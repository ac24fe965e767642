"""The service in a process to which things happen at any step: what the trials drive.

    python -m tests.integration.service_process SETTINGS ROLE [--at STEP COUNT OCCASION] …
        [--bug BUG]

SETTINGS is a file of settings; the environment counts as well. OCCASION is what happens at the
COUNT-th time that STEP is reached: `death`, the process ends as if it was killed there; `fencing`,
another producer takes its transactional id over; `freeze`, the process stops until SIGCONT; `hang`,
that step never ends. BUG is one of `faults.BUGS`. A text with DEADLY in it ends the process that
signs it, one with BROKEN makes signing fail. On SIGTERM it stops.
"""

import faulthandler
import os
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import Any

from stream_dedup import logs, overrides
from stream_dedup.config import Settings
from stream_dedup.errors import Refused, StreamDedupError
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.replay import PARTITION
from stream_dedup.kafka.service import Service
from stream_dedup.similarity.sketch import Sketcher, Sketches
from tests.integration.faults import BUGS, name_steps_of_the_index

DIED = 137
REFUSED = Refused.exit_code
DEADLY, BROKEN = "deadly", "broken"
HANGS = "hangs at"
_FENCING_SECONDS_MAX = 90
_HANG_SECONDS_MAX = 180


class Occasions:
    """Tells of each step which time it is reached."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._lock = Lock()
        self._acts: dict[tuple[str, int], Callable[[], None]] = {}

    def at(self, step: str, count: int, act: Callable[[], None]) -> None:
        """Act when a step is reached so many times."""
        self._acts[step, count] = act

    def __call__(self, step: str) -> None:
        with self._lock:
            self._seen[step] += 1
            act = self._acts.get((step, self._seen[step]))
        if act:
            act()


def _die(_settings: Settings, _step: str) -> None:
    os._exit(DIED)


def _freeze(_settings: Settings, _step: str) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _hang(_settings: Settings, step: str) -> None:
    sys.stderr.write(f"{HANGS} {step}\n")
    Event().wait(_HANG_SECONDS_MAX)


def _fence(settings: Settings, step: str) -> None:
    """Do what a second process with the same name does."""
    kafka = settings.kafka
    role = step.partition(":")[0]
    name = kafka.instance if role == "sign" else str(PARTITION)
    producer = Clients(kafka).producer(f"{kafka.application}-{role}-{name}")
    producer.init_transactions(_FENCING_SECONDS_MAX)


OCCASIONS = {"death": _die, "fencing": _fence, "freeze": _freeze, "hang": _hang}


def _make_texts_dangerous() -> None:
    sketch = Sketcher.sketch

    def dangerous(sketcher: Sketcher, texts: Sequence[str], salts: Any = None) -> Sketches:
        if any(DEADLY in text for text in texts):
            os._exit(DIED)
        if any(BROKEN in text for text in texts):
            raise ZeroDivisionError("a text that nobody thought of")
        return sketch(sketcher, texts, salts)

    setattr(Sketcher, "sketch", dangerous)  # noqa: B010  # a method is not assigned to


def main() -> None:
    _make_texts_dangerous()
    try:
        _run()
    except StreamDedupError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)


def _run() -> None:
    asked = _arguments()
    settings = overrides.load(Path(asked.settings), os.environ).settings
    logs.begin(settings.log)
    stopped = Event()
    faulthandler.register(signal.SIGUSR1)
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    on_step = Occasions()
    for step, count, name in asked.at:
        on_step.at(step, int(count), partial(OCCASIONS[name], settings, step))
    if asked.bug:
        BUGS[asked.bug](on_step)
    name_steps_of_the_index(on_step)
    if asked.role == "sign":
        Service(settings, asked.role, None, on_step).run(stopped)
        return
    with closing(RocksIndex.open(settings.index.directory, settings.index)) as index:
        Service(settings, asked.role, index, on_step).run(stopped)


def _arguments() -> Namespace:
    parser = ArgumentParser()
    parser.add_argument("settings")
    parser.add_argument("role")
    parser.add_argument("--at", nargs=3, action="append", default=[])
    parser.add_argument("--bug", choices=list(BUGS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
