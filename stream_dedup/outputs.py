"""Where a run writes lines: a file that is cut back to what was committed, or a stream."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from stream_dedup.checkpoint import Checkpoint
from stream_dedup.errors import Refused, Unavailable, UsageError
from stream_dedup.trail import Mark, Trail, trail_of

STANDARD_OUTPUT = "-"

_WAYS_OUT = (
    "Put the file back, name another one for what comes from here on, or begin anew with another "
    "--index"
)


class Output(Protocol):
    """Lines go there in order."""

    def append(self, lines: bytes) -> None:
        """Write whole lines; when this returns they outlive the process and, in a file, power."""
        ...

    @property
    def written(self) -> tuple[str, Mark] | None:
        """The output's key and all that was written to it; None if it cannot be taken back."""
        ...

    def close(self) -> None:
        """Release it."""
        ...


class OutputFile:
    """A file of which the index knows how much is sure; what goes beyond it is cut off."""

    def __init__(self, path: Path, committed: Mark | None) -> None:
        self.key = os.path.realpath(path)
        self._name = str(path)
        if committed is not None and not path.exists():
            self._refuse_shorter(0, committed)
        try:
            self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "rb+", 0)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
        with ExitStack() as unless_refused:
            unless_refused.callback(self._file.close)
            self._trail = self._cut_back(committed)
            unless_refused.pop_all()

    @property
    def written(self) -> tuple[str, Mark]:
        """The real path, and all that was written."""
        return self.key, self._trail.mark()

    def append(self, lines: bytes) -> None:
        """Write whole lines and see them to the disk."""
        if not lines:
            return
        with _errors(self._name):
            left = memoryview(lines)
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        self._trail = self._trail.after(lines)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cut_back(self, committed: Mark | None) -> Trail:
        with _errors(self._name):
            trail = trail_of(self._file, committed.bytes if committed else 0)
        self._refuse_other_content(committed, trail)
        with _errors(self._name):
            self._file.truncate(trail.length)
            os.fsync(self._file.fileno())
            sync_directory(Path(self.key).parent)
        return trail

    def _refuse_other_content(self, committed: Mark | None, trail: Trail) -> None:
        if committed is None:
            if os.fstat(self._file.fileno()).st_size:
                raise Refused(
                    f"{self._name} is not empty, and this index has written nothing to it: "
                    "remove it, or name another file"
                )
            return
        self._refuse_shorter(trail.length, committed)
        if trail.mark() != committed:
            raise Refused(f"{self._name} is not the file that was written to before. {_WAYS_OUT}")

    def _refuse_shorter(self, length: int, committed: Mark) -> None:
        if length < committed.bytes:
            raise Refused(
                f"{self._name} is shorter than what was written to it: "
                f"{length:,} of {committed.bytes:,} bytes. {_WAYS_OUT}"
            )


class OutputStream:
    """Standard output or a pipe: what was written cannot be taken back."""

    written = None

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name

    def append(self, lines: bytes) -> None:
        """Write whole lines and hand them over."""
        if not lines:
            return
        with _errors(self._name):
            self._stream.write(lines)
            self._stream.flush()

    def close(self) -> None:
        """Leave standard output to whoever opened it."""
        if self._stream is not sys.stdout.buffer:
            with _errors(self._name):  # it tries once more to write what it could not
                self._stream.close()


def open_output(name: str, checkpoint: Checkpoint) -> Output:
    """Open a file, standard output for `-`, or whatever else can be written to."""
    if name == STANDARD_OUTPUT:
        return OutputStream(sys.stdout.buffer, "standard output")
    path = Path(name)
    if path.exists() and not path.is_file():
        try:
            return OutputStream(path.open("wb"), name)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return OutputFile(path, checkpoint.output(os.path.realpath(path)))


@contextmanager
def _errors(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # nothing is wrong: who reads it has seen enough
        raise
    except OSError as error:
        raise Unavailable(f"cannot write {name}: {error.strerror or error}") from None


def sync_directory(directory: Path) -> None:
    """See to it that files are still named as they are after a loss of power."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
