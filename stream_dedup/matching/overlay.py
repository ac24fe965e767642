"""The rows that one batch touches: read together, changed here, written together."""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from stream_dedup.index import layout
from stream_dedup.index.layout import Cluster, ExactRow, Group, Sighting, position_key
from stream_dedup.interfaces import Changes, Index, Keyspace, Puts

Name = TypeVar("Name", bytes, int)
Row = TypeVar("Row")


class Table(Generic[Name, Row]):
    """Rows of one keyspace by name, decoded when they are first looked at; None is not there."""

    def __init__(
        self,
        keyspace: Keyspace,
        key: Callable[[Name], bytes],
        encode: Callable[[Row], bytes],
        decode: Callable[[Name, bytes], Row],
    ) -> None:
        self.keyspace = keyspace
        self._values: dict[Name, bytes] = {}
        self._key: Callable[[Name], bytes] = key
        self._encode: Callable[[Row], bytes] = encode
        self._decode: Callable[[Name, bytes], Row] = decode
        self._rows: dict[Name, Row | None] = {}
        self._changed: set[Name] = set()

    def read(self, index: Index, names: Iterable[Name]) -> None:
        """Fetch the rows of these names that are not known yet."""
        wanted = sorted(set(names) - self._rows.keys() - self._values.keys())
        values = index.read(self.keyspace, [self._key(name) for name in wanted])
        for name, value in zip(wanted, values, strict=True):
            if value is None:
                self._rows[name] = None
            else:
                self._values[name] = value

    def get(self, name: Name) -> Row | None:
        """Return a row that was read or put; a name that was not read is not there."""
        row = self._rows.get(name)
        if row is None and name not in self._rows and (value := self._values.get(name)):
            row = self._rows[name] = self._decode(name, value)
        return row

    def among(self, names: Iterable[Name]) -> dict[Name, Row]:
        """Return the rows of those of these names that are there."""
        there = [name for name in names if name in self._values or self._rows.get(name)]
        return {name: row for name in there if (row := self.get(name)) is not None}

    def value(self, name: Name) -> bytes | None:
        """Return a row as it lies in the index, or would."""
        if name not in self._changed or name not in self._rows:
            return self._values.get(name)
        row = self._rows[name]
        return None if row is None else self._encode(row)

    def has(self, name: Name) -> bool:
        """Tell whether there is such a row, without decoding it."""
        row = self._rows.get(name)
        return row is not None or (name not in self._rows and name in self._values)

    def put(self, name: Name, row: Row | None) -> None:
        """Change a row, or delete it."""
        self._rows[name] = row
        self._changed.add(name)

    def put_value(self, name: Name, value: bytes) -> None:
        """Change a row, given as it will lie in the index."""
        self._rows.pop(name, None)
        self._values[name] = value
        self._changed.add(name)

    def changes(self) -> tuple[Puts, list[bytes]]:
        """Return the rows to put and the keys to delete."""
        keys, values, deletes = [], [], []
        for name in sorted(self._changed):
            value = self.value(name)
            if value is None:
                deletes.append(self._key(name))
            else:
                keys.append(self._key(name))
                values.append(value)
        return Puts(keys, values), deletes


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
            position_key,
            layout.encode_group,
            lambda position, value: layout.decode_group(position, value, signature_bytes),
        )
        self.exact: Table[bytes, ExactRow] = Table(
            Keyspace.EXACT, bytes, layout.encode_exact, lambda _, value: layout.decode_exact(value)
        )
        self.ids: Table[bytes, Sighting] = Table(
            Keyspace.IDS,
            bytes,
            layout.encode_sighting,
            lambda _, value: layout.decode_sighting(value),
        )
        self.clusters: Table[int, Cluster] = Table(
            Keyspace.CLUSTERS,
            position_key,
            layout.encode_cluster,
            lambda _, value: layout.decode_cluster(value),
        )
        self.originals: Table[int, bytes] = Table(
            Keyspace.ORIGINALS, position_key, bytes, lambda _, value: value
        )

    def changes(self, meta: Mapping[str, bytes]) -> Changes:
        """Return all that was changed, as bytes in the order of the keys."""
        puts = {Keyspace.BUCKETS: self.buckets.changes()}
        deletes: dict[Keyspace, list[bytes]] = {}
        for table in (self.texts, self.exact, self.ids, self.clusters, self.originals):
            puts[table.keyspace], deletes[table.keyspace] = table.changes()
        return Changes(puts, deletes, meta)
