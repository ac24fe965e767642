"""Bring back a snapshot: link or copy it, see that it opens, put it in the place of the index."""

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple

from stream_dedup.config import IndexSettings
from stream_dedup.errors import InputError, Refused
from stream_dedup.index import directory as places
from stream_dedup.upkeep.replacement import LOCK, locked, replace_index
from stream_dedup.upkeep.standing import Standing, standing
from stream_dedup.upkeep.view import viewed

# Files of rows never change, so that two indexes may share them; all others are copied.
_SHARED = ".sst"
_LEFT_OUT = (LOCK, "LOG")


class Restored(NamedTuple):
    """What there is now, and where that lies which was there before."""

    standing: Standing
    kept: Path | None


def restore(
    snapshot: Path,
    directory: Path,
    settings: IndexSettings,
    on_bytes: Callable[[int], None] = lambda count: None,
) -> Restored:
    """Put a snapshot in the place of the index, if there is one."""
    if places.inspect(snapshot) is not places.State.INDEX:
        raise InputError(f"there is no snapshot in {snapshot}")
    if snapshot.resolve() == directory.resolve():
        raise InputError(f"{snapshot} is the index itself: name a snapshot")
    found: list[Standing] = []

    def make(made: Path) -> None:
        for path in _files(snapshot):
            _link_or_copy(path, made / path.name)
            on_bytes(path.stat().st_size)
        with viewed(str(made), settings) as view:
            state = standing(view.index.meta())
        if state is None:
            raise Refused(f"the snapshot in {snapshot} is empty: nothing was changed")
        found.append(state)

    with _unused(snapshot):
        kept = replace_index(directory, make)
    return Restored(found[0], kept)


def snapshot_bytes(snapshot: Path) -> int:
    """Return how much is to be linked or copied."""
    return sum(path.stat().st_size for path in _files(snapshot)) if snapshot.is_dir() else 0


def _files(snapshot: Path) -> list[Path]:
    return [
        path
        for path in sorted(snapshot.iterdir())
        if path.is_file() and not path.name.startswith(_LEFT_OUT)
    ]


def _unused(snapshot: Path) -> AbstractContextManager[None]:
    """Refuse an index that is being written to; a snapshot was never opened, so has no lock."""
    return locked(snapshot) if os.access(snapshot / LOCK, os.W_OK) else nullcontext()


def _link_or_copy(source: Path, target: Path) -> None:
    if source.name.endswith(_SHARED):
        try:
            os.link(source, target)
        except OSError:  # another disk, or one without links
            pass
        else:
            return
    shutil.copyfile(source, target)
    with target.open("rb") as file:
        os.fsync(file.fileno())
