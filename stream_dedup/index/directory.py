"""The directory of an index before RocksDB touches it: what it holds, and what may be done there.

RocksDB would make an empty database wherever the file CURRENT is missing, over the remains of a
full one. So a directory is filled only if it was empty, and a mark says so until the index in it
is complete: who finds the mark may start again.
"""

import os
from enum import StrEnum, auto
from pathlib import Path

from stream_dedup.errors import InputError, Refused, StreamDedupError, Unavailable

CURRENT = "CURRENT"
MARK = "stream-dedup-is-creating-this-index"
_OF_NO_ONE = {"lost+found"}  # lies in the root of every new ext4 volume


_WAYS_OUT = (
    "Put a snapshot in its place with `stream-dedup index restore`, "
    "or move the directory away and build the index anew"
)


class State(StrEnum):
    """What a directory is to us."""

    EMPTY = auto()
    BEGUN = auto()  # begun and not completed: nothing was ever written to it
    INDEX = auto()


def inspect(directory: Path) -> State:
    """Tell what lies there, a missing directory being an empty one; refuse what is no index."""
    try:
        names = set(os.listdir(directory)) - _OF_NO_ONE
    except FileNotFoundError:
        return State.EMPTY
    except OSError as error:
        raise InputError(f"cannot read the index directory {directory}: {error.strerror}") from None
    if MARK in names:
        return State.BEGUN
    if CURRENT in names:
        return State.INDEX
    if not names:
        return State.EMPTY
    if any(name.startswith("MANIFEST-") or name.endswith((".sst", ".log")) for name in names):
        raise damaged(directory, f"its file {CURRENT} is missing")
    raise Refused(
        f"{directory} holds other files and no index ({', '.join(sorted(names)[:3])}): "
        "nothing was changed. Name an empty or a new directory as index.directory"
    )


def begin(directory: Path) -> None:
    """Make the directory, and mark it as one whose index is not complete."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / MARK).touch()
    except OSError as error:
        raise InputError(
            f"cannot create the index directory {directory}: {error.strerror}"
        ) from None


def complete(directory: Path) -> None:
    """Take the mark away: from now on the directory holds an index."""
    (directory / MARK).unlink(missing_ok=True)


def check_new(directory: Path) -> None:
    """Refuse to make what exists or cannot be made."""
    try:
        directory.mkdir()
        directory.rmdir()
    except OSError as error:
        raise InputError(f"cannot create {directory}: {error.strerror}") from None


def file_bytes(directory: Path) -> int:
    """Sum the sizes of all files, of which some may vanish meanwhile."""
    total = 0
    for entry in os.scandir(directory):
        try:
            total += entry.stat(follow_symlinks=False).st_size if entry.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def damaged(directory: Path, reason: str) -> Refused:
    """Say that an index cannot be relied on, and what to do."""
    return Refused(f"the index in {directory} is damaged ({reason}). {_WAYS_OUT}")


def explain(message: str, directory: Path) -> StreamDedupError:
    """Turn what RocksDB says into an error that tells what to do."""
    if "lock hold by current process" in message or "While lock file" in message:
        return Refused(
            f"{directory} is open in another process that writes to it: end that one, or name "
            "another index.directory"
        )
    if "ermission denied" in message or "Read-only file system" in message:
        return InputError(
            f"cannot write to the index directory {directory} ({message}), as even a look at an "
            "index must: give this user the right to, or run as the one who owns it"
        )
    if message.startswith("Corruption") or "No such file or directory" in message:
        return damaged(directory, message)
    if message.startswith(("IO error", "[Errno")):
        return Unavailable(
            f"the disk under {directory} fails ({message}). The index takes no more writes until "
            "it is opened again: make room or mend the disk first"
        )
    return StreamDedupError(f"the index in {directory} failed ({message})")
