"""How a command that can go on later is stopped: what is under way is finished first."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType


@contextmanager
def stopping(stopped: Event) -> Iterator[None]:
    """Set `stopped` at the first SIGTERM or Ctrl-C, end as it asks when the block is done.

    A second one ends the block at once.
    """
    heard: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        heard.append(number)
        if len(heard) > 1:
            raise _ending(number)
        stopped.set()

    before = {number: signal.signal(number, hear) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if heard:
        raise _ending(heard[0])


def _ending(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(0)
