"""The logs of an index: whether all are there that an opening has to read.

RocksDB reads those that it finds: where one was lost, by a disk or by somebody, it would go on with
a hole. Which must be there is told by two files:

    MANIFEST-…              RocksDB's own. From which log on there may be something that no file of
                            rows holds, the newest log when rows last went into files, and the
                            number of the last row that did.
    stream-dedup-first-log  Ours. With which log the process began that wrote this MANIFEST, for
                            until rows go into files RocksDB names a log that there never was.

Rows are numbered one after the other, so that nothing is missing between two logs or in one. Only
the last log may end anywhere. Checksums are for RocksDB to check.
"""

import os
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from stream_dedup.errors import Refused
from stream_dedup.index.directory import CURRENT, damaged

FIRST_LOG = "stream-dedup-first-log"
_TRIES = 20  # beside a process that writes, and removes logs meanwhile

# A file of records: each lies in one piece or more, none of which goes beyond a block.
_BLOCK_BYTES = 1 << 15
_PIECE = struct.Struct("<4xHB")  # behind a checksum: how long it is, and its kind
_NOTHING, _WHOLE, _BEGINNING, _END = 0, 1, 2, 4
_HEAD_BYTES = 64  # of a record, as much as is looked at

_BATCH = struct.Struct("<QI")  # a record of a log: the number of its first row, how many there are

# A record of MANIFEST that tells of logs begins with fields of a tag and a number.
_LOG, _NEXT_FILE, _LAST_ROW, _PREVIOUS_LOG, _OLDEST_LOG, _LAST_FAMILY = 2, 3, 4, 9, 10, 203
_NUMBERS = {_LOG, _NEXT_FILE, _LAST_ROW, _PREVIOUS_LOG, _OLDEST_LOG, _LAST_FAMILY}


class _Named(NamedTuple):
    """What MANIFEST says of logs, by their numbers."""

    oldest: int  # those before it are read no more
    newest: int  # began when rows last went into files
    last_row: int  # of those in files


def check(directory: Path) -> None:
    """Refuse an index without a log, or a part of one, that what was written later relies on."""
    for _ in range(_TRIES - 1):
        with suppress(Refused):
            return _check(directory)
    return _check(directory)


def note_first(directory: Path) -> None:
    """Note with which log an opening begins, before anything is written to it."""
    made = directory / f"{FIRST_LOG}.new"
    made.write_text(f"{_manifest(directory)} {max(_numbers(directory))}\n")
    os.replace(made, directory / FIRST_LOG)


def _check(directory: Path) -> None:
    try:
        manifest = _manifest(directory)
        named = _named(directory / manifest)
    except (OSError, ValueError):
        return  # RocksDB will say what is wrong with these
    began = _began(directory, manifest)
    first = max(began, named.oldest)
    spans = {number: _span(directory, number) for number in _numbers(directory) if number >= first}
    for number, is_needed in ((first, began > 0), (named.newest, named.newest > first)):
        if is_needed and number not in spans:
            raise damaged(directory, f"its file {_name(number)} is missing")
    # Besides the last one those are empty to which RocksDB tried to go on while the disk was full.
    filled = [number for number in sorted(spans) if spans[number]]
    if began and not spans[first] and (filled or named.newest > first):
        raise damaged(directory, f"its file {_name(first)} holds no rows, but others follow it")
    if filled and spans[filled[-1]].stop <= named.last_row:
        raise damaged(directory, f"its file {_name(filled[-1])} ends before what other files hold")
    for before, after in pairwise(filled):
        if spans[before].stop != spans[after].start:
            between = f"its files {_name(before)} and {_name(after)}"
            raise damaged(directory, f"something is missing between {between}")


def _span(directory: Path, number: int) -> range:
    """Return the numbers of what a log holds, up to the last whole batch."""
    span = range(0)
    with suppress(FileNotFoundError):  # it was removed meanwhile, for nobody needs it
        for head in _records(directory / _name(number)):
            if len(head) < _BATCH.size:  # garbled, which RocksDB will say
                break
            first, count = _BATCH.unpack_from(head)
            if span and first != span.stop:
                raise damaged(directory, f"something is missing within its file {_name(number)}")
            span = range(span.start if span else first, first + count)
    return span


def _named(manifest: Path) -> _Named:
    oldest = newest = last_row = 0
    for head in _records(manifest):
        for tag, number in _fields(head):
            oldest = number if tag == _OLDEST_LOG else oldest
            newest = max(newest, number) if tag == _LOG else newest
            last_row = number if tag == _LAST_ROW else last_row
    return _Named(oldest, newest, last_row)


def _fields(head: bytes) -> Iterator[tuple[int, int]]:
    """Yield the numbers that a record of MANIFEST begins with."""
    place = 0
    with suppress(IndexError):  # a record may be longer than what is looked at
        while place < len(head):
            tag, place = _varint(head, place)
            if tag not in _NUMBERS:
                return
            number, place = _varint(head, place)
            yield tag, number


def _varint(source: bytes, place: int) -> tuple[int, int]:
    """Return a number, seven bits a byte, and the place behind it."""
    number = shift = 0
    while source[place] >= 1 << 7:
        number |= (source[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    return number | source[place] << shift, place + 1


def _records(path: Path) -> Iterator[bytes]:
    """Yield the beginning of each record that is there as a whole."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head, place = b"", 0
        while len(piece := os.pread(file.fileno(), _PIECE.size + _HEAD_BYTES, place)) > _PIECE.size:
            length, kind = _PIECE.unpack_from(piece)
            left = _BLOCK_BYTES - place % _BLOCK_BYTES
            # RocksDB goes on with the next block as well.
            if left < _PIECE.size or kind == _NOTHING:
                place += left
                continue
            place += _PIECE.size + length
            if place > size:  # cut off
                return
            if kind in {_WHOLE, _BEGINNING}:
                head = b""
            head += piece[_PIECE.size :][: min(length, _HEAD_BYTES - len(head))]
            if kind in {_WHOLE, _END}:
                yield head


def _manifest(directory: Path) -> str:
    return (directory / CURRENT).read_text().strip()


def _began(directory: Path, manifest: str) -> int:
    """Return the number of the log with which this MANIFEST began; 0 where nobody noted it."""
    try:
        noted, number = (directory / FIRST_LOG).read_text().split()
        return int(number) if noted == manifest else 0
    except (FileNotFoundError, ValueError):
        return 0


def _numbers(directory: Path) -> list[int]:
    found = (re.fullmatch(r"(\d+)\.log", name) for name in os.listdir(directory))
    return [int(match[1]) for match in found if match]


def _name(number: int) -> str:
    return f"{number:06}.log"
