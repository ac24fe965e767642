"""Rows of an index, one after the other."""

import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

from rocksdict import Rdict

from stream_dedup.errors import StreamDedupError
from stream_dedup.index.rocksdb_families import past_the_cache
from stream_dedup.index.rocksdb_files import explained

Row = tuple[bytes, bytes]

_KEYS_OF_A_CHUNK = 4096


class Scan:
    """Rows that hold on to the files they lie in, until they end or are closed."""

    def __init__(self, path: Path, source: Iterator[Row]) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._source: Iterator[Row] | None = source

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        with self._lock, explained(self._path):
            if self._source is None:
                raise StreamDedupError(f"the index in {self._path} is closed")
            return next(self._source)

    def close(self) -> None:
        with self._lock:
            self._source = None


def has_rows(family: Rdict) -> bool:
    """Tell whether there is any row."""
    return next(rows(family), None) is not None


def rows(family: Rdict) -> Iterator[Row]:
    """Yield all rows in the order of their keys, as they are at the time of this call."""
    return _checked(family, family.items())


def keys_in_chunks(family: Rdict) -> Iterator[Sequence[bytes]]:
    """Yield all keys in their order, as they are when the first are asked for, many at a time."""
    keys: Iterator[Any] = family.keys(read_opt=past_the_cache())
    last: Any = None
    while chunk := [*islice(keys, _KEYS_OF_A_CHUNK)]:
        last = chunk[-1]
        yield chunk
    _check_end(family, last)


def _checked(family: Rdict, items: Iterator[tuple[Any, Any]]) -> Iterator[Row]:
    key: Any = None
    for key, value in items:
        yield key, value
    _check_end(family, key)


def _check_end(family: Rdict, last: bytes | None) -> None:
    """Fail if it was damage that ended the rows: it does so without a word, but for a status."""
    rest = family.iter()
    if last is None:
        rest.seek_to_first()
    else:
        rest.seek(last)
        if rest.valid():
            rest.next()
    rest.status()


def merged(current: Iterator[Row], previous: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows of both in order, of equal keys that of the current."""
    older = next(previous, None)
    for row in current:
        while older is not None and older[0] < row[0]:
            yield older
            older = next(previous, None)
        if older is not None and older[0] == row[0]:
            older = next(previous, None)
        yield row
    if older is not None:
        yield older
        yield from previous
