"""The rows that one batch touches: read together, changed here, written together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import Generic, TypeVar

import numpy as np

from stream_dedup.index import layout
from stream_dedup.index.columns import position_keys
from stream_dedup.index.layout import Cluster, ExactRow, Group, Sighting
from stream_dedup.interfaces import Changes, Index, Keyspace, Puts

Name = TypeVar("Name", bytes, int)
Row = TypeVar("Row")


class Table(Generic[Name, Row]):
    """Rows of one keyspace by name, decoded when they are first looked at."""

    def __init__(
        self,
        keyspace: Keyspace,
        keys: Callable[[list[Name]], list[bytes]],
        encode: Callable[[Row], bytes],
        decode: Callable[[Name, bytes], Row],
    ) -> None:
        self.keyspace = keyspace
        self._keys: Callable[[list[Name]], list[bytes]] = keys
        self._encode: Callable[[Row], bytes] = encode
        self._decode: Callable[[Name, bytes], Row] = decode
        self._values: dict[Name, bytes | None] = {}  # None: there is no such row
        self._rows: dict[Name, Row | None] = {}  # what was decoded or changed goes before its value
        self._changed: dict[Name, None] = {}  # a set in order, of positions nearly that of the keys

    def read(self, index: Index, names: Iterable[Name]) -> None:
        """Fetch the rows of these names that are not known yet."""
        wanted = sorted(set(names) - self._rows.keys() - self._values.keys())
        values = index.read(self.keyspace, self._keys(wanted))
        self._values.update(zip(wanted, values, strict=True))

    def get(self, name: Name) -> Row | None:
        """Return a row that was read or put; a name that was not read is not there."""
        row = self._rows.get(name)
        if row is None and name not in self._rows and (value := self._values.get(name)):
            row = self._rows[name] = self._decode(name, value)
        return row

    def among(self, names: Iterable[Name]) -> dict[Name, Row]:
        """Return the rows of those of these names that are there."""
        there = [name for name in names if name in self._rows or self._values.get(name)]
        return {name: row for name in there if (row := self.get(name)) is not None}

    def values(self, names: Iterable[Name]) -> list[bytes | None]:
        """Return rows as they lie in the index, or would."""
        rows, values = self._rows, self._values
        return [self._value(name) if name in rows else values.get(name) for name in names]

    def places(self, names: Iterable[Name]) -> list[int]:
        """Return the places of those names of which there is a row, without decoding it."""
        rows, values = self._rows, self._values
        there = (rows[name] if name in rows else values.get(name) for name in names)
        return [place for place, row in enumerate(there) if row is not None]

    def put(self, name: Name, row: Row | None) -> None:
        """Change a row, or delete it."""
        self._rows[name] = row
        self._changed[name] = None

    def begin(self, names: Sequence[Name], values: Sequence[bytes]) -> None:
        """Put rows where there are none, given as they will lie in the index."""
        for name in self._rows.keys() & names:  # that were deleted
            del self._rows[name]
        self._values.update(zip(names, values, strict=True))
        self._changed.update(dict.fromkeys(names))

    def take_back(self, names: Sequence[Name]) -> None:
        """Have no rows where some were begun."""
        self._values.update(dict.fromkeys(names))

    def changes(self) -> tuple[Puts, list[bytes]]:
        """Return the rows to put and the keys to delete."""
        names = sorted(self._changed)
        keys, values = self._keys(names), self.values(names)
        kept = [value for value in values if value is not None]
        if len(kept) == len(values):
            return Puts(keys, kept), []
        there = [value is not None for value in values]
        gone = [value is None for value in values]
        return Puts(list(compress(keys, there)), kept), list(compress(keys, gone))

    def _value(self, name: Name) -> bytes | None:
        """Return a row that was decoded or changed."""
        if name not in self._changed:
            return self._values.get(name)
        row = self._rows[name]
        return None if row is None else self._encode(row)


class Buckets:
    """The buckets that a batch rewrites, in as many pieces as it was worked through."""

    def __init__(self) -> None:
        self._pieces: list[Puts] = []

    def read(self, index: Index, keys: list[bytes]) -> list[bytes | None]:
        """Return the values of ascending keys, as the batch has left them so far."""
        values = index.read(Keyspace.BUCKETS, keys)
        if not self._pieces:
            return values
        rewritten = self._rewritten()
        return [rewritten.get(key, value) for key, value in zip(keys, values, strict=True)]

    def put(self, keys: list[bytes], values: list[bytes]) -> None:
        """Rewrite buckets, given in the order of their keys."""
        self._pieces.append(Puts(keys, values))

    def changes(self) -> Puts:
        """Return all buckets to put."""
        if len(self._pieces) == 1:
            return self._pieces[0]
        rewritten = sorted(self._rewritten().items())
        return Puts([key for key, _ in rewritten], [value for _, value in rewritten])

    def _rewritten(self) -> dict[bytes, bytes]:
        rewritten: dict[bytes, bytes] = {}
        for piece in self._pieces:
            rewritten.update(zip(piece.keys, piece.values, strict=True))
        return rewritten


class Overlay:
    """What a batch knows of the index, and what it makes of it."""

    def __init__(self, index: Index, signature_bytes: int) -> None:
        self.index = index
        self.buckets = Buckets()
        self.texts: Table[int, Group] = Table(
            Keyspace.TEXTS,
            _names,
            layout.encode_group,
            lambda position, value: layout.decode_group(position, value, signature_bytes),
        )
        self.exact: Table[bytes, ExactRow] = Table(
            Keyspace.EXACT, list, layout.encode_exact, lambda _, value: layout.decode_exact(value)
        )
        self.ids: Table[bytes, Sighting] = Table(
            Keyspace.IDS,
            list,
            layout.encode_sighting,
            lambda _, value: layout.decode_sighting(value),
        )
        self.clusters: Table[int, Cluster] = Table(
            Keyspace.CLUSTERS,
            _names,
            layout.encode_cluster,
            lambda _, value: layout.decode_cluster(value),
        )
        self.originals: Table[int, bytes] = Table(
            Keyspace.ORIGINALS, _names, bytes, lambda _, value: value
        )

    def changes(self, meta: Mapping[str, bytes]) -> Changes:
        """Return all that was changed, as bytes in the order of the keys."""
        puts = {Keyspace.BUCKETS: self.buckets.changes()}
        deletes: dict[Keyspace, list[bytes]] = {}
        for table in (self.texts, self.exact, self.ids, self.clusters, self.originals):
            puts[table.keyspace], deletes[table.keyspace] = table.changes()
        return Changes(puts, deletes, meta)


def _names(positions: list[int]) -> list[bytes]:
    return position_keys(np.array(positions, np.int64))
