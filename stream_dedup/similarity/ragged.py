"""Rows of different lengths in one flat array: the shape in which batches travel."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Ragged(NamedTuple):
    """Row i is `values[bounds[i]:bounds[i + 1]]`; bounds has one entry more than there are rows."""

    values: NDArray[Any]
    bounds: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return self.bounds.size - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.bounds)

    def row(self, index: int) -> NDArray[Any]:
        return self.values[self.bounds[index] : self.bounds[index + 1]]


def bounds_of(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bounds of rows with these lengths."""
    bounds = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds


def stack(pieces: Sequence[Ragged]) -> Ragged:
    """Return the rows of all pieces, in order, as one."""
    lengths = np.concatenate([piece.lengths for piece in pieces])
    return Ragged(np.concatenate([piece.values for piece in pieces]), bounds_of(lengths))


def take(rows: Ragged, indexes: NDArray[np.integer]) -> Ragged:
    """Return the rows of these indexes, in that order."""
    bounds = bounds_of(rows.lengths[indexes])
    shift = np.repeat(rows.bounds[indexes] - bounds[:-1], np.diff(bounds))
    return Ragged(rows.values[np.arange(bounds[-1]) + shift], bounds)


def replace_rows(rows: Ragged, replaced: NDArray[np.bool_], others: Ragged) -> Ragged:
    """Return the rows with those that are marked taken from the others, in order."""
    rest = iter(range(others.rows))
    pieces = [
        others.row(next(rest)) if marked else rows.row(index)
        for index, marked in enumerate(replaced)
    ]
    return Ragged(np.concatenate(pieces), bounds_of([len(piece) for piece in pieces]))


class Room:
    """A buffer used again and again: what is written in it lasts until it is asked for once more.

    Fresh megabytes cost more in page faults than the work that is done in them.
    """

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def of(self, size: int, dtype: DTypeLike) -> NDArray[Any]:
        wanted = size * np.dtype(dtype).itemsize
        if self._bytes.size < wanted:
            self._bytes = np.empty(wanted + wanted // 4, np.uint8)
        return self._bytes[:wanted].view(dtype)
