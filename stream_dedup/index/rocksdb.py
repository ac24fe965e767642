"""The index on disk: RocksDB in the process.

Readers take the families that make up the index as they find them, and never wait for the writer.
A family that a rotation drops stays readable for who holds it and goes with the last reference.
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

from rocksdict import Checkpoint, ColumnFamily, WriteBatch

from stream_dedup.config import IndexSettings
from stream_dedup.errors import InputError, StreamDedupError, Unavailable
from stream_dedup.index import directory as places
from stream_dedup.index import rocksdb_logs
from stream_dedup.index.layout import BUCKET_KEY_BYTES
from stream_dedup.index.rocksdb_families import Families, Family
from stream_dedup.index.rocksdb_files import (
    GENERATION,
    META,
    OTHER,
    OURS,
    Mode,
    explained,
    names,
    open_families,
    open_view,
)
from stream_dedup.index.rocksdb_lookups import get, put
from stream_dedup.index.rocksdb_rows import Row, Scan, has_rows, keys_in_chunks, merged, rows
from stream_dedup.index.sieve import Sieve, Sieves, bytes_by_keyspace
from stream_dedup.interfaces import Changes, Keyspace


class Size(NamedTuple):
    """What a keyspace holds, both generations together; a row that lies in both counts twice."""

    rows_estimated: int
    bytes: int


class _State(NamedTuple):
    families: Families
    generation: str  # the current one
    current: Mapping[Keyspace, Family]
    previous: Mapping[Keyspace, Family]  # without those that are known to be empty
    sieves: Sieves

    def handle(self, name: str) -> ColumnFamily:
        return self.families.database.get_column_family_handle(name)


class RocksIndex:
    """An index in a directory."""

    def __init__(self, path: Path, families: Families, sieve_bytes: Mapping[Keyspace, int]) -> None:
        self._path = path
        self._sieve_bytes = sieve_bytes
        self._writing = threading.Lock()
        self._gate = threading.Condition()
        self._readers = 0
        self._helper = ThreadPoolExecutor(1, "look-ups")  # its thread begins with its first work
        self._scans: weakref.WeakSet[Scan] = weakref.WeakSet()
        # The families that may hold rows: the others are neither read nor deleted from nor dropped.
        self._filled = {name for name, family in families.by_name.items() if has_rows(family.rows)}
        generations = (families.generation, OTHER[families.generation])
        sieves = Sieves(*(self._sieves(families, generation) for generation in generations))
        self._state: _State | None = _state(families, families.generation, self._filled, sieves)

    @classmethod
    def open(
        cls,
        directory: str | Path,
        settings: IndexSettings,
        *,
        mode: Mode = "write",
        create: bool = True,
    ) -> Self:
        """Open it to write, or a view of how it is now, also beside a process that writes."""
        path = Path(directory)
        new = places.inspect(path) is not places.State.INDEX
        if new:
            if mode == "view" or not create:
                raise InputError(f"there is no index in {path}: nothing was written there yet")
            places.begin(path)
        with explained(path, OSError), ExitStack() as undo:
            if not new:
                rocksdb_logs.check(path)
            if mode == "view":
                families = open_view(path, settings)
            else:
                families = open_families(path, settings, mode, new)
            undo.callback(families.close)
            index = cls(path, families, {} if mode == "view" else bytes_by_keyspace(settings))
            if new:
                places.complete(path)
            undo.pop_all()
        return index

    def read(self, keyspace: Keyspace, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, or None; ascending keys are read fastest."""
        with self._reading() as state:
            current, previous = (sieves.get(keyspace) for sieves in state.sieves)
            found = get(self._helper, state.current[keyspace], keys, current)
            if keyspace in state.previous:
                missing = [place for place, value in enumerate(found) if value is None]
                older = [keys[place] for place in missing]
                put(found, missing, get(self._helper, state.previous[keyspace], older, previous))
        return found

    def scan(self, keyspace: Keyspace) -> Iterator[Row]:
        """Yield all rows in the order of their keys, as they were when the scan began."""
        with self._writing, self._reading() as state:
            current, previous = state.current[keyspace], state.previous.get(keyspace)
            older = rows(previous.rows) if previous else iter(())
            scan = Scan(self._path, merged(rows(current.rows), older))
            self._scans.add(scan)
        return scan

    def meta(self) -> dict[str, bytes]:
        """Return all entries of the keyspace that has no generations."""
        with self._reading() as state:
            entries = rows(state.families.by_name[META].rows)
            return {name.decode(): value for name, value in entries if not name.startswith(OURS)}

    def write(self, changes: Changes) -> None:
        """Put rows into the current generation, delete rows in both, set entries of meta.

        A key that is both deleted and put is put. After `Unavailable` the index must be opened
        again, and the batch was not applied.
        """
        with self._writing, self._reading() as state:
            state.sieves.add(changes.puts)
            batch = WriteBatch(raw_mode=True)
            for keyspace, keys in changes.deletes.items():
                for name in (f"{keyspace}.a", f"{keyspace}.b"):
                    if name in self._filled:
                        batch.set_default_column_family(state.handle(name))
                        deque(map(batch.delete, keys), maxlen=0)
            for keyspace, puts in changes.puts.items():
                if len(puts.keys) != len(puts.values):
                    raise ValueError(f"{len(puts.keys)} keys and {len(puts.values)} values")
                name = f"{keyspace}.{state.generation}"
                self._filled.add(name)
                batch.set_default_column_family(state.handle(name))
                deque(map(batch.put, puts.keys, puts.values), maxlen=0)
            _write(state, batch, changes.meta)

    def rotate(self, meta: Mapping[str, bytes]) -> None:
        """Forget the previous generation; the current one takes its place, an empty one its own."""
        with self._writing, self._reading() as state:
            # A loss of power takes back what was written last, and never a drop: so sync it before.
            state.families.database.flush_wal(sync=True)
            generation = OTHER[state.generation]
            for name in self._filled.intersection(names(generation)):
                state.families.drop(name)
                # Nobody may write to it again: RocksDB would take no other write after that.
                self._filled.remove(name)
            state.families.create(names(generation))
            batch = WriteBatch(raw_mode=True)
            _write(state, batch, {**meta, GENERATION.decode(): generation.encode()})
            sieves = state.sieves.rotated(self._sieves(state.families, generation))
            self._state = _state(state.families, generation, self._filled, sieves)

    def close(self) -> None:
        """Release everything; a second call does nothing. What was written is on the disk then."""
        with self._writing, self._gate:
            state, self._state = self._state, None
            self._gate.wait_for(lambda: self._readers == 0)
            for scan in list(self._scans):
                scan.close()
            self._helper.shutdown()
            if state is not None:
                with explained(self._path):
                    state.families.close()

    def snapshot(self, target: str | Path) -> None:
        """Make a copy of this moment: hard links, where it lies on the same disk."""
        places.check_new(Path(target))
        with self._writing, self._reading() as state:
            Checkpoint(state.families.database).create_checkpoint(str(target))

    def compact(self, on_progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Merge the files of each family, and tell `on_progress` how many of all are done."""
        with self._reading() as state:
            families = [*state.current.values(), *state.previous.values()]
            on_progress(0, len(families))
            for done, family in enumerate(families, 1):
                family.rows.compact_range(None, None)
                on_progress(done, len(families))
            if state.families.database.property_int_value("rocksdb.background-errors"):
                raise Unavailable(f"the disk under {self._path} failed: not all files are merged")

    def sync(self) -> None:
        """Wait until all that was written would survive the machine as well."""
        with self._reading() as state:
            state.families.database.flush_wal(sync=True)

    def sizes(self) -> dict[Keyspace, Size]:
        """Estimate what each keyspace holds; rows that are in no file yet have no bytes."""
        with self._reading() as state:
            return {keyspace: _size(state, keyspace) for keyspace in Keyspace}

    def memory_bytes(self) -> dict[str, int]:
        """Tell what is held in memory; the buffers count in the cache as well."""
        with self._reading() as state:
            families = [*state.current.values(), *state.previous.values()]
            return {
                "cache": families[0].rows.property_int_value("rocksdb.block-cache-usage") or 0,
                "buffers": _sum(families, "rocksdb.cur-size-all-mem-tables"),
                "tables": _sum(families, "rocksdb.estimate-table-readers-mem"),
                "sieves": state.sieves.size_bytes,
            }

    def has_whole_sieves(self) -> bool:
        """Tell whether look-ups are as fast as they get; writes go on with it after an opening."""
        with self._reading() as state:
            return state.sieves.are_whole

    def disk_bytes(self) -> int:
        """Sum up all files of the directory."""
        return places.file_bytes(self._path)

    def _sieves(self, families: Families, generation: str) -> dict[Keyspace, Sieve]:
        """Make the sieves of a generation; one that was dropped has none."""
        sieves = {}
        for keyspace, bytes_max in self._sieve_bytes.items():
            name = f"{keyspace}.{generation}"
            family = families.by_name.get(name)
            if family is None:
                continue
            estimate = 0
            if name in self._filled:
                estimate = family.rows.property_int_value("rocksdb.estimate-num-keys") or 1
            key_bytes = BUCKET_KEY_BYTES if keyspace is Keyspace.BUCKETS else None
            written = partial(keys_in_chunks, family.rows)
            sieves[keyspace] = Sieve(written, estimate, bytes_max, key_bytes)
        return sieves

    @contextmanager
    def _reading(self) -> Iterator[_State]:
        with self._gate:
            state = self._state
            if state is None:
                raise StreamDedupError(f"the index in {self._path} is closed")
            self._readers += 1
        try:
            with explained(self._path):
                yield state
        finally:
            with self._gate:
                self._readers -= 1
                self._gate.notify_all()


def _state(families: Families, generation: str, filled: Set[str], sieves: Sieves) -> _State:
    current = {keyspace: f"{keyspace}.{generation}" for keyspace in Keyspace}
    previous = {keyspace: f"{keyspace}.{OTHER[generation]}" for keyspace in Keyspace}
    return _State(
        families,
        generation,
        {keyspace: families.by_name[name] for keyspace, name in current.items()},
        {keyspace: families.by_name[name] for keyspace, name in previous.items() if name in filled},
        sieves,
    )


def _write(state: _State, batch: WriteBatch, meta: Mapping[str, bytes]) -> None:
    batch.set_default_column_family(state.families.database.get_column_family_handle(META))
    for name, value in meta.items():
        batch.put(name.encode(), value)
    state.families.database.write(batch)


def _sum(families: Iterable[Family], name: str) -> int:
    return sum(family.rows.property_int_value(name) or 0 for family in families)


def _size(state: _State, keyspace: Keyspace) -> Size:
    generations = (state.current, state.previous)
    families = [families[keyspace] for families in generations if keyspace in families]
    return Size(
        _sum(families, "rocksdb.estimate-num-keys"), _sum(families, "rocksdb.live-sst-files-size")
    )
