"""What holds for every contract: an index of a few keys goes through all that a large one does."""

import pytest

from stream_dedup.index import rocksdb_rows, sieve


@pytest.fixture(autouse=True)
def sieves_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few keys be too many for each sieve, and fill the next one with a few at a time."""
    monkeypatch.setattr(sieve, "_BYTES_MIN", 32)
    monkeypatch.setattr(sieve, "_ROOM", 6)
    monkeypatch.setattr(sieve, "_SECONDS_MAX", 0.0)
    monkeypatch.setattr(rocksdb_rows, "_KEYS_OF_A_CHUNK", 16)
