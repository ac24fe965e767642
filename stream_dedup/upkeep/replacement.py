"""Put another index in the place of one: as a whole or not at all, whatever ends the program.

All of it happens in the directory itself, which may be the root of a volume, and under the lock
that RocksDB takes there, so that nobody opens what is half done:

    being-made/   where the other index is made; as long as it is called so, nothing has happened
    set-aside/    takes the files of the old index, CURRENT first: without it nobody opens the rest
    replacement/  the other index, complete: from here on there is no way back

In the end its files lie in the directory, CURRENT last, and set-aside/ is called before-…/.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.index.directory import CURRENT, MARK
from stream_dedup.index.rocksdb_logs import FIRST_LOG
from stream_dedup.outputs import sync_directory

LOCK = "LOCK"
_BEING_MADE = "being-made"
_SET_ASIDE = "set-aside"
_REPLACEMENT = "replacement"
_KEPT = "before-"
# What RocksDB makes; all else in the directory is somebody else's and stays where it is.
_OURS = re.compile(
    rf"CURRENT|IDENTITY|LOG|LOG\.old\.\d+|(?:MANIFEST|OPTIONS)-\d+|\d+\.(?:sst|log|blob|dbtmp)"
    rf"|rocksdict-config\.json|{MARK}|{FIRST_LOG}(?:\.new)?"
)


def replace_index(directory: Path, make: Callable[[Path], None]) -> Path | None:
    """Let `make` fill an empty directory with an index, and put that in the place of the old one.

    Return where the old one lies now, None if there was none.
    """
    with _disk_errors(directory):
        _refuse_foreign(directory)
    with _disk_errors(directory), locked(directory):
        _settle(directory)
        made = directory / _BEING_MADE
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        try:
            make(made)
            _decide(directory)
        finally:
            kept = _settle(directory)
            shutil.rmtree(made, ignore_errors=True)
    return kept


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Keep every process from writing to the index, or refuse if one does.

    The lock ends early if this process opens the index to write meanwhile; a view does no harm.
    """
    is_new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / LOCK
    with path.open("ab") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(
                f"{directory} is open in another process that writes to it: end that one first"
            ) from None
        try:
            yield
        finally:
            if os.listdir(directory) == [LOCK]:
                path.unlink()
                if is_new:
                    directory.rmdir()


def _refuse_foreign(directory: Path) -> None:
    """Refuse a directory that is in use for something else."""
    ours = {LOCK, _BEING_MADE, _SET_ASIDE, _REPLACEMENT, "lost+found"}
    there = directory.iterdir() if directory.is_dir() else ()
    names = [path.name for path in there if path.name not in ours]
    foreign = [name for name in names if not (_OURS.fullmatch(name) or name.startswith(_KEPT))]
    if foreign and not any(map(_OURS.fullmatch, names)):
        raise Refused(
            f"{directory} holds other files and no index ({', '.join(sorted(foreign)[:3])}): "
            "nothing was changed"
        )


def _decide(directory: Path) -> None:
    """Close the old index to everybody, then call the other one complete."""
    aside = directory / _SET_ASIDE
    aside.mkdir()
    sync_directory(directory / _BEING_MADE)
    if (directory / CURRENT).exists():
        (directory / CURRENT).rename(aside / CURRENT)
    sync_directory(directory)
    (directory / _BEING_MADE).rename(directory / _REPLACEMENT)
    sync_directory(directory)


def _settle(directory: Path) -> Path | None:
    """Finish a replacement that was decided on, undo one that was not."""
    aside, replacement = directory / _SET_ASIDE, directory / _REPLACEMENT
    kept = None
    if replacement.exists():
        if aside.exists():
            kept = _set_aside(directory, aside)
        _move(replacement, directory)
        shutil.rmtree(replacement)
        sync_directory(directory)
    elif aside.exists():
        _move(aside, directory)
        aside.rmdir()
        sync_directory(directory)
    return kept


def _set_aside(directory: Path, aside: Path) -> Path | None:
    _move(directory, aside)
    if not any(aside.iterdir()):
        aside.rmdir()
        return None
    kept = _free_name(directory)
    aside.rename(kept)
    sync_directory(directory)
    return kept


def _free_name(directory: Path) -> Path:
    stem = f"{_KEPT}{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 100))]
    return next(directory / name for name in names if not (directory / name).exists())


def _move(source: Path, target: Path) -> None:
    """Move all files of an index, CURRENT last; each directory keeps the lock that is its own."""
    files = [path for path in source.iterdir() if _OURS.fullmatch(path.name)]
    for path in sorted(files, key=lambda path: path.name == CURRENT):
        path.rename(target / path.name)
    sync_directory(target)


@contextmanager
def _disk_errors(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or directory
        raise Unavailable(f"cannot write {where}: {error.strerror or error}") from None
