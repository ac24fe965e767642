"""How much is taken on: requests a second, and questions at a time."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

Given = TypeVar("Given")


class Bucket:
    """Lets so many through a second, and as many at once after a pause. For one thread."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._clock = per_second, clock
        self._left = float(per_second)
        self._at = clock()

    def take(self) -> bool:
        """Tell whether one more may pass, and count it if so."""
        now = self._clock()
        self._left = min(self._per_second, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Busy(Exception):
    """So many questions wait that another would wait too long."""


class Threads:
    """Works for the event loop on a few threads; what has begun is counted until it ends."""

    def __init__(self, threads: int, waiting_max: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "query")
        self._free = threads + waiting_max

    async def run(self, call: Callable[[], Given]) -> Given:
        """Call it, unless too many wait; who gives up leaves the thread to its end."""
        if not self._free:
            raise Busy
        self._free -= 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(call)
        future.add_done_callback(lambda _: self._ended(loop))
        return await asyncio.wrap_future(future)

    def _ended(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop has ended before: nobody counts any more
            loop.call_soon_threadsafe(self._release)

    def _release(self) -> None:
        self._free += 1
