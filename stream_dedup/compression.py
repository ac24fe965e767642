"""Content of gzip and zstd files and pipes, known by their first bytes; all else is as it is."""

import io
import zlib
from collections.abc import Callable
from typing import Protocol

import zstandard

CORRUPT = (EOFError, zlib.error, zstandard.ZstdError)
START_BYTES = 4  # that tell the compression

_BUFFER_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP_BITS = 31  # of zlib's window, and its sign for gzip's header and checksum
# Decompressed at a time: of gzip at most 64 MB, of zstd 128 MB; mostly a thousandth of that.
_GZIP_PIECE_BYTES = 1 << 16
_ZSTD_PIECE_BYTES = 1 << 12


def is_compressed(start: bytes) -> bool:
    """Tell by the first four bytes."""
    return start.startswith((_GZIP, _ZSTD))


def may_be_compressed(start: bytes) -> bool:
    """Tell whether fewer than four bytes could be the first ones of compressed content."""
    return _GZIP.startswith(start) or _ZSTD.startswith(start) or is_compressed(start)


class _Frame(Protocol):
    """A decompressor of one frame of zstd or one member of gzip."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class _Decompressed(io.RawIOBase):
    """Decompresses any number of frames in large pieces, and says so if the last one has no end.

    The readers of the libraries hand the interpreter's lock over at every few kilobytes (gzip), or
    are silent about a missing end (zstd).
    """

    def __init__(
        self, source: io.BufferedReader, new_frame: Callable[[], _Frame], piece_bytes: int
    ) -> None:
        self._source = source
        self._new_frame = new_frame
        self._piece_bytes = piece_bytes
        self._frame: _Frame | None = None
        self._compressed = b""
        self._data = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        while not self._data:
            compressed = self._compressed or self._source.read1(self._piece_bytes)
            if not compressed:
                if self._frame is not None:
                    raise EOFError("it ends within a frame")
                return 0
            self._decompress(compressed)
        data = self._data[: len(buffer)]
        buffer[: len(data)] = data
        self._data = self._data[len(data) :]
        return len(data)

    def _decompress(self, compressed: bytes) -> None:
        self._compressed = b""
        if self._frame is None:
            compressed = compressed.lstrip(b"\0")  # tapes pad the end
            if not compressed:
                return
            self._frame = self._new_frame()
        self._data = memoryview(self._frame.decompress(compressed))
        if self._frame.eof:
            self._compressed = self._frame.unused_data
            self._frame = None


def _gzip_member() -> _Frame:
    return zlib.decompressobj(_GZIP_BITS)


def _zstd_frame() -> _Frame:
    return zstandard.ZstdDecompressor().decompressobj()


def decompressed(raw: io.BufferedReader) -> io.BufferedReader:
    """Read through to the content; a damaged or unfinished one raises one of CORRUPT."""
    start = raw.peek(START_BYTES)[:START_BYTES]
    if start.startswith(_GZIP):
        frames = _Decompressed(raw, _gzip_member, _GZIP_PIECE_BYTES)
    elif start.startswith(_ZSTD):
        frames = _Decompressed(raw, _zstd_frame, _ZSTD_PIECE_BYTES)
    else:
        return raw
    return io.BufferedReader(frames, _BUFFER_BYTES)
