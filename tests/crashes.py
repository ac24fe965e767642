"""Indexes as a crash leaves them, in folders that wait for no disk."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

# A folder in memory, where there is such a thing.
MEMORY = next((folder for folder in ["/dev/shm"] if os.access(folder, os.W_OK)), None)


def copy_at_a_moment(directory: Path, copy: Path) -> None:
    """Copy an index that is open, until no file came, grew or went meanwhile."""
    before: dict[str, int] | None = None
    while (found := file_sizes(directory)) != before:
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for name in found:
            with suppress(FileNotFoundError):
                shutil.copyfile(directory / name, copy / name)
        before = found


def file_sizes(directory: Path) -> dict[str, int]:
    sizes = {}
    for path in directory.iterdir():
        with suppress(FileNotFoundError):
            sizes[path.name] = path.stat().st_size
    return sizes
