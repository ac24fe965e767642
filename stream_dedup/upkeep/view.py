"""A look at an index as it is now, also while a process writes to it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from stream_dedup.config import IndexSettings
from stream_dedup.errors import Refused
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.quantities import Size

# A look must not need as much memory as the service beside it.
_MEMORY_BYTES_MAX = Size(1 << 27)
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class View:
    """An open index that stays as it was when it was opened."""

    index: RocksIndex
    opened: float  # seconds since 1970
    written: float  # when something was written last, before it was opened

    @property
    def age_seconds(self) -> float:
        """How long ago it was opened."""
        return time.time() - self.opened

    @property
    def last_write_seconds(self) -> float:
        """How long before it was opened something was written last."""
        return max(0.0, self.opened - self.written)


@contextmanager
def viewed(directory: str, settings: IndexSettings) -> Iterator[View]:
    """Open a view, and close it behind the block."""
    view = _open(Path(directory), settings)
    try:
        yield view
    finally:
        view.index.close()


def _open(path: Path, settings: IndexSettings) -> View:
    """Open it again if files of the log went away meanwhile: what they held may be missing."""
    small = replace(settings, memory_bytes_max=min(settings.memory_bytes_max, _MEMORY_BYTES_MAX))
    for attempt in range(1, _ATTEMPTS + 1):
        before = _files(path)
        opened = time.time()
        try:
            index = RocksIndex.open(path, small, mode="view")
        except Refused:
            if before.keys() <= _files(path).keys() or attempt == _ATTEMPTS:
                raise
            continue
        logs = {name for name in before if name.endswith(".log")}
        if logs <= _files(path).keys() or attempt == _ATTEMPTS:
            break
        index.close()
    return View(index, opened, max(before.values(), default=opened))


def _files(path: Path) -> dict[str, float]:
    """Return when each file that holds rows was written last."""
    written: dict[str, float] = {}
    if path.is_dir():
        for entry in os.scandir(path):
            if entry.name.endswith((".log", ".sst")) or entry.name.startswith("MANIFEST-"):
                try:
                    written[entry.name] = entry.stat().st_mtime
                except FileNotFoundError:
                    continue
    return written
