"""What is special to the index on disk: damage, locks, views, snapshots, rotations cut short."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

import pytest

from stream_dedup.errors import InputError, Refused, StreamDedupError
from stream_dedup.index import rocksdb_files, rocksdb_rows, sieve
from stream_dedup.index.directory import MARK
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.index.rocksdb_files import Mode, names, open_families
from stream_dedup.interfaces import Changes, Keyspace, Puts
from tests.crashes import MEMORY, copy_at_a_moment
from tests.unit.index.batches import SETTINGS, content, cut, garble, largest, last_batch, write

THREADS = Path("/proc/self/task")
BATCHES = 60  # in the index that the tests damage; half of them lie in its log alone


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Make a folder in memory, where there is such a thing: nothing here waits for a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def killed() -> Iterator[Path]:
    """Make an index as a killed process leaves it: files, and a log of what is in none of them."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield make_killed(Path(folder))


def make_killed(directory: Path) -> Path:
    index = RocksIndex.open(directory / "closed", SETTINGS)
    for number in range(1, BATCHES // 2 + 1):
        write(index, number)
    index.close()
    index = RocksIndex.open(directory / "closed", SETTINGS)
    for number in range(BATCHES // 2 + 1, BATCHES + 1):
        write(index, number)
    copy_at_a_moment(directory / "closed", directory / "killed")
    index.close()
    return directory / "killed"


@pytest.fixture
def directory(killed: Path, tmp_path: Path) -> Path:
    """Copy the killed process's index, to be damaged."""
    return Path(shutil.copytree(killed, tmp_path / "index"))


Damage = Callable[[Path], None]
REFUSED_AT_OPEN: dict[str, Damage] = {
    "current missing": lambda at: (at / "CURRENT").unlink(),
    "current empty": lambda at: cut(at / "CURRENT", 0),
    "current garbled": lambda at: garble(at / "CURRENT", 0),
    "manifest missing": lambda at: largest(at, "MANIFEST-*").unlink(),
    "manifest empty": lambda at: cut(largest(at, "MANIFEST-*"), 0),
    "manifest cut": lambda at: cut(largest(at, "MANIFEST-*"), 0.5),
    "manifest garbled": lambda at: garble(largest(at, "MANIFEST-*"), 0.1),
    "rows missing": lambda at: largest(at, "*.sst").unlink(),
    "rows cut": lambda at: cut(largest(at, "*.sst"), -100),
    "rows empty": lambda at: cut(largest(at, "*.sst"), 0),
    "rows without an end": lambda at: garble(largest(at, "*.sst"), 0.9999),
    "log missing": lambda at: largest(at, "*.log").unlink(),
    "log garbled at its start": lambda at: garble(largest(at, "*.log"), 0),
    "log garbled in its middle": lambda at: garble(largest(at, "*.log"), 0.5),
    "log garbled near its end": lambda at: garble(largest(at, "*.log"), 0.99),
}


@pytest.mark.parametrize("mode", ["write", "view"])
@pytest.mark.parametrize("damage", REFUSED_AT_OPEN.values(), ids=REFUSED_AT_OPEN)
def test_a_damaged_index_is_refused_as_it_is(directory: Path, damage: Damage, mode: Mode) -> None:
    """Damage is told with the directory and a way out; nothing is wiped, repaired or made anew."""
    damage(directory)
    before = content(directory)

    with pytest.raises(Refused, match="index restore") as refusal:
        RocksIndex.open(directory, SETTINGS, mode=mode)

    assert str(directory) in str(refusal.value)
    after = content(directory)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("place", [0.3, 0.5, 0.7])
def test_garbled_rows_are_refused_when_they_are_read(directory: Path, place: float) -> None:
    """No row is made up or left out in silence where a file is damaged inside: calls fail."""
    path = largest(directory, "*.sst")
    garble(path, place)
    index = RocksIndex.open(directory, SETTINGS)
    asked = [key for number in range(1, BATCHES + 1) for key in batch_keys(number)]

    with pytest.raises(Refused, match=path.name):
        list(index.scan(Keyspace.BUCKETS))
    with pytest.raises(Refused, match="index restore"):
        index.read(Keyspace.BUCKETS, sorted(asked))
    index.close()
    RocksIndex.open(directory, SETTINGS).close()


@pytest.mark.parametrize("place", [0.3, 0.5, 0.7])
def test_garbled_rows_are_refused_soon_after_an_opening(directory: Path, place: float) -> None:
    """All keys are read to fill the sieve: who meets damage there writes nothing, nor sifts."""
    path = largest(directory, "*.sst")
    garble(path, place)
    index = RocksIndex.open(directory, SETTINGS)
    written = [BATCHES]

    def write_on() -> None:
        for number in range(written[-1] + 1, written[-1] + BATCHES):
            index.write(Changes({}, {}, {"batch": b"%d" % number}))
            written.append(number)

    for _ in range(3):
        with pytest.raises(Refused, match="index restore"):
            write_on()
        assert not index.has_whole_sieves()
    assert index.meta() == {"batch": b"%d" % written[-1]}
    index.close()


@pytest.mark.parametrize("count", [10, 64, 65, 129, 5000])
def test_two_threads_find_what_is_there(tmp_path: Path, count: int) -> None:
    """Values come in the order of the keys, whoever looks them up, and no thread stays."""
    keys = [b"%06d" % number for number in range(count)]
    values = {key: key[::-1] for key in keys[::3]}
    before = threading.active_count()

    with closing(RocksIndex.open(tmp_path / "index", SETTINGS)) as index:
        index.write(Changes({Keyspace.TEXTS: Puts([*values], [*values.values()])}, {}, {}))
        found = index.read(Keyspace.TEXTS, keys)
        assert threading.active_count() - before == (count > 64)

    assert found == [values.get(key) for key in keys]
    assert threading.active_count() == before


def test_the_cache_keeps_what_is_looked_for_again_and_again(tmp_path: Path) -> None:
    """What is looked for once leaves nothing there: it would drive out what is wanted often."""
    keys = [b"%06d" % number for number in range(1000)]
    noise = random.Random(1)
    rows = Puts(keys, [noise.randbytes(300) for _ in keys])
    with closing(RocksIndex.open(tmp_path, SETTINGS)) as index:
        index.write(Changes({Keyspace.TEXTS: rows}, {}, {}))
    with closing(RocksIndex.open(tmp_path, SETTINGS)) as index:
        before = index.memory_bytes()["cache"]
        assert index.read(Keyspace.TEXTS, keys) == rows.values
        once = index.memory_bytes()["cache"]
        for _ in range(10):
            assert index.read(Keyspace.TEXTS, keys) == rows.values
        often = index.memory_bytes()["cache"]

    assert once - before < 100_000
    assert often - before > 300_000


def test_files_that_were_merged_leave_the_first_level(tmp_path: Path) -> None:
    """There they would stay whole, each with a filter that fits into no part of the cache."""
    rows, pause = 100, threading.Event()
    work = ("rocksdb.compaction-pending", "rocksdb.num-running-compactions")
    families = open_families(tmp_path, SETTINGS, "write", new=True)
    with closing(families):
        family = families.by_name["texts.a"].rows
        for number in range(200):  # files of so many rows
            for place in range(rows):
                family.put(b"%03d%03d" % (place, number), b"value")
            family.flush()
            give_up = monotonic() + 60
            while any(family.property_int_value(name) for name in work):
                assert monotonic() < give_up
                pause.wait(0.001)
        files = [(file["level"], file["num_entries"]) for file in family.live_files()]

    assert max(level for level, _ in files) > 0
    assert {entries for level, entries in files if level == 0} <= {rows}


SIEVED = pytest.mark.parametrize("keyspace", [Keyspace.BUCKETS, Keyspace.IDS, Keyspace.EXACT])


@SIEVED
def test_what_is_there_is_found_before_and_after_the_sieve_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keyspace: Keyspace
) -> None:
    """An opening changes no answer, nor does what is written while the sieve is filled."""
    monkeypatch.setattr(rocksdb_rows, "_KEYS_OF_A_CHUNK", 1000)
    monkeypatch.setattr(sieve, "_SECONDS_MAX", 0.0)
    there: list[bytes] = []

    def take_in(index: RocksIndex, numbers: range) -> Iterator[bool]:
        for number in numbers:
            write(index, number, keyspace=keyspace)
            there.extend(batch_keys(number))
            assert None not in index.read(keyspace, sorted(there))
            assert index.read(keyspace, [b"absent"]) == [None]
            yield index.has_whole_sieves()

    with closing(RocksIndex.open(tmp_path, SETTINGS)) as index:
        assert all(take_in(index, range(1, BATCHES + 1)))
    index = RocksIndex.open(tmp_path, SETTINGS)
    states = [*take_in(index, range(BATCHES + 1, BATCHES + 9))]

    assert states == sorted(states)
    assert set(states) == {False, True}
    assert index.memory_bytes()["sieves"] > 0
    index.rotate({})
    assert None not in index.read(keyspace, sorted(there))
    index.rotate({})
    assert index.read(keyspace, sorted(there)) == [None] * len(there)
    index.close()


@SIEVED
@pytest.mark.parametrize("rotations", [0, 1, 2])
def test_what_is_there_is_found_however_much_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rotations: int, keyspace: Keyspace
) -> None:
    """A sieve that grows takes over what the smaller one knew, in a new generation as well."""
    monkeypatch.setattr(sieve, "_BYTES_MIN", 256)  # room for 168 keys
    index = RocksIndex.open(tmp_path, SETTINGS)
    for _ in range(rotations):
        index.rotate({})
    small = index.memory_bytes()["sieves"]
    there: list[bytes] = []
    for number in range(1, 101):
        write(index, number, keyspace=keyspace)
        there += batch_keys(number)
        assert None not in index.read(keyspace, sorted(there))
    assert index.memory_bytes()["sieves"] > 50 * small
    index.close()


@SIEVED
def test_an_index_whose_files_lie_in_levels_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keyspace: Keyspace
) -> None:
    """One that was merged level by level keeps all it has, and is merged by size from then on."""
    with monkeypatch.context() as levels:
        levels.setattr(rocksdb_files, "_merge_by_size", lambda family: None)
        with closing(RocksIndex.open(tmp_path, SETTINGS)) as index:
            for number in range(1, BATCHES):
                write(index, number, keyspace=keyspace)
            index.compact()
            write(index, BATCHES, keyspace=keyspace)
    there = sorted(key for number in range(1, 2 * BATCHES + 1) for key in batch_keys(number))

    with closing(RocksIndex.open(tmp_path, SETTINGS)) as index:
        for number in range(BATCHES + 1, 2 * BATCHES + 1):
            write(index, number, keyspace=keyspace)
        assert None not in index.read(keyspace, there)
        index.compact()
        assert None not in index.read(keyspace, there)
        assert [key for key, _ in index.scan(keyspace)] == there


def test_rows_garbled_at_their_start_are_refused_at_once(directory: Path) -> None:
    """Opening looks whether a family has rows, and so at the first of them."""
    garble(largest(directory, "*.sst"), 0)

    refusals = []
    for _ in range(2):  # who holds on to the first refusal does not hold the lock
        with pytest.raises(Refused, match="index restore") as refusal:
            RocksIndex.open(directory, SETTINGS)
        refusals.append(refusal)


def batch_keys(number: int) -> list[bytes]:
    noise = random.Random(number)
    return [noise.randbytes(6) for _ in range(100)]


HARMLESS: dict[str, tuple[Damage, int]] = {
    "nothing": (lambda at: None, BATCHES),
    "the last byte of the log": (lambda at: cut(largest(at, "*.log"), -1), BATCHES - 1),
    "the last bytes of the log": (lambda at: cut(largest(at, "*.log"), -1000), BATCHES - 1),
    "half of the log": (lambda at: cut(largest(at, "*.log"), 0.5), BATCHES * 3 // 4),
    "all of the log": (lambda at: cut(largest(at, "*.log"), 0), BATCHES // 2),
    "options": (lambda at: largest(at, "OPTIONS-*").unlink(), BATCHES),
    "identity": (lambda at: (at / "IDENTITY").unlink(), BATCHES),
    "lock": (lambda at: (at / "LOCK").unlink(), BATCHES),
}


@pytest.mark.parametrize(("loss", "batches"), HARMLESS.values(), ids=HARMLESS)
def test_a_cut_log_is_read_up_to_its_last_whole_batch(
    directory: Path, loss: Damage, batches: int
) -> None:
    """What a kill may cut off costs the last batches with their meta; what holds no rows, none."""
    loss(directory)

    modes: list[Mode] = ["view", "write", "write"]
    for mode in modes:
        index = RocksIndex.open(directory, SETTINGS, mode=mode)
        assert last_batch(index) == batches
        index.close()


def test_an_index_that_lost_a_family_is_refused(directory: Path) -> None:
    """A family of the current generation can get lost in no way that is ours."""
    families = open_families(directory, SETTINGS, "write", new=False)
    families.drop(f"{Keyspace.TEXTS}.{families.generation}")
    families.close()

    refusals = []
    for _ in range(2):
        with pytest.raises(Refused, match="families") as refusal:
            RocksIndex.open(directory, SETTINGS)
        refusals.append(refusal)


@pytest.mark.parametrize("dropped", range(len(Keyspace) + 1))
@pytest.mark.parametrize("created", [False, True])
def test_a_rotation_cut_short_loses_the_previous_generation_at_most(
    tmp_path: Path, dropped: int, created: bool
) -> None:
    """Wherever a rotation is cut, the current generation is there, and another rotation works."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    every = {keyspace: Puts([b"before"], [b"1"]) for keyspace in Keyspace}
    index.write(Changes(every, {}, {"batch": b"1"}))
    index.rotate({"rotated": b"1"})
    every = {keyspace: Puts([b"latest"], [b"2"]) for keyspace in Keyspace}
    index.write(Changes(every, {}, {"batch": b"2"}))
    index.close()

    families = open_families(tmp_path, SETTINGS, "write", new=False)
    previous = names("a")
    assert families.generation == "b"
    for name in previous[:dropped]:
        families.drop(name)
    if created:
        families.create(previous[: dropped // 2])
    families.close()

    view = RocksIndex.open(tmp_path, SETTINGS, mode="view")
    index = RocksIndex.open(tmp_path, SETTINGS)
    for opened in (view, index):
        assert opened.meta() == {"batch": b"2", "rotated": b"1"}
        for place, keyspace in enumerate(Keyspace):
            older = None if place < dropped else b"1"
            assert opened.read(keyspace, [b"latest", b"before"]) == [b"2", older]
    index.rotate({})
    assert index.read(Keyspace.TEXTS, [b"latest", b"before"]) == [b"2", None]
    view.close()
    index.close()


def test_a_creation_cut_short_can_be_repeated(tmp_path: Path) -> None:
    """A process killed before the index is complete leaves what the next one can complete."""
    whole = tmp_path / "whole"
    RocksIndex.open(whole, SETTINGS).close()
    files = sorted(path.name for path in whole.iterdir())
    early = [name for name in files if name.startswith(("LOCK", "LOG", "IDENTITY", "MANIFEST"))]
    for number, kept in enumerate([[], ["LOCK"], early, files]):
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / MARK).touch()
        for name in kept:
            shutil.copy(whole / name, directory / name)

        index = RocksIndex.open(directory, SETTINGS)
        write(index, 1)
        index.close()

        index = RocksIndex.open(directory, SETTINGS, create=False)
        assert last_batch(index) == 1
        index.close()


def test_a_mark_that_comes_back_costs_nothing(tmp_path: Path) -> None:
    """After the machine failed the mark of a creation may be there again, beside a full index."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    write(index, 1)
    index.rotate({})
    write(index, 2)
    index.close()
    (tmp_path / MARK).touch()

    for _ in range(2):
        index = RocksIndex.open(tmp_path, SETTINGS)
        assert last_batch(index) == 2
        index.close()


def test_what_is_no_index_is_refused(tmp_path: Path) -> None:
    """A directory of other files stays as it is; a path that cannot be one is an input error."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(Refused, match=r"notes\.txt"):
        RocksIndex.open(tmp_path, SETTINGS)
    with pytest.raises(InputError, match="Not a directory"):
        RocksIndex.open(tmp_path / "notes.txt", SETTINGS)
    with pytest.raises(InputError, match="Not a directory"):
        RocksIndex.open(tmp_path / "notes.txt" / "index", SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_an_index_is_made_only_where_it_may_be(tmp_path: Path) -> None:
    """A view and `create=False` ask for an index that exists; a volume's own folder is no file."""
    with pytest.raises(InputError, match="no index"):
        RocksIndex.open(tmp_path / "new", SETTINGS, mode="view")
    with pytest.raises(InputError, match="no index"):
        RocksIndex.open(tmp_path / "new", SETTINGS, create=False)
    assert not (tmp_path / "new").exists()

    (tmp_path / "volume" / "lost+found").mkdir(parents=True)
    RocksIndex.open(tmp_path / "volume", SETTINGS).close()
    RocksIndex.open(tmp_path / "volume", SETTINGS, create=False).close()


@contextmanager
def as_somebody_else() -> Iterator[None]:
    """Have no rights to what others own, as root has."""
    user = os.geteuid()
    os.seteuid(65534 if user == 0 else user)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_directory_that_cannot_be_written_is_an_input_error(tmp_path: Path) -> None:
    """Who may not write there is told so at once, and what is there stays as it is."""
    trials: list[tuple[str, Mode]] = [("new", "write"), ("index", "write"), ("index", "view")]
    index = RocksIndex.open(tmp_path / "index", SETTINGS)
    write(index, 1)
    index.close()
    for path in (*(tmp_path / "index").iterdir(), tmp_path / "index", tmp_path):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = content(tmp_path / "index")

    with as_somebody_else():
        for name, mode in trials:
            with pytest.raises(InputError, match=r"directory .*[Pp]ermission denied"):
                RocksIndex.open(
                    tmp_path / name, SETTINGS, mode="view" if mode == "view" else "write"
                )

    assert content(tmp_path / "index") == before
    for path in (tmp_path, tmp_path / "index"):
        path.chmod(0o755)


OTHER_WRITER = """
import sys
from stream_dedup.config import IndexSettings
from stream_dedup.index.rocksdb import RocksIndex

RocksIndex.open(sys.argv[1], IndexSettings())
"""


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    """One process writes; another one, or another part of it, is told who is in the way."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    write(index, 1)
    with pytest.raises(Refused, match="open in another process") as refusal:
        RocksIndex.open(tmp_path, SETTINGS)
    assert str(tmp_path) in str(refusal.value)

    run = subprocess.run(
        [sys.executable, "-c", OTHER_WRITER, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Refused" in run.stderr
    assert "open in another process" in run.stderr

    write(index, 2)
    index.close()
    index = RocksIndex.open(tmp_path, SETTINGS)
    assert last_batch(index) == 2
    index.close()


def test_an_index_that_is_closed_can_be_opened_whatever_is_still_held(tmp_path: Path) -> None:
    """Closing lets go of the directory at once, also where an error remembers what was read."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    write(index, 1)
    with pytest.raises(KeyError, match="only support bytes") as held:
        index.read(Keyspace.TEXTS, [1])  # type: ignore[list-item]
    index.close()

    assert any("state" in entry.frame.f_locals for entry in held.traceback)
    RocksIndex.open(tmp_path, SETTINGS).close()


def test_closing_waits_until_those_at_work_are_done(tmp_path: Path) -> None:
    """Who merges all files while another thread closes the index merges the last of them."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    write(index, 1)
    closer = threading.Thread(target=index.close)
    closed_early = []

    def on_progress(done: int, total: int) -> None:
        if done == 0:
            closer.start()
        closer.join(timeout=0.1)
        closed_early.append(not closer.is_alive())

    index.compact(on_progress)
    closer.join()

    assert len(closed_early) > 1
    assert not any(closed_early)


def test_whatever_is_asked_of_a_closed_index_says_so(tmp_path: Path) -> None:
    """Also what only an index on disk is asked for, and nothing is left where it was to lie."""
    index = RocksIndex.open(tmp_path / "index", SETTINGS)
    index.close()

    for call in (
        index.compact,
        index.sync,
        index.sizes,
        index.memory_bytes,
        index.has_whole_sieves,
        lambda: index.snapshot(tmp_path / "snapshot"),
    ):
        with pytest.raises(StreamDedupError, match="closed"):
            call()
    assert not (tmp_path / "snapshot").exists()


def test_a_view_shows_its_moment_while_the_writer_goes_on(tmp_path: Path) -> None:
    """A view keeps its rows and meta through writes, rotations, compaction and the writer's end."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    write(index, 1)
    index.rotate({})
    write(index, 2)
    view = RocksIndex.open(tmp_path, SETTINGS, mode="view")

    index.compact()
    for number in range(3, 9):
        write(index, number)
        index.rotate({})
    index.compact()
    index.close()

    assert last_batch(view) == 2
    assert view.read(Keyspace.TEXTS, [(1).to_bytes(6, "big"), (3).to_bytes(6, "big")])[1] is None
    view.close()


def test_views_open_beside_a_writer_at_any_moment(tmp_path: Path) -> None:
    """Files that the writer removes while a view opens do not spoil it."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    write(index, 1)
    ended = threading.Event()

    def write_on() -> None:
        for number in range(2, 80):
            write(index, number)
            if number % 7 == 0:
                index.rotate({})
            if number % 5 == 0:
                index.compact()
        ended.set()

    writer = threading.Thread(target=write_on)
    writer.start()
    views = 0
    while not ended.is_set():
        view = RocksIndex.open(tmp_path, SETTINGS, mode="view")
        batch = int(view.meta()["batch"])
        assert view.read(Keyspace.TEXTS, [batch.to_bytes(6, "big")]) != [None]
        view.close()
        views += 1
    writer.join()
    index.close()

    assert views > 0


def test_a_view_cannot_write(tmp_path: Path) -> None:
    """Writing to a view fails and changes nothing."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    write(index, 1)
    index.close()
    view = RocksIndex.open(tmp_path, SETTINGS, mode="view")

    with pytest.raises(StreamDedupError):
        write(view, 2)
    with pytest.raises(StreamDedupError):
        view.rotate({})

    assert last_batch(view) == 1
    view.close()


def test_a_snapshot_is_an_index_of_its_moment(tmp_path: Path) -> None:
    """A snapshot opens like any index and has the rows and the meta of one moment."""
    index = RocksIndex.open(tmp_path / "index", SETTINGS)
    write(index, 1)
    index.rotate({})
    write(index, 2)
    index.snapshot(tmp_path / "snapshot")
    write(index, 3)
    index.rotate({})
    with pytest.raises(InputError, match="File exists"):
        index.snapshot(tmp_path / "snapshot")
    with pytest.raises(InputError, match="No such file"):
        index.snapshot(tmp_path / "missing" / "snapshot")
    index.close()

    copy = RocksIndex.open(tmp_path / "snapshot", SETTINGS, create=False)
    assert last_batch(copy) == 2
    write(copy, 3)
    assert last_batch(copy) == 3
    copy.close()


def test_sizes_follow_what_is_written_and_compacted(tmp_path: Path) -> None:
    """The figures per keyspace count rows and bytes; a rotation gives space back."""
    index = RocksIndex.open(tmp_path, SETTINGS)
    for number in range(1, 101):
        write(index, number)
    index.compact()
    progress: list[tuple[int, int]] = []
    index.compact(lambda done, total: progress.append((done, total)))
    sizes = index.sizes()

    assert sizes[Keyspace.TEXTS].rows_estimated == 100
    assert 100 * 300 < sizes[Keyspace.TEXTS].bytes < 100 * 500
    assert sizes[Keyspace.BUCKETS].rows_estimated == 10_000
    assert sizes[Keyspace.IDS] == (0, 0)
    assert index.disk_bytes() > sum(size.bytes for size in sizes.values())
    assert progress[0][0] == 0
    assert progress[-1][0] == progress[-1][1] == len(progress) - 1

    index.rotate({})
    index.rotate({})
    assert {size for size in index.sizes().values()} == {(0, 0)}
    index.close()


# The system lets no file of this process grow beyond 256 KB: writing fails as on a full disk.
FULL_DISK = """
import os, resource, signal, sys
from stream_dedup.config import IndexSettings
from stream_dedup.errors import Unavailable
from stream_dedup.index.directory import MARK
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes, Keyspace, Puts
from stream_dedup.quantities import Size

settings = IndexSettings(memory_bytes_max=Size(64 << 20))
index = RocksIndex.open(sys.argv[1], settings)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, resource.RLIM_INFINITY))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
written = 0
try:
    while True:
        puts = {Keyspace.TEXTS: Puts([written.to_bytes(6, "big")], [os.urandom(40_000)])}
        index.write(Changes(puts, {}, {"written": b"%d" % (written + 1)}))
        written += 1
except Unavailable as error:
    assert sys.argv[1] in str(error), error
try:
    index.write(Changes({}, {}, {"written": b"none"}))
except Unavailable as error:
    print(written)
index.read(Keyspace.TEXTS, [b"x"])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
try:
    index.close()
except Unavailable:
    pass
index = RocksIndex.open(sys.argv[1], settings)
assert index.meta() == {"written": b"%d" % written}, index.meta()
assert len(list(index.scan(Keyspace.TEXTS))) == written
index.write(Changes({}, {}, {"written": b"more"}))
index.close()
"""


def test_a_full_disk_stops_writing_and_nothing_else(tmp_path: Path) -> None:
    """A batch that does not fit is not applied; after opening again all before it is there."""
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "index")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == (1 << 18) // 40_000


# Merging needs files of 800 KB, and the system lets none grow beyond 256 KB.
NO_ROOM_TO_MERGE = """
import os, resource, signal, sys
from stream_dedup.config import IndexSettings
from stream_dedup.errors import Unavailable
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes, Keyspace, Puts
from stream_dedup.quantities import Size

index = RocksIndex.open(sys.argv[1], IndexSettings(memory_bytes_max=Size(64 << 20)))
for number in range(20):
    puts = {Keyspace.TEXTS: Puts([number.to_bytes(6, "big")], [os.urandom(40_000)])}
    index.write(Changes(puts, {}, {}))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, resource.RLIM_INFINITY))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    index.compact()
except Unavailable as error:
    print(error)
"""


def test_merging_that_a_full_disk_ends_says_so(tmp_path: Path) -> None:
    """RocksDB keeps to itself that not all was merged; who asked for it is told, and where."""
    command = [sys.executable, "-c", NO_ROOM_TO_MERGE, str(tmp_path / "index")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
    assert f"the disk under {tmp_path / 'index'} failed: not all files are merged" in run.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux has a thread a priority")
def test_merging_waits_for_those_who_look_up_and_write(tmp_path: Path) -> None:
    """The threads that merge have a lower priority than all others, also after a second opening."""
    for _ in range(2):
        with closing(RocksIndex.open(tmp_path, SETTINGS)):
            niceness = {
                (name.read_text(), os.getpriority(os.PRIO_PROCESS, int(name.parent.name)))
                for name in THREADS.glob("*/comm")
            }
            merging = {nice for name, nice in niceness if name == "rocksdb:low\n"}
            others = {nice for name, nice in niceness if name != "rocksdb:low\n"}
            assert merging == {max(others) + 15}
