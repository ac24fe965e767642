"""Log time: how far the log's own clock has come, and what lies outside the window. Pure."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

# The time of a record that has none, and log time before the first that has one.
UNDATED = -(2**62)
# Before all times: when a row that does not exist was seen last.
NEVER = -(2**63)

Times = NDArray[np.int64]


class LogTime(Struct, frozen=True, array_like=True):
    """The state of the clock behind some position of the log."""

    now: int = UNDATED  # the maximum of all record times
    first: int = UNDATED  # the first time that was known
    horizon: int = UNDATED  # what was seen before is forgotten; it never goes back
    generation_start: int = UNDATED  # log time when the current generation became so

    def advance(self, times: Sequence[int], window: int | None) -> tuple["LogTime", Times, Times]:
        """Return the clock behind these records, and log time and horizon at each of them.

        What was seen before the first known time counts as seen then: else a first date would make
        the index forget all that came without one.
        """
        column = np.array([self.now, *times], np.int64)
        now = np.maximum.accumulate(column)[1:]
        dated = now[now > UNDATED]
        first = int(dated[0]) if self.first == UNDATED and len(dated) else self.first
        horizon = np.full(len(now) + 1, self.horizon, np.int64)
        if window is not None:
            reach = np.where(now > UNDATED, now, UNDATED) - window
            horizon[1:] = np.where((now > UNDATED) & (reach > first), reach, UNDATED)
        horizon = np.maximum.accumulate(horizon)[1:]
        if not len(now):
            return self, now, horizon
        return (
            LogTime(int(now[-1]), first, int(horizon[-1]), self.generation_start),
            now,
            horizon,
        )

    @property
    def rotation_due(self) -> bool:
        """Tell whether all rows of the previous generation are outside the window.

        They were seen no later than the current generation's start.
        """
        return self.horizon > self.generation_start

    def rotated(self) -> "LogTime":
        """Return the clock at the start of a new generation."""
        return LogTime(self.now, self.first, self.horizon, self.now)
