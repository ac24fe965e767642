"""What of an index is compared with another: all that does not depend on how batches were cut."""

from contextlib import closing
from typing import Any

from stream_dedup.config import Settings
from stream_dedup.index.layout import decode_sighting
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.upkeep.standing import standing

_POSITION_BYTES = 6


def rows(index: Index) -> dict[Keyspace, list[tuple[bytes, Any]]]:
    """Return all rows; which of the dead a bucket still names depends on when it was rewritten."""
    there = {key for key, _ in index.scan(Keyspace.TEXTS)}
    view: dict[Keyspace, list[tuple[bytes, Any]]] = {
        keyspace: list(index.scan(keyspace)) for keyspace in Keyspace
    }
    return view | {Keyspace.BUCKETS: _buckets(index, there)}


def living(index: Index) -> dict[Keyspace, list[tuple[bytes, Any]]]:
    """Return what the window has not let go; when the bytes of the rest go depends on batches."""
    state = standing(index.meta())
    assert state is not None
    texts = [(key, state.group(key, value)) for key, value in index.scan(Keyspace.TEXTS)]
    texts = [(key, group) for key, group in texts if state.is_living(group.last_seen)]
    ids = [(key, decode_sighting(value)) for key, value in index.scan(Keyspace.IDS)]
    there = {key for key, _ in texts}
    return {
        Keyspace.TEXTS: texts,
        Keyspace.IDS: [(key, row) for key, row in ids if state.is_living(row.seen)],
        Keyspace.CLUSTERS: [row for row in index.scan(Keyspace.CLUSTERS) if row[0] in there],
        Keyspace.BUCKETS: _buckets(index, there),
    }


def next_offset(settings: Settings) -> int:
    """Return how far the index of a process has come, also while that has it open."""
    with closing(RocksIndex.open(settings.index.directory, settings.index, mode="view")) as index:
        state = standing(index.meta())
    return state.next_offset if state else 0


def _buckets(index: Index, there: set[bytes]) -> list[tuple[bytes, Any]]:
    """Return the buckets, and which of the groups in them are there."""
    buckets = [
        (key, [position for position in _positions(value) if position in there])
        for key, value in index.scan(Keyspace.BUCKETS)
    ]
    return [(key, positions) for key, positions in buckets if positions]


def _positions(value: bytes) -> list[bytes]:
    """Return the positions as texts have them in their keys; what is over is the mark of a cap."""
    whole = len(value) - len(value) % _POSITION_BYTES
    starts = range(0, whole, _POSITION_BYTES)
    return [value[start : start + _POSITION_BYTES][::-1] for start in starts]
