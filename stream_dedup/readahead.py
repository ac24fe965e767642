"""Reads in a thread of its own, so that input comes while other work is done.

What has come is handed over at once if somebody waits for it, and gathered into larger portions
while nobody does.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Condition, Event
from types import TracebackType
from typing import Self

from stream_dedup.inputs import Portion

_PORTION_BYTES_MAX = 4 << 20  # beyond it nothing more is added to a portion
_WAITING_MAX = 3


class ReadAhead:
    """Portions of an input in order; `stopped` ends the reading, not the handing over."""

    def __init__(self, portions: Iterator[Portion], lines_max: int, stopped: Event) -> None:
        self._portions = portions
        self._lines_max = lines_max
        self._stopped = stopped
        self._waiting: deque[Portion] = deque()
        self._changed = Condition()
        self._over = False
        self._thread = ThreadPoolExecutor(1, "read-ahead")

    def __enter__(self) -> Self:
        """Begin to read."""
        self._reading = self._thread.submit(self._read)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop, and forget what nobody took."""
        self._stopped.set()
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()
        self._thread.shutdown()

    def take(self, wait: bool) -> Portion | None:
        """Return the lines that are there, or None: nothing yet or, if told to wait, the end.

        An error of the input is raised at the end, when all that came before it has been taken.
        """
        with self._changed:
            while wait and not self._waiting and not self._over:
                self._changed.wait()
            if self._waiting:
                self._changed.notify_all()
                return self._waiting.popleft()
        if wait:
            self._reading.result()
        return None

    def _read(self) -> None:
        try:
            for portion in self._portions:
                with self._changed:
                    while not self._add(portion) and not self._stopped.is_set():
                        self._changed.wait()
                    self._changed.notify_all()
                if self._stopped.is_set():
                    return
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _add(self, portion: Portion) -> bool:
        """Put the lines to those of the last portion or behind it, unless there is no room."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and self._fit(last, portion):
            last.lines.extend(portion.lines)
            self._waiting[-1] = portion._replace(
                first_line=last.first_line, lines=last.lines, size=last.size + portion.size
            )
            return True
        if len(self._waiting) == _WAITING_MAX:
            return False
        self._waiting.append(portion)
        return True

    def _fit(self, last: Portion, portion: Portion) -> bool:
        return (
            portion.ended
            and len(last.lines) + len(portion.lines) <= self._lines_max
            and last.size + portion.size <= _PORTION_BYTES_MAX
        )
