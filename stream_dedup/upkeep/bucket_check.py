"""Whether buckets hold what they should: each living text, unless fuller ones had to let it go."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stream_dedup.index.columns import decode_buckets
from stream_dedup.index.layout import POSITION_BYTES
from stream_dedup.upkeep.standing import Standing

_CAPPED = 1
_KEY_BYTES = 6
_SHOWN_BYTES = 8
_BAND_NUMBERS = 256


class BucketCheck:
    """Counts in how many buckets each living text is found; ten bytes a text."""

    def __init__(self, state: Standing) -> None:
        self._state = state
        self._expected: list[NDArray[np.int64]] = []
        self._positions = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.uint16)
        # What a full bucket let go, it does not hold when it has room again.
        self._evicted = state.tally.evicted
        self._all_readable = True

    def expect(self, positions: list[int]) -> None:
        """Await living texts, given in ascending order, before the first bucket is added."""
        self._expected.append(np.array(positions, np.int64))

    def add(self, rows: list[tuple[bytes, bytes]]) -> Iterator[str]:
        """Check buckets and count what they hold."""
        self._await()
        sound: list[tuple[bytes, bytes]] = []
        for key, value in rows:
            if self._is_readable(key, value):
                sound.append((key, value))
            else:
                self._all_readable = False
                yield f"buckets {key.hex()}: cannot be read ({value[:_SHOWN_BYTES].hex()}…)"
        positions, bounds, _ = decode_buckets([value for _, value in sound])
        for problem, entries in self._wrong_entries(positions, bounds):
            for bucket in np.unique(np.searchsorted(bounds, entries, side="right") - 1).tolist():
                yield f"buckets {sound[bucket][0].hex()}: {problem}"
        self._count(positions)

    @property
    def nothing_is_hidden(self) -> bool:
        """Tell whether each living text must be in all its buckets."""
        return self._all_readable and not self._evicted

    def missing(self) -> Iterator[str]:
        """Yield living texts that buckets lack, or hold too often."""
        self._await()
        bands = self._state.bands
        lacking = int((bands - self._counts.astype(np.int64)).clip(0).sum())
        if self._all_readable and lacking > self._evicted > 0:
            yield f"buckets: {lacking} entries are missing, and {self._evicted} had to go"
        wrong = self._counts != bands if self.nothing_is_hidden else self._counts > bands
        for text in np.flatnonzero(wrong).tolist():
            yield (
                f"texts {self._positions[text]}: in {self._counts[text]} buckets, and there are "
                f"{bands} bands"
            )

    def _is_readable(self, key: bytes, value: bytes) -> bool:
        return (
            len(key) == _KEY_BYTES
            and key[0] < min(self._state.bands, _BAND_NUMBERS)
            and (
                len(value) % POSITION_BYTES == 0
                or (len(value) % POSITION_BYTES == 1 and value[-1] == _CAPPED)
            )
        )

    def _wrong_entries(
        self, positions: NDArray[np.int64], bounds: NDArray[np.int64]
    ) -> Iterator[tuple[str, NDArray[np.int64]]]:
        ends = bounds[1:-1]
        falls = np.ones(max(0, len(positions) - 1), np.bool_)
        falls[:] = positions[1:] <= positions[:-1]
        falls[ends[(ends > 0) & (ends < len(positions))] - 1] = False
        yield "entries are not in ascending order", np.flatnonzero(falls)
        late = np.flatnonzero(positions >= self._state.next_offset)
        yield f"an entry is not before the next offset, {self._state.next_offset}", late

    def _await(self) -> None:
        if self._expected:
            self._positions = np.concatenate(self._expected)
            self._counts = np.zeros(len(self._positions), np.uint16)
            self._expected = []

    def _count(self, positions: NDArray[np.int64]) -> None:
        places = np.searchsorted(self._positions, positions)
        known = places < len(self._positions)
        known[known] = self._positions[places[known]] == positions[known]
        np.add.at(self._counts, places[known], 1)
