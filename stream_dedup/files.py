"""Lines of JSONL files and pipes: gzip and zstd are known by their first bytes, pipes can be kept.

A pipe that will be needed twice is copied to a temporary file while it is read.
"""

import io
import os
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from stream_dedup.compression import CORRUPT, decompressed
from stream_dedup.errors import InputError

STANDARD_INPUT = "-"

_BLOCK_BYTES = 1 << 20


class Block(NamedTuple):
    """Lines that were read together, without their ends."""

    source: str
    first_line: int  # counted from 1
    lines: list[bytes]
    bytes_read: int  # of the file as it lies on disk


class Source:
    """One file or pipe. A regular file can be read again as it is, a pipe only if it was kept."""

    def __init__(self, name: str, line_bytes_max: int, keep: bool = False) -> None:
        self.name = "standard input" if name == STANDARD_INPUT else name
        if name == STANDARD_INPUT and sys.stdin is None:
            raise InputError("cannot read standard input: it is closed")
        self._path: str | int = sys.stdin.fileno() if name == STANDARD_INPUT else name
        self._line_bytes_max = line_bytes_max
        try:
            status = os.stat(self._path)
        except OSError as error:
            raise InputError(f"cannot read {self.name}: {error.strerror}") from None
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"cannot read {self.name}: it is a directory")
        regular = stat.S_ISREG(status.st_mode)
        self.size = status.st_size if regular else None
        self._version: tuple[int, ...] | None = None  # of a regular file, once it was opened
        self._start = 0
        if regular and isinstance(self._path, int):  # someone may have read a part of it
            self._start = os.lseek(self._path, 0, os.SEEK_CUR)
        self._copy = tempfile.TemporaryFile() if keep and not regular else None  # noqa: SIM115
        if self._copy is not None:  # closed, and so deleted, when nobody holds the source any more
            weakref.finalize(self, self._copy.close)
        self._copied = False

    def blocks(self) -> Iterator[Block]:
        """Yield all lines; the last one may lack its end. Longer lines than allowed come cut."""
        with self._open() as raw, self._errors():
            content = decompressed(raw)
            number, position, rest = 1, 0, b""
            while data := content.read(_BLOCK_BYTES):
                lines = (rest + data).split(b"\n")
                rest = lines.pop()[: self._line_bytes_max + 1]
                before, position = position, _position(raw, position)
                yield Block(self.name, number, lines, position - before)
                number += len(lines)
            if rest:
                yield Block(self.name, number, [rest], 0)

    @contextmanager
    def _open(self) -> Iterator[io.BufferedReader]:
        if self._copied:
            assert self._copy is not None
            self._copy.seek(0)
            yield io.BufferedReader(io.FileIO(self._copy.fileno(), closefd=False))
            return
        with self._errors(), open(self._path, "rb", closefd=isinstance(self._path, str)) as raw:
            if self.size is None:
                yield io.BufferedReader(_Pipe(raw, self._copy))
            else:
                self._refuse_another_version(os.fstat(raw.fileno()))
                raw.seek(self._start)
                yield raw
        self._copied = self._copy is not None

    def _refuse_another_version(self, status: os.stat_result) -> None:
        version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if self._version not in (None, version):
            raise InputError(f"{self.name} changed while it was read")
        self._version = version

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except CORRUPT as error:
            raise InputError(f"cannot read {self.name}: damaged or cut short ({error})") from None
        except OSError as error:
            raise InputError(f"cannot read {self.name}: {error.strerror or error}") from None


class _Pipe(io.RawIOBase):
    """Fills whole buffers, however small the pieces that come, and keeps a copy if there is one."""

    def __init__(self, source: BinaryIO, copy: BinaryIO | None) -> None:
        self._source = source
        self._copy = copy

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        if self._copy is not None:
            self._copy.write(data)
        return len(data)


def _position(raw: io.BufferedReader, last: int) -> int:
    try:
        return raw.tell()
    except OSError:  # a pipe
        return last
