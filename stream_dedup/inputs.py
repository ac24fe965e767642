"""One input of a run: its lines from where the last run stopped, as soon as they are there.

A file is known again by its real path and its content; it may have grown, nothing else. A pipe is
new content at every start.
"""

import io
import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import NamedTuple

from stream_dedup.compression import (
    CORRUPT,
    START_BYTES,
    decompressed,
    is_compressed,
    may_be_compressed,
)
from stream_dedup.errors import InputError, Refused, UsageError
from stream_dedup.trail import Mark, Trail, trail_of, trail_through

STANDARD_INPUT = "-"

_READ_BYTES = 1 << 20
_POLL_SECONDS = 0.05  # how soon a stop is heard, and what was appended is seen
_WAYS_OUT = (
    "Put back the file that was read before, give this one a name of its own, or name another "
    "--index"
)


class Stopped(Exception):
    """Somebody asked to stop while there was nothing to read."""


class Portion(NamedTuple):
    """Lines that were there together, without their ends; longer ones than allowed are cut."""

    first_line: int  # counted from 0, over all that the input ever gave
    lines: list[bytes]
    ended: bool  # only the last line of an input may lack its end
    size: int  # of the lines, in bytes
    trail: Trail  # up to the end of the last line
    bytes_read: int  # of the file as it lies on disk


class Input:
    """A file or a pipe to be read."""

    def __init__(self, name: str, follow: bool = False) -> None:
        self.topic = name.encode(errors="backslashreplace").decode()
        self.name = "standard input" if name == STANDARD_INPUT else self.topic
        self.follow = follow
        if name == STANDARD_INPUT and sys.stdin is None:
            raise InputError("cannot read standard input: it is closed")
        self.path: str | int = sys.stdin.fileno() if name == STANDARD_INPUT else name
        with self.errors():
            status = os.stat(self.path)
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"cannot read {self.name}: it is a directory")
        self.resumable = stat.S_ISREG(status.st_mode) and name != STANDARD_INPUT
        self.size = status.st_size if stat.S_ISREG(status.st_mode) else None
        self.key = os.path.realpath(name) if self.resumable else name
        if follow and not self.resumable:
            raise UsageError("--follow is for files: a pipe is read until its writer closes it")

    def open(self, read: Mark | None, lines: int, stopped: Event) -> "Reader":
        """Open it behind what was read of it before, or refuse to if that is no longer there."""
        with self.errors(), ExitStack() as unless_refused:
            file = io.FileIO(self.path, closefd=isinstance(self.path, str))
            unless_refused.callback(file.close)
            content, trail = self._content(file, read.bytes if read else 0, stopped)
            if read is not None:
                self._refuse_other_content(read, trail)
            unless_refused.pop_all()
        return Reader(self, file, content, trail, lines)

    def _content(
        self, file: io.FileIO, length: int, stopped: Event
    ) -> tuple[io.BufferedReader, Trail]:
        """Return what is to be read, behind so many bytes of content, and the trail to there."""
        if not self.resumable:
            return decompressed(io.BufferedReader(_Pipe(file, stopped), _READ_BYTES)), Trail()
        start = file.read(START_BYTES)
        file.seek(0)
        if not is_compressed(start):
            trail = trail_of(file, length)
            raw = _Growing(file, self, stopped) if self.follow else file
            return io.BufferedReader(raw, _READ_BYTES), trail
        if self.follow:
            raise UsageError(f"--follow is for plain files: {self.name} is compressed")
        content = decompressed(io.BufferedReader(file, _READ_BYTES))
        return content, trail_through(content, length)

    def _refuse_other_content(self, read: Mark, trail: Trail) -> None:
        if trail.length < read.bytes:
            raise Refused(
                f"{self.name} is shorter than what was read of it: {trail.length:,} of "
                f"{read.bytes:,} bytes. {_WAYS_OUT}"
            )
        if trail.mark() != read:
            raise Refused(f"{self.name} is not the file that was read before. {_WAYS_OUT}")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Say of which input it is that something cannot be read."""
        try:
            yield
        except CORRUPT as error:
            raise InputError(f"cannot read {self.name}: damaged or cut short ({error})") from None
        except OSError as error:
            raise InputError(f"cannot read {self.name}: {error.strerror or error}") from None


class Reader:
    """Cuts content into lines and counts what it has read."""

    def __init__(
        self, source: Input, file: io.FileIO, content: io.BufferedReader, trail: Trail, lines: int
    ) -> None:
        self._source = source
        self._file = file
        self._content = content
        self._trail = trail
        self._next_line = lines
        self._rest = b""  # of a line whose end has not come
        self._in_line = bool(trail.tail) and not trail.tail.endswith(b"\n")

    def portions(self, lines_max: int, line_bytes_max: int) -> Iterator[Portion]:
        """Yield all lines; a line that lacks its end comes alone, and only if no more can come."""
        kept_bytes = line_bytes_max + 1  # enough to see that it is too long
        try:
            with self._source.errors():
                while content := self._content.read1(_READ_BYTES):
                    yield from self._portions_of(content, lines_max, kept_bytes)
        except Stopped:
            return
        if self._rest:
            yield self._portion([self._rest[:kept_bytes]], self._trail, ended=False)

    def _portions_of(self, content: bytes, lines_max: int, kept_bytes: int) -> Iterator[Portion]:
        *lines, rest = content.split(b"\n")
        before, end = self._trail, 0
        if lines:
            self._count_the_end_of_a_line(lines[0])
            end = -len(self._rest)
            lines[0] = self._rest + lines[0]
            self._rest = b""
        for start in range(0, len(lines), lines_max):
            portion = lines[start : start + lines_max]
            beginning, end = max(0, end), end + sum(map(len, portion)) + len(portion)
            self._trail = self._trail.after(content[beginning:end])
            yield self._portion([line[:kept_bytes] for line in portion], self._trail, ended=True)
        self._trail = before.after(content)
        self._rest = (self._rest + rest)[:kept_bytes]

    def _count_the_end_of_a_line(self, rest: bytes) -> None:
        """Count the end of a line that was read before without it as no line of its own."""
        if self._in_line and not (self._rest + rest).strip():
            self._next_line -= 1
        self._in_line = False

    def close(self) -> None:
        """Close the file, or leave standard input to whoever opened it."""
        self._file.close()

    def _portion(self, lines: list[bytes], trail: Trail, ended: bool) -> Portion:
        first = self._next_line
        self._next_line += len(lines)
        size = sum(map(len, lines))
        return Portion(first, lines, ended, size, trail, self._bytes_read())

    def _bytes_read(self) -> int:
        return self._file.tell() if self._source.size is not None else self._trail.length


class _Pipe(io.RawIOBase):
    """Hands over what is there, and looks up from waiting to hear whether to stop."""

    def __init__(self, file: io.FileIO, stopped: Event) -> None:
        self._file = file
        self._stopped = stopped
        self._started = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        content = self._read(len(buffer))
        if not self._started:
            self._started = True
            # The compression must be known before the first line is.
            while content and len(content) < START_BYTES and may_be_compressed(content):
                if not (more := self._read(START_BYTES - len(content))):
                    break
                content += more
        buffer[: len(content)] = content
        return len(content)

    def _read(self, size: int) -> bytes:
        while not select.select([self._file], [], [], _POLL_SECONDS)[0]:
            if self._stopped.is_set():
                raise Stopped
        return os.read(self._file.fileno(), size)


class _Growing(io.RawIOBase):
    """A file that others append to: its end is waited out, never told."""

    def __init__(self, file: io.FileIO, source: Input, stopped: Event) -> None:
        self._file = file
        self._source = source
        self._stopped = stopped

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        while True:
            problem = self._problem()  # looked for first: what came before it is still read
            if count := self._file.readinto(buffer):
                return count
            if problem:
                raise Refused(f"{self._source.name} {problem}. {_WAYS_OUT}")
            if self._stopped.wait(_POLL_SECONDS):
                raise Stopped

    def _problem(self) -> str | None:
        ours = os.fstat(self._file.fileno())
        if ours.st_size < self._file.tell():
            return "became shorter while it was followed"
        try:
            there = os.stat(self._source.path)
        except FileNotFoundError:
            return "was removed while it was followed; what it held was read to its end"
        if not os.path.samestat(ours, there):
            return "was replaced while it was followed; the old file was read to its end"
        return None
