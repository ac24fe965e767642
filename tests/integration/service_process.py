"""The service in a process that can be made to die at any step: what the trials drive.

    python -m tests.integration.service_process SETTINGS ROLE [STEP COUNT]

SETTINGS is a file of settings. At the COUNT-th time that STEP is reached the process ends, as if it
was killed there. A text with DEADLY in it ends the process that signs it, one with BROKEN makes
signing fail. On SIGTERM it stops.
"""

import faulthandler
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Event, Lock
from typing import Any

from stream_dedup import logs, overrides
from stream_dedup.errors import Refused, StreamDedupError
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.kafka.service import Service
from stream_dedup.similarity.sketch import Sketcher, Sketches

DIED = 137
REFUSED = Refused.exit_code
DEADLY, BROKEN = "deadly", "broken"


class Death:
    """Ends the process at a step."""

    def __init__(self, step: str, count: int) -> None:
        self._step, self._count = step, count
        self._seen: Counter[str] = Counter()
        self._lock = Lock()

    def __call__(self, step: str) -> None:
        with self._lock:
            self._seen[step] += 1
            if step == self._step and self._seen[step] == self._count:
                os._exit(DIED)


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
    path, role, *death = sys.argv[1:]
    settings = overrides.load(Path(path), {}).settings
    logs.begin(settings.log)
    stopped = Event()
    faulthandler.register(signal.SIGUSR1)
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    chosen: Any = role
    on_step = Death(death[0], int(death[1])) if death else Death("", 0)
    if role == "sign":
        Service(settings, chosen, None, on_step).run(stopped)
        return
    with closing(RocksIndex.open(settings.index.directory, settings.index)) as index:
        Service(settings, chosen, index, on_step).run(stopped)


if __name__ == "__main__":
    main()
