"""Records of the log as the oracle reads them: by their layout alone.

Only what the trials ask for is read, and only what is signed by Jaccard similarity.
"""

import struct
from typing import Any, NamedTuple

import msgspec

_HEAD = struct.Struct("<BBHHBqqI16s")
_VERSION, _JACCARD = 1, 0
_KEY_BYTES = 5
_CHECK_BYTES = 4


class Signed(NamedTuple):
    """An event as it was signed, and which record it came in."""

    id: str
    namespace: str
    source: str
    partition: int
    offset: int
    is_deletion: bool
    fingerprint: bytes
    signature: tuple[int, ...]
    keys: list[bytes]  # of the buckets, a key for each band


def read(value: bytes) -> Signed:
    """Read a record."""
    version, measure, hashes, bands, flags, _, _, _, fingerprint = _HEAD.unpack_from(value)
    assert (version, measure) == (_VERSION, _JACCARD)
    signature = struct.unpack_from(f"<{hashes}H", value, _HEAD.size)
    first = _HEAD.size + 2 * hashes
    end = first + _KEY_BYTES * bands
    keys = [value[start : start + _KEY_BYTES] for start in range(first, end, _KEY_BYTES)]
    tail: list[Any] = msgspec.msgpack.decode(value[end:-_CHECK_BYTES])
    id, namespace, source, _topic, _topic_id, partition, offset = tail[:7]
    is_deletion = bool(flags & 1)
    return Signed(
        *(id, namespace, source, partition, offset),
        *(is_deletion, fingerprint, signature, keys),
    )
