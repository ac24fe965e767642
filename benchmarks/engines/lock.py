"""Who holds the interpreter's lock: looked at from beside, thousands of times a second.

The sampler never wants the lock itself, so it does not disturb what it looks at, and a core shared
with others changes nothing in the share that it finds.
"""

import ctypes
import os
import zlib
from collections.abc import Callable, Sequence
from threading import Thread
from time import thread_time
from typing import Any

import numba
import numpy as np

_PAUSE_MICROSECONDS = 20
_SECONDS = 0.5  # of each control
_HELD, _ALL, _OVER = range(3)

# In CPython 3.11 this tells of the whole process, whichever thread asks.
_holder: Any = ctypes.CFUNCTYPE(ctypes.c_size_t)(
    ctypes.cast(ctypes.pythonapi._PyThreadState_UncheckedGet, ctypes.c_void_p).value or 0
)
_pause: Any = ctypes.CDLL(None).usleep
_pause.argtypes = [ctypes.c_uint]
_pause.restype = ctypes.c_int


def _look(counts: Any) -> None:
    while counts[_OVER] == 0:
        _pause(_PAUSE_MICROSECONDS)
        counts[_ALL] += 1
        if _holder() != 0:
            counts[_HELD] += 1


_compiled: Callable[[Any], None] = numba.njit(nogil=True)(_look)


class Sampler:
    """Counts how often the lock was held; for a process with one other thread in Python."""

    def __init__(self) -> None:
        self._counts = np.array([0, 0, 1])
        _compiled(self._counts)
        self._counts[:] = 0
        self._thread = Thread(target=_compiled, args=(self._counts,), daemon=True)

    def __enter__(self) -> "Sampler":
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop looking."""
        self._counts[_OVER] = 1
        self._thread.join()

    def counts(self) -> tuple[int, int]:
        """Return how often it was held, of how many looks."""
        return int(self._counts[_HELD]), int(self._counts[_ALL])


class Controls:
    """Shares of time under the lock that are known, as the sampler finds them."""

    def __init__(self) -> None:
        with Sampler() as sampler:
            self.held, _ = _shares(sampler, [_hold])
            self.free, _ = _shares(sampler, [_release])
            self.mixed, self.mixed_expected = _shares(sampler, [_hold, _release])

    def check(self) -> None:
        """End the program if the sampler cannot tell."""
        off = max(1 - self.held, self.free, abs(self.mixed - self.mixed_expected))
        if off > 0.1:
            raise SystemExit(
                f"error: who holds the lock cannot be told here, it takes CPython 3.11: of a loop "
                f"{self.held:.2f} was found held, of zlib {self.free:.2f}, of both in turn "
                f"{self.mixed:.2f} where {self.mixed_expected:.2f} is"
            )


_BYTES = os.urandom(6000)


def _hold() -> None:
    for _ in range(3000):
        pass


def _release() -> None:
    zlib.compress(_BYTES)


def _shares(sampler: Sampler, parts: Sequence[Callable[[], None]]) -> tuple[float, float]:
    """Do the parts in turn; return the share of time found held, and that of the first part."""
    before = sampler.counts()
    seconds = [0.0] * len(parts)
    last = thread_time()
    while sum(seconds) < _SECONDS:
        for number, part in enumerate(parts):
            part()
            now = thread_time()
            seconds[number] += now - last
            last = now
    held, looks = (now - then for now, then in zip(sampler.counts(), before, strict=True))
    return held / looks, seconds[0] / sum(seconds)
