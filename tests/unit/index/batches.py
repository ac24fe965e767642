"""Indexes on disk of numbered batches, and what may happen to their files."""

import os
import random
from pathlib import Path

from stream_dedup.config import IndexSettings
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes, Keyspace, Puts
from stream_dedup.quantities import Size

SETTINGS = IndexSettings(memory_bytes_max=Size(64 << 20))


def write(
    index: RocksIndex,
    number: int,
    text_bytes: int = 300,
    keyspace: Keyspace = Keyspace.BUCKETS,
) -> None:
    """Write a batch that names itself in each of its rows and in meta."""
    noise = random.Random(number)
    keys = sorted(noise.randbytes(6) for _ in range(100))
    puts = {
        keyspace: Puts(keys, [b"%06d" % number] * len(keys)),
        Keyspace.TEXTS: Puts([number.to_bytes(6, "big")], [noise.randbytes(text_bytes)]),
    }
    index.write(Changes(puts, {}, {"batch": b"%d" % number}))


def last_batch(index: RocksIndex) -> int:
    """Read the whole index; tell which batch is the last, having seen all before it."""
    numbers = [int.from_bytes(key, "big") for key, _ in index.scan(Keyspace.TEXTS)]
    buckets = {int(value) for _, value in index.scan(Keyspace.BUCKETS)}
    assert numbers == sorted(buckets) == list(range(1, len(numbers) + 1))
    assert index.meta() == ({"batch": b"%d" % len(numbers)} if numbers else {})
    return len(numbers)


def largest(directory: Path, pattern: str) -> Path:
    return max(directory.glob(pattern), key=lambda path: path.stat().st_size)


def cut(path: Path, size: float) -> None:
    """Cut a file at a fraction of its length, or that many bytes before its end."""
    whole = path.stat().st_size
    os.truncate(path, int(whole * size) if size >= 0 else whole + int(size))


def garble(path: Path, place: float) -> None:
    """Overwrite 16 bytes at a fraction of the file."""
    with path.open("r+b") as file:
        file.seek(int(path.stat().st_size * place))
        file.write(b"\xa5" * 16)


def zero(path: Path) -> None:
    """Leave the file its length and nothing else, as a disk may that lost power."""
    path.write_bytes(bytes(path.stat().st_size))


def content(directory: Path) -> dict[str, bytes]:
    """Read what must not change when an index is refused."""
    kept = ("*.sst", "*.log", "CURRENT", "MANIFEST-*")
    files = [path for pattern in kept for path in directory.glob(pattern)]
    return {path.name: path.read_bytes() for path in files}
