"""How every key and value of the index lies in bytes. Pure; a change here is a new `VERSION`.

    keyspace   key                                   value
    buckets    band u8 · key u40                     position u48 each, ascending · u8 1 if capped
    texts      position u48                          head · signature · short · tail, as below
    exact      fingerprint 2 × u64 · namespace       last_seen i64 · position u48 · cluster u48
    ids        length u32 · namespace · id           MessagePack [position, seen, topic, partition,
                                                     offset]
    clusters   position u48 of the representative    MessagePack [size, [position, …]], newest last
    originals  position u48                          the text as it came, UTF-8, zstd

    texts      head   fingerprint 2 × u64 · cluster u64 · first_seen i64 · last_seen i64
                      · size u32
               signature  as many bytes as the settings say
               short  count u16 · element u64 each: all elements of a small text, else none
               tail   MessagePack [namespace, [[id, source, seen, behind], …]], oldest first,
                      and [[until, documents], …], ascending, as a third if there are any

Integers of keys are big-endian, so that keys sort as numbers do; those of values little-endian.
Times are milliseconds since 1970. Strings are UTF-8. `behind` is how far a member's own time lies
behind `seen`, the log time of its sighting; nil where its time is not known.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

VERSION = 2
POSITION_BYTES = 6
BUCKET_KEY_BYTES = 6
POSITION_MAX = 2 ** (8 * POSITION_BYTES) - 1

_EXACT = struct.Struct("<q6s6s")
_HEAD = struct.Struct("<16sQqqI")
_COUNT = struct.Struct("<H")


class Member(Struct, array_like=True, gc=False):
    """A document of a group of identical texts."""

    id: str
    source: str
    seen: int  # the log time of its sighting
    behind: int | None  # by how much its own time is earlier; None where that is not known


class Stretch(Struct, array_like=True, gc=False):
    """Some members of which only the number is kept, and about when they were seen."""

    until: int  # the log time at which the last of them was, none of them much earlier
    documents: int


class Sighting(Struct, array_like=True, gc=False):
    """What an id stands for: the text at a position, and the record that said so."""

    position: int
    seen: int
    topic: str
    partition: int
    offset: int


class Cluster(Struct, array_like=True, gc=False):
    """How many documents have joined, and the last texts that did."""

    size: int
    positions: list[int]


class ExactRow(NamedTuple):
    """Where a text lies: enough to know, without its row, whether it is living."""

    position: int
    last_seen: int
    cluster: int


class _Tail(Struct, array_like=True):
    namespace: str
    members: list[Member]
    others: list[Stretch] = []


class Group(Struct, kw_only=True, gc=False):
    """The documents of one namespace whose texts are identical: one row of texts."""

    position: int
    fingerprint: bytes
    namespace: str
    cluster: int  # the position of the representative, its own if it is one
    size: int  # elements of the text
    first_seen: int
    last_seen: int
    members: list[Member]  # those kept, oldest first
    others: list[Stretch]  # members that are only counted, in the order of time
    signature: bytes
    short: bytes  # little-endian elements of a small text


_encoder = msgspec.msgpack.Encoder()
_tails = msgspec.msgpack.Decoder(_Tail)
_sightings = msgspec.msgpack.Decoder(Sighting)
_clusters = msgspec.msgpack.Decoder(Cluster)


def text_bytes(text: str) -> bytes:
    """Return UTF-8; a lone surrogate, which JSON cannot bring but a caller may, keeps its bytes."""
    return text.encode("utf-8", "surrogatepass")


def position_key(position: int) -> bytes:
    """Return the key of texts, clusters and originals."""
    return position.to_bytes(POSITION_BYTES, "big")


def position_of_key(key: bytes) -> int:
    """Return the position that a key of texts, clusters or originals names."""
    return int.from_bytes(key, "big")


def exact_key(fingerprint: bytes, namespace: str) -> bytes:
    """Return the key of exact: the fingerprint has a fixed length, so no two keys can be one."""
    return fingerprint + text_bytes(namespace) if namespace else fingerprint


def id_key(namespace: str, document_id: str) -> bytes:
    """Return the key of ids."""
    prefix = text_bytes(namespace)
    return len(prefix).to_bytes(4, "big") + prefix + text_bytes(document_id)


def id_of_key(key: bytes) -> tuple[str, str]:
    """Return the namespace and the id that a key of ids names."""
    end = 4 + int.from_bytes(key[:4], "big")
    return key[4:end].decode("utf-8", "surrogatepass"), key[end:].decode("utf-8", "surrogatepass")


def encode_exact(row: ExactRow) -> bytes:
    """Return the value of exact."""
    position, last_seen, cluster = row
    return _EXACT.pack(last_seen, position.to_bytes(6, "little"), cluster.to_bytes(6, "little"))


def decode_exact(value: bytes) -> ExactRow:
    """Return the row behind a value of exact."""
    last_seen, position, cluster = _EXACT.unpack(value)
    return ExactRow(
        int.from_bytes(position, "little"), last_seen, int.from_bytes(cluster, "little")
    )


def encode_sighting(sighting: Sighting) -> bytes:
    """Return the value of ids."""
    return _encoder.encode(sighting)


def decode_sighting(value: bytes) -> Sighting:
    """Return what an id stands for."""
    return _sightings.decode(value)


def encode_cluster(cluster: Cluster) -> bytes:
    """Return the value of clusters."""
    return _encoder.encode(cluster)


def decode_cluster(value: bytes) -> Cluster:
    """Return the cluster behind a value."""
    return _clusters.decode(value)


def encode_group(group: Group) -> bytes:
    """Return the value of texts."""
    head = _HEAD.pack(
        group.fingerprint,
        group.cluster,
        group.first_seen,
        group.last_seen,
        group.size,
    )
    tail = encode_tail(group.namespace, group.members, group.others)
    return b"".join((head, group.signature, _COUNT.pack(len(group.short) // 8), group.short, tail))


def encode_tail(namespace: str, members: Sequence[Member], others: Sequence[Stretch] = ()) -> bytes:
    """Return what a value of texts ends with."""
    return _encoder.encode((namespace, members, others) if others else (namespace, members))


def decode_group(position: int, value: bytes, signature_bytes: int) -> Group:
    """Return the group behind a value of texts."""
    fingerprint, cluster, first_seen, last_seen, size = _HEAD.unpack_from(value)
    start = _HEAD.size + signature_bytes
    short = _short(value, signature_bytes)
    tail = _tails.decode(value[start + _COUNT.size + len(short) :])
    return Group(
        position=position,
        fingerprint=fingerprint,
        namespace=tail.namespace,
        cluster=cluster,
        size=size,
        first_seen=first_seen,
        last_seen=last_seen,
        members=tail.members,
        others=tail.others,
        signature=value[_HEAD.size : start],
        short=short,
    )


def decode_short(value: bytes, signature_bytes: int) -> NDArray[np.uint64]:
    """Return the elements of a small text."""
    return np.frombuffer(_short(value, signature_bytes), "<u8").astype(np.uint64)


def _short(value: bytes, signature_bytes: int) -> bytes:
    start = _HEAD.size + signature_bytes
    count = int(_COUNT.unpack_from(value, start)[0])
    return value[start + _COUNT.size : start + _COUNT.size + 8 * count]
