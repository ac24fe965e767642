"""The contract of `interfaces.Index`, held against every implementation."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stream_dedup.config import IndexSettings
from stream_dedup.errors import StreamDedupError
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes, Index, Keyspace, Puts
from stream_dedup.quantities import Size
from tests.crashes import MEMORY, copy_at_a_moment

SETTINGS = IndexSettings(memory_bytes_max=Size(64 << 20))
NOTHING = Changes({}, {}, {})

Rows = dict[bytes, bytes]
Opener = Callable[[], Index]


def put(keyspace: Keyspace, rows: Rows) -> dict[Keyspace, Puts]:
    """Write rows as a batch does: in the order of their keys."""
    ordered = dict(sorted(rows.items()))
    return {keyspace: Puts(list(ordered), list(ordered.values()))}


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Make a folder in memory, where there is such a thing: nothing here waits for a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(params=["memory", "rocksdb"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    """Open an empty index of each kind."""
    opened: Index = (
        MemoryIndex()
        if request.param == "memory"
        else RocksIndex.open(tmp_path / "index", SETTINGS)
    )
    yield opened
    opened.close()


# Few keys in few keyspaces, so that they meet: in one batch, in both generations, put and deleted.
# Keys of buckets have one length.
KEYS = {
    Keyspace.BUCKETS: [b"\0" * 6, b"\0\0\0\0\0a", b"a\0\0\0\0\0", b"ab-key", b"\xff" * 6],
    Keyspace.IDS: [b"", b"\x00", b"a", b"ab", b"b", b"\xff" * 9],
}
MANY = [b"many%02d" % number for number in range(40)]  # buckets: too many for the first sieve
values = st.binary(max_size=4) | st.just(b"v" * 5000)
keyspaces = st.sampled_from(list(KEYS))
entries = st.dictionaries(st.sampled_from(["next_offset", "log_time", "é"]), values, max_size=2)


def some_rows(keyspace: Keyspace, least: int = 0) -> st.SearchStrategy[Rows]:
    """Draw rows of a keyspace."""
    return st.dictionaries(st.sampled_from(KEYS[keyspace]), values, min_size=least, max_size=6)


def some_keys(keyspace: Keyspace, least: int = 0) -> st.SearchStrategy[list[bytes]]:
    """Draw keys of a keyspace, in their order."""
    return st.lists(st.sampled_from(KEYS[keyspace]), min_size=least, unique=True).map(sorted)


puts = st.fixed_dictionaries({}, optional={keyspace: some_rows(keyspace) for keyspace in KEYS})
deletes = st.fixed_dictionaries({}, optional={keyspace: some_keys(keyspace) for keyspace in KEYS})


class IndexMachine(RuleBasedStateMachine):
    """Any sequence of calls leaves the index and the model with the same answers."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.copies = 0
        self.current: dict[Keyspace, Rows] = {keyspace: {} for keyspace in Keyspace}
        self.previous: dict[Keyspace, Rows] = {keyspace: {} for keyspace in Keyspace}
        self.entries: dict[str, bytes] = {}
        self.scans: list[tuple[Iterator[tuple[bytes, bytes]], Rows]] = []
        self.index: Index = MemoryIndex()

    @property
    def directory(self) -> Path:
        return self.folder / str(self.copies)

    def rows(self, keyspace: Keyspace) -> Rows:
        return self.previous[keyspace] | self.current[keyspace]

    @rule(puts=puts, deletes=deletes, meta=entries)
    def write(
        self,
        puts: dict[Keyspace, Rows],
        deletes: dict[Keyspace, list[bytes]],
        meta: dict[str, bytes],
    ) -> None:
        batch = {k: v for keyspace, rows in puts.items() for k, v in put(keyspace, rows).items()}
        self.index.write(Changes(batch, deletes, meta))
        for keyspace, gone in deletes.items():
            for key in gone:
                self.current[keyspace].pop(key, None)
                self.previous[keyspace].pop(key, None)
        for keyspace, rows in puts.items():
            self.current[keyspace].update(rows)
        self.entries.update(meta)

    @rule(keyspace=keyspaces, data=st.data())
    def put(self, keyspace: Keyspace, data: st.DataObject) -> None:
        self.write({keyspace: data.draw(some_rows(keyspace, 1))}, {}, {})

    @rule(value=values)
    def put_many(self, value: bytes) -> None:
        self.write({Keyspace.BUCKETS: dict.fromkeys(MANY, value)}, {}, {})

    @rule(keyspace=keyspaces, data=st.data())
    def delete(self, keyspace: Keyspace, data: st.DataObject) -> None:
        self.write({}, {keyspace: data.draw(some_keys(keyspace, 1))}, {})

    @rule(meta=entries)
    def rotate(self, meta: dict[str, bytes]) -> None:
        self.index.rotate(meta)
        self.previous, self.current = self.current, {keyspace: {} for keyspace in Keyspace}
        self.entries.update(meta)

    @rule(keyspace=keyspaces)
    def begin_scan(self, keyspace: Keyspace) -> None:
        self.scans.append((self.index.scan(keyspace), self.rows(keyspace)))

    @precondition(lambda self: self.scans)
    @rule()
    def end_scan(self) -> None:
        scan, rows = self.scans.pop()
        assert list(scan) == sorted(rows.items())

    @invariant()
    def answers_are_those_of_the_model(self) -> None:
        self.compare(self.index)

    def compare(self, index: Index) -> None:
        assert index.meta() == self.entries
        for keyspace in Keyspace:
            rows = self.rows(keyspace)
            keys = KEYS.get(keyspace, [b"a"]) + (MANY if keyspace is Keyspace.BUCKETS else [])
            assert index.read(keyspace, keys) == [rows.get(key) for key in keys]
            assert list(index.scan(keyspace)) == sorted(rows.items())

    def teardown(self) -> None:
        self.index.close()
        shutil.rmtree(self.folder)


class RocksMachine(IndexMachine):
    """The same, where what was written outlives the process and its end at any moment."""

    @initialize()
    def open(self) -> None:
        self.index = RocksIndex.open(self.directory, SETTINGS)

    @rule()
    def reopen(self) -> None:
        self.scans.clear()
        self.index.close()
        self.index = RocksIndex.open(self.directory, SETTINGS, create=False)

    @rule()
    def crash(self) -> None:
        """Go on with the files as a process that is killed now would leave them."""
        self.scans.clear()
        left = self.directory
        self.copies += 1
        copy_at_a_moment(left, self.directory)
        self.index.close()
        shutil.rmtree(left)
        self.index = RocksIndex.open(self.directory, SETTINGS, create=False)

    @rule()
    def view(self) -> None:
        """A view beside the writer has what was written so far."""
        view = RocksIndex.open(self.directory, SETTINGS, mode="view")
        try:
            self.compare(view)
        finally:
            view.close()


TestMemoryIndex = IndexMachine.TestCase
TestMemoryIndex.settings = settings(max_examples=50, stateful_step_count=30)
TestRocksIndex = RocksMachine.TestCase
TestRocksIndex.settings = settings(max_examples=20, stateful_step_count=20)


class LongRocksMachine(RocksMachine):
    """The same with many more and longer sequences."""


TestLongRocksIndex = pytest.mark.soak(LongRocksMachine.TestCase)
TestLongRocksIndex.settings = settings(max_examples=100, stateful_step_count=50)


def test_the_order_and_number_of_keys_does_not_matter_to_a_read(index: Index) -> None:
    """Keys may be asked for in any order, more than once, and not at all."""
    index.write(Changes(put(Keyspace.IDS, {b"a": b"1", b"b": b"2"}), {}, {}))
    index.rotate({})
    index.write(Changes(put(Keyspace.IDS, {b"b": b"3"}), {}, {}))

    assert index.read(Keyspace.IDS, [b"b", b"a", b"c", b"b"]) == [b"3", b"1", None, b"3"]
    assert index.read(Keyspace.IDS, (b"a",)) == [b"1"]
    assert index.read(Keyspace.IDS, []) == []


def test_a_key_that_is_deleted_and_put_in_one_batch_is_put(index: Index) -> None:
    """A batch replaces a row by deleting and putting it, in whatever order they are listed."""
    index.write(Changes(put(Keyspace.IDS, {b"a": b"1"}), {}, {}))

    index.write(Changes(put(Keyspace.IDS, {b"a": b"2"}), {Keyspace.IDS: [b"a"]}, {}))

    assert index.read(Keyspace.IDS, [b"a"]) == [b"2"]


def test_keys_without_values_are_not_written(index: Index) -> None:
    """A batch that cannot be meant is refused, rather than written in part."""
    with pytest.raises(ValueError, match=r"\d"):
        index.write(Changes({Keyspace.IDS: Puts([b"a", b"b"], [b"1"])}, {}, {}))

    assert list(index.scan(Keyspace.IDS)) == []


def test_a_row_is_gone_after_two_rotations_without_being_written(index: Index) -> None:
    """A rotation forgets the previous generation and nothing else, meta least of all."""
    index.write(Changes(put(Keyspace.TEXTS, {b"old": b"1", b"new": b"1"}), {}, {"kept": b"1"}))
    index.rotate({})
    index.write(Changes(put(Keyspace.TEXTS, {b"new": b"2"}), {}, {}))

    index.rotate({"rotated": b"2"})

    assert index.read(Keyspace.TEXTS, [b"old", b"new"]) == [None, b"2"]
    assert index.meta() == {"kept": b"1", "rotated": b"2"}


def test_a_deleted_row_is_gone_from_both_generations(index: Index) -> None:
    """No older row comes to light where a newer one is deleted, nor stays where there is none."""
    index.write(Changes(put(Keyspace.IDS, {b"both": b"1", b"old": b"1", b"kept": b"1"}), {}, {}))
    index.rotate({})
    index.write(Changes(put(Keyspace.IDS, {b"both": b"2"}), {}, {}))

    index.write(Changes({}, {Keyspace.IDS: [b"both", b"never", b"old"]}, {}))

    assert index.read(Keyspace.IDS, [b"both", b"kept", b"never", b"old"]) == [
        None,
        b"1",
        None,
        None,
    ]
    assert list(index.scan(Keyspace.IDS)) == [(b"kept", b"1")]


def test_a_closed_index_says_so(index: Index) -> None:
    """After `close` every call fails with an error of ours, and closing again does nothing."""
    index.write(Changes(put(Keyspace.TEXTS, {b"a": b"1", b"b": b"1"}), {}, {}))
    scan = index.scan(Keyspace.TEXTS)
    assert next(scan) == (b"a", b"1")

    index.close()
    index.close()

    calls: list[Callable[[], object]] = [
        lambda: index.read(Keyspace.TEXTS, [b"a"]),
        lambda: index.scan(Keyspace.TEXTS),
        lambda: next(scan),
        index.meta,
        lambda: index.write(NOTHING),
        lambda: index.rotate({}),
    ]
    for call in calls:
        with pytest.raises(StreamDedupError, match="closed"):
            call()


def test_readers_see_a_batch_whole_while_it_is_written_and_generations_rotate(
    index: Index,
) -> None:
    """A thread that reads beside the writer sees each batch whole, and never an older one later."""
    asked = [b"%d" % number for number in range(50)]
    index.write(Changes(put(Keyspace.IDS, dict.fromkeys(asked, b"%08d" % 0)), {}, {}))
    written = threading.Event()
    failures: list[object] = []

    def read() -> None:
        last = b""
        while not written.is_set():
            found = index.read(Keyspace.IDS, asked)
            scanned = [value for _, value in index.scan(Keyspace.IDS)]
            seen = [*{value or b"" for value in found}, *set(scanned)]
            if len(seen) != 2 or len(scanned) != len(asked) or not last <= seen[0] <= seen[1]:
                failures.append(seen)
            last = seen[-1]

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(1, 200):
        value = b"%08d" % number
        index.write(Changes(put(Keyspace.IDS, dict.fromkeys(asked, value)), {}, {}))
        if number % 10 == 0:
            index.rotate({})
    written.set()
    for reader in readers:
        reader.join()

    assert failures == []


def test_closing_waits_for_readers(index: Index) -> None:
    """A reader at work when the index closes gets its rows, or the error of a closed one."""
    asked = [b"%06d" % number for number in range(5000)]
    index.write(Changes(put(Keyspace.IDS, dict.fromkeys(asked, b"v")), {}, {}))
    surprises: list[object] = []
    started = threading.Barrier(4)

    def read() -> None:
        index.read(Keyspace.IDS, asked)
        started.wait()
        try:
            while True:
                found = index.read(Keyspace.IDS, asked)
                surprises.extend(value for value in found if value != b"v")
                surprises.extend(row for row in index.scan(Keyspace.IDS) if row[1] != b"v")
        except StreamDedupError as error:
            surprises.extend([error] if "closed" not in str(error) else [])

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    started.wait()
    index.close()
    for reader in readers:
        reader.join()

    assert surprises == []


# Writes rows and meta together, rotates now and then, and tells after each batch that it returned.
WRITER = """
import sys
from stream_dedup.config import IndexSettings
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes, Keyspace, Puts
from stream_dedup.quantities import Size

settings = IndexSettings(memory_bytes_max=Size(64 << 20))
index = RocksIndex.open(sys.argv[1], settings)
first = int(index.meta().get("next", b"0"))
rotated = index.meta().get("rotated")
print(first, flush=True)
for number in range(first, first + 100_000):
    if number % 7 == 0 and rotated != b"%d" % number:
        rotated = b"%d" % number
        index.rotate({"rotated": rotated})
    keys = [b"%08d-%02d" % (number, row) for row in range(30)]
    puts = {space: Puts(keys, [b"v" * 300] * len(keys)) for space in (Keyspace.IDS, Keyspace.TEXTS)}
    index.write(Changes(puts, {}, {"next": b"%d" % (number + 1)}))
    print(number + 1, flush=True)
"""


def kill_a_writer(directory: Path, lines: int) -> int:
    """Let a process write until it has told so many times, kill it, return the last it told."""
    command = [sys.executable, "-c", WRITER, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(lines)]
        os.kill(writer.pid, signal.SIGKILL)
        told += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    return told[-1]


def check_survivors(directory: Path, told: int) -> None:
    index = RocksIndex.open(directory, SETTINGS, create=False)
    try:
        after = int(index.meta().get("next", b"0"))
        rotated = int(index.meta().get("rotated", b"0"))
        assert after >= told
        for keyspace in (Keyspace.IDS, Keyspace.TEXTS):
            numbers = [int(key[:8]) for key, _ in index.scan(keyspace)]
            first = numbers[0] // 7 * 7 if numbers else after
            # Of the generation before the last rotation all is there, or nothing.
            assert first in {rotated - 7, rotated} or not numbers
            assert numbers == [number for number in range(first, after) for _ in range(30)]
    finally:
        index.close()


def kill_repeatedly(directory: Path, times: int, seed: int) -> None:
    moments = random.Random(seed)
    for _ in range(times):
        told = kill_a_writer(directory, lines=moments.randint(1, 60))
        check_survivors(directory, told)


def kill_a_creator(directory: Path, files: int) -> None:
    """Let a process create an index, and kill it once there are so many files."""
    command = [sys.executable, "-c", WRITER, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as writer:
        while not directory.exists() or len(os.listdir(directory)) < files:
            assert writer.poll() is None
        os.kill(writer.pid, signal.SIGKILL)


def test_what_was_written_survives_a_kill(tmp_path: Path) -> None:
    """After SIGKILL at any moment every batch that returned is there, whole, with its meta."""
    kill_repeatedly(tmp_path / "index", times=4, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_what_was_written_survives_many_kills(tmp_path: Path, seed: int) -> None:
    """The same, many times over, on one directory and on fresh ones."""
    kill_repeatedly(tmp_path / "index", times=20, seed=seed)


@pytest.mark.parametrize("files", [1, 3, 5, 7])
def test_a_creation_that_was_killed_is_completed(tmp_path: Path, files: int) -> None:
    """After SIGKILL at any moment of its creation an index opens, and is as good as new."""
    kill_a_creator(tmp_path / "index", files)

    index = RocksIndex.open(tmp_path / "index", SETTINGS)
    written = int(index.meta().get("next", b"0"))
    index.close()
    assert kill_a_writer(tmp_path / "index", lines=10) >= written + 8
    check_survivors(tmp_path / "index", written + 8)
