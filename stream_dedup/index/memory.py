"""The index in memory: dictionaries, for tests and for runs that leave nothing behind."""

import threading
from collections.abc import Iterator, Mapping, Sequence

from stream_dedup.errors import StreamDedupError
from stream_dedup.interfaces import Changes, Keyspace

_Rows = dict[bytes, bytes]


class MemoryIndex:
    """An index that ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: dict[Keyspace, _Rows] = {keyspace: {} for keyspace in Keyspace}
        self._previous: dict[Keyspace, _Rows] = {keyspace: {} for keyspace in Keyspace}
        self._meta: dict[str, bytes] = {}
        self._open = True

    def read(self, keyspace: Keyspace, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, or None."""
        with self._lock:
            self._check_open()
            current, previous = self._current[keyspace], self._previous[keyspace]
            return [current[key] if key in current else previous.get(key) for key in keys]

    def scan(self, keyspace: Keyspace) -> Iterator[tuple[bytes, bytes]]:
        """Yield all rows in the order of their keys, as they were when the scan began."""
        with self._lock:
            self._check_open()
            rows = sorted((self._previous[keyspace] | self._current[keyspace]).items())
        return self._yield_while_open(rows)

    def meta(self) -> dict[str, bytes]:
        """Return all entries of the keyspace that has no generations."""
        with self._lock:
            self._check_open()
            return dict(self._meta)

    def write(self, changes: Changes) -> None:
        """Put rows into the current generation, delete rows in both, set entries of meta."""
        with self._lock:
            self._check_open()
            put = {
                keyspace: dict(zip(puts.keys, puts.values, strict=True))
                for keyspace, puts in changes.puts.items()
            }
            for keyspace, keys in changes.deletes.items():
                for key in keys:
                    self._current[keyspace].pop(key, None)
                    self._previous[keyspace].pop(key, None)
            for keyspace, rows in put.items():
                self._current[keyspace].update(rows)
            self._meta.update(changes.meta)

    def rotate(self, meta: Mapping[str, bytes]) -> None:
        """Forget the previous generation; the current one takes its place, an empty one its own."""
        with self._lock:
            self._check_open()
            self._previous = self._current
            self._current = {keyspace: {} for keyspace in Keyspace}
            self._meta.update(meta)

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        with self._lock:
            self._open = False
            self._current.clear()
            self._previous.clear()

    def _yield_while_open(self, rows: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for row in rows:
            self._check_open()
            yield row

    def _check_open(self) -> None:
        if not self._open:
            raise StreamDedupError("the index is closed")
