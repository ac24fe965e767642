"""Logs of an index that are missing, cut or garbled: refused where they would leave a hole."""

import errno
import os
import random
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.index import rocksdb_logs
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.index.rocksdb_files import Mode
from tests.crashes import MEMORY, copy_at_a_moment
from tests.unit.index.batches import SETTINGS, content, cut, largest, last_batch, write, zero

BLOCK, HEAD = 1 << 15, 7  # bytes of a block of a log, and of what is before a piece in it
Damage = Callable[[Path], object]


class Moments(NamedTuple):
    """An index of several logs that was killed, and as it was some batches before."""

    earlier: Path
    killed: Path


@pytest.fixture(scope="module")
def moments() -> Iterator[Moments]:
    """Write until there are several logs, none of which any file of rows makes needless."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        made = Moments(Path(folder) / "earlier", Path(folder) / "killed")
        index = RocksIndex.open(Path(folder) / "open", SETTINGS)
        for number in range(1, 201):
            write(index, number, text_bytes=30_000)
            if number == 190:
                copy_at_a_moment(Path(folder) / "open", made.earlier)
        copy_at_a_moment(Path(folder) / "open", made.killed)
        index.close()
        yield made


def logs(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.log"))


LOSSES: dict[str, Damage] = {
    "cut within a batch": lambda log: cut(log, -7),
    "cut in its middle": lambda log: cut(log, 0.5),
    "empty": lambda log: cut(log, 0),
    "full of zeros": zero,
    "missing": lambda log: log.unlink(),
}


@pytest.mark.parametrize("mode", ["write", "view"])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_log_that_others_follow_leaves_no_hole(
    moments: Moments, tmp_path: Path, place: int, loss: Damage, mode: Mode
) -> None:
    """Of several logs only the last may end before its time: no later one is read past a gap."""
    directory = Path(shutil.copytree(moments.killed, tmp_path / "index"))
    assert len(logs(directory)) > 3
    loss(logs(directory)[place])
    before = content(directory)

    with pytest.raises(Refused, match="index restore"):
        RocksIndex.open(directory, SETTINGS, mode=mode)
    assert content(directory) == before


def test_a_log_that_lost_whole_batches_is_noticed(moments: Moments, tmp_path: Path) -> None:
    """A log that ends with a whole batch, but before the next log begins, is refused as well."""
    directory = Path(shutil.copytree(moments.killed, tmp_path / "index"))
    last = logs(moments.earlier)[-1]
    assert 0 < last.stat().st_size < (directory / last.name).stat().st_size
    assert last.name != logs(directory)[-1].name
    shutil.copyfile(last, directory / last.name)

    with pytest.raises(Refused, match="something is missing between"):
        RocksIndex.open(directory, SETTINGS)


def test_the_last_log_may_end_anywhere(moments: Moments, tmp_path: Path) -> None:
    """However much of it a kill or a disk took, what is left is an index of an earlier moment."""
    size = logs(moments.killed)[-1].stat().st_size
    for kept in {0, 1, 6, 7, 18, 19, size // 3, size // 2, size - 1}:
        directory = Path(shutil.copytree(moments.killed, tmp_path / str(kept)))
        os.truncate(logs(directory)[-1], kept)
        with closing(RocksIndex.open(directory, SETTINGS)) as index:
            assert 180 < last_batch(index) < 200


def test_logs_that_are_not_needed_may_be_there_or_not(moments: Moments, tmp_path: Path) -> None:
    """A kill while old logs are removed leaves some of them, with gaps, and costs nothing."""
    directory = Path(shutil.copytree(moments.killed, tmp_path / "index"))
    first = logs(directory)[0]
    (directory / "000001.log").write_bytes(first.read_bytes())
    old = [log for log in logs(moments.earlier) if log.name < first.name]
    for log in old[:1]:
        shutil.copyfile(log, directory / log.name)

    with closing(RocksIndex.open(directory, SETTINGS)) as index:
        assert last_batch(index) == 200
    assert logs(directory)[0].name > first.name, "what is in files needs no log"


# A record that is whole, and too short to be one of a log.
@example(place=0, noise=b"\0\0\0\0\1\0\1\0", is_cut=False)
@given(
    place=st.integers(0, 60) | st.integers(0, 1 << 20),
    noise=st.binary(max_size=40),
    is_cut=st.booleans(),
)
@pytest.mark.parametrize("pattern", ["*.log", "MANIFEST-*"])
def test_whatever_its_files_hold_an_index_is_looked_at_or_refused(
    moments: Moments, pattern: str, place: int, noise: bytes, is_cut: bool
) -> None:
    """Logs and lists of files that are garbled or cut anywhere are read to their end, or refused.

    What is not refused here is for RocksDB to judge.
    """
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        directory = Path(shutil.copytree(moments.earlier, folder, dirs_exist_ok=True))
        with largest(directory, pattern).open("r+b") as file:
            file.seek(place % (largest(directory, pattern).stat().st_size + 1))
            file.write(noise)
            if is_cut:
                file.truncate()
        with suppress(Refused):
            rocksdb_logs.check(directory)


def test_a_log_that_goes_while_they_are_looked_at_is_no_damage(
    moments: Moments, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a process that writes, and removes what is in files, one looks again."""
    found = rocksdb_logs._numbers
    looks: list[list[int]] = [[*found(moments.killed), 999_999], []]
    monkeypatch.setattr(
        rocksdb_logs, "_numbers", lambda directory: looks.pop() if looks else found(directory)
    )

    rocksdb_logs.check(moments.killed)

    assert looks == []


def as_log(records: list[bytes]) -> bytes:
    """Lay records out as RocksDB does, in pieces that end where a block ends."""
    written, kinds = b"", {(True, True): 1, (True, False): 2, (False, False): 3, (False, True): 4}
    for record in records:
        rest, is_first = record, True
        while rest or is_first:
            left = BLOCK - len(written) % BLOCK
            if left < HEAD:
                written += bytes(left)
                left = BLOCK
            piece, rest = rest[: left - HEAD], rest[left - HEAD :]
            kind = bytes([kinds[is_first, not rest]])
            written += bytes(4) + len(piece).to_bytes(2, "little") + kind + piece
            is_first = False
    return written


@given(st.lists(st.integers(12, 100) | st.integers(32_700, 32_800), max_size=8), st.floats(0, 1))
def test_whole_records_are_found_however_they_lie_in_blocks(sizes: list[int], cut: float) -> None:
    """A record is cut where a block ends, and none begins where the head of a piece has no room."""
    records = [random.Random(number).randbytes(size) for number, size in enumerate(sizes)]
    ends = [len(as_log(records[: count + 1])) for count in range(len(records))]
    written = as_log(records)[: round(cut * sum(ends[-1:]))]
    with tempfile.NamedTemporaryFile(dir=MEMORY) as file:
        file.write(written)
        file.flush()
        found = list(rocksdb_logs._records(Path(file.name)))

    whole = [record for record, end in zip(records, ends, strict=True) if end <= len(written)]
    assert found == [record[:64] for record in whole]


@pytest.mark.parametrize(("zeroed", "rows"), [(0, 4), (1, None), (3, None), (4, 4)])
def test_a_block_of_zeros_within_a_log_is_noticed(
    tmp_path: Path, zeroed: int, rows: int | None
) -> None:
    """RocksDB passes over it without a word: what lay there must not be missed by what follows."""
    batches = [struct.pack("<QI", row, 1).ljust(BLOCK - HEAD, b".") for row in range(1, 6)]
    content = bytearray(as_log(batches))
    content[BLOCK * zeroed : BLOCK * (zeroed + 1)] = bytes(BLOCK)
    (tmp_path / "000004.log").write_bytes(content)

    if rows is None:
        with pytest.raises(Refused, match="missing within its file"):
            rocksdb_logs._span(tmp_path, 4)
    else:
        assert len(rocksdb_logs._span(tmp_path, 4)) == rows


@pytest.mark.parametrize("mode", ["write", "view"])
@pytest.mark.parametrize("loss", ["batches", "all", "file"])
def test_a_log_that_ends_before_what_files_hold_is_noticed(
    tmp_path: Path, loss: str, mode: Mode
) -> None:
    """Also where nothing follows it yet: some of its rows are in files, the others would go."""
    index = RocksIndex.open(tmp_path / "open", SETTINGS)
    for number in range(1, 41):
        write(index, number)
        if number == 30:
            copy_at_a_moment(tmp_path / "open", tmp_path / "earlier")
    index.compact()
    copy_at_a_moment(tmp_path / "open", tmp_path / "index")
    index.close()
    log, last = logs(tmp_path / "index")
    assert (log.stat().st_size > 0, last.stat().st_size) == (True, 0)
    with closing(RocksIndex.open(tmp_path / "index", SETTINGS, mode="view")) as index:
        assert last_batch(index) == 40

    if loss == "batches":
        shutil.copyfile(tmp_path / "earlier" / log.name, log)
    elif loss == "all":
        zero(log)
    else:
        log.unlink()
    with pytest.raises(Refused, match=f"its file {log.name} "):
        RocksIndex.open(tmp_path / "index", SETTINGS, mode=mode)


def test_an_index_that_cannot_be_noted_in_is_opened_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk without room is told as such, and the lock is free afterwards."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", lambda *arguments, **named: raising(full))
        with pytest.raises(Unavailable, match="No space left on device"):
            RocksIndex.open(tmp_path / "index", SETTINGS)

    with closing(RocksIndex.open(tmp_path / "index", SETTINGS)) as index:
        assert last_batch(index) == 0


def raising(error: Exception) -> int:
    raise error


def test_an_opening_cut_short_is_no_damage(
    moments: Moments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is killed between reading the logs and noting the first of the new ones, loses none.

    So does who opens an index in which no first log was ever noted.
    """
    directory = Path(shutil.copytree(moments.killed, tmp_path / "index"))
    with monkeypatch.context() as patch:
        patch.setattr(rocksdb_logs, "note_first", lambda directory: 1 / 0)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                RocksIndex.open(directory, SETTINGS)

    for _ in range(2):
        with closing(RocksIndex.open(directory, SETTINGS)) as index:
            assert last_batch(index) == 200
        (directory / rocksdb_logs.FIRST_LOG).unlink()
