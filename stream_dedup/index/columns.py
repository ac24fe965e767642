"""Keys and values of the index as columns: many at once, in arrays. `layout` draws them.

Pure; the bytes are those that `layout` makes of one row.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stream_dedup.index.layout import (
    BUCKET_KEY_BYTES,
    POSITION_BYTES,
    exact_key,
    id_key,
    text_bytes,
)
from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.ragged import Ragged

_BANDS = 256  # that a byte of the key tells apart
_BAND_SHIFT = np.uint64(40)
_KEY_SHIFT = np.uint64(24)  # of a 64-bit band key the upper 40 bits stay: candidates are verified
_CAPPED = b"\x01"
_HEAD_FIELDS: list[Any] = [
    ("fingerprint", "V16"),
    ("cluster", "<u8"),
    ("first_seen", "<i8"),
    ("last_seen", "<i8"),
    ("size", "<u4"),
]


def exact_keys(fingerprints: NDArray[np.uint64], namespaces: Sequence[str]) -> list[bytes]:
    """Return the keys of exact of many texts."""
    prints = _cut(fingerprints.astype("<u8").view(np.uint8))
    return list(map(exact_key, prints, namespaces))


def id_keys(namespaces: Sequence[str], ids: Sequence[str]) -> list[bytes]:
    """Return the keys of many ids, most of which are of a few namespaces."""
    beginnings = {namespace: id_key(namespace, "") for namespace in set(namespaces)}
    return [
        beginnings[namespace] + text_bytes(document_id)
        for namespace, document_id in zip(namespaces, ids, strict=True)
    ]


def position_keys(positions: NDArray[np.int64]) -> list[bytes]:
    """Return the keys of many positions."""
    return _cut(_octets(positions, ">u8")[:, -POSITION_BYTES:])


def bucket_numbers(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a number for each key of [document, band], which sorts as the bucket's key does."""
    bands = np.arange(keys.shape[1], dtype=np.uint64) & np.uint64(0xFF)
    return (bands << _BAND_SHIFT) | (keys >> _KEY_SHIFT)


def numbered(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the numbers that there are, ascending, and the place of each key's among them."""
    documents, bands = keys.shape
    if bands > _BANDS or documents >> int(_KEY_SHIFT):
        numbers, places = np.unique(bucket_numbers(keys), return_inverse=True)
        return numbers, places.reshape(keys.shape)
    # The bits that a number has no use for take the document, so that values alone are sorted.
    # One layout in memory, also of a single document: for another the kernel is compiled again.
    kept = np.ascontiguousarray(keys.T) >> _KEY_SHIFT << _KEY_SHIFT
    found: tuple[Array, Array] = _numbered(np.sort(kept | np.arange(documents, dtype=np.uint64)))
    return found


@kernel
def _numbered(tagged: Array) -> tuple[Array, Array]:
    """Number [band, rank] of keys, each with its document in the lower bits."""
    bands, documents = tagged.shape
    numbers = np.empty(bands * documents, np.uint64)
    places = np.empty((documents, bands), np.int64)
    count = 0
    for band in range(bands):
        for tag in tagged[band]:
            number = np.uint64(band) << _BAND_SHIFT | tag >> _KEY_SHIFT
            if count == 0 or numbers[count - 1] != number:
                numbers[count] = number
                count += 1
            document = tag & ((np.uint64(1) << _KEY_SHIFT) - np.uint64(1))
            places[document, band] = count - 1
    return numbers[:count], places


def bucket_keys(numbers: NDArray[np.uint64]) -> list[bytes]:
    """Return the keys of buckets."""
    return _cut(_octets(numbers, ">u8")[:, -BUCKET_KEY_BYTES:])


def encode_buckets(
    entries: NDArray[np.int64],
    bounds: NDArray[np.int64],
    capped: NDArray[np.bool_],
    positions: NDArray[np.int64],
) -> list[bytes]:
    """Return a value for each bucket; one whose last entry has just ended is empty.

    Bucket i holds positions[entries[bounds[i] : bounds[i + 1]]]. Most hold one position only, and
    share its bytes.
    """
    narrow = _octets(positions, "<u8")[:, :POSITION_BYTES]
    alone = np.array([*_cut(narrow), b""], np.object_)
    # Right where a bucket holds one; behind the last entry begins none that holds any.
    values = alone[np.append(entries, len(positions))[bounds[:-1]]]
    sizes = np.diff(bounds)
    others = np.flatnonzero(sizes != 1)
    for size in np.flatnonzero(np.bincount(sizes[others])).tolist():
        buckets = others[sizes[others] == size]
        held = entries[bounds[buckets, None] + np.arange(size)]
        values[buckets] = _cut(narrow[held].reshape(len(held), -1)) if size else b""
    values[capped] += _CAPPED
    encoded: list[bytes] = values.tolist()
    return encoded


def decode_buckets(
    values: Sequence[bytes | None],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return positions, bounds and which are capped; a bucket that is not there is empty."""
    places = list(compress(range(len(values)), values))
    # Few: most buckets are looked for in vain.
    filled = [value for place in places if (value := values[place])]
    lengths = np.zeros(len(values), np.int64)
    lengths[places] = list(map(len, filled))
    capped = lengths % POSITION_BYTES == 1
    flat = np.frombuffer(b"".join(filled), np.uint8)
    if capped.any():
        flat = np.delete(flat, np.cumsum(lengths)[capped] - 1)
    wide = np.zeros((len(flat) // POSITION_BYTES, 8), np.uint8)
    wide[:, :POSITION_BYTES] = flat.reshape(-1, POSITION_BYTES)
    bounds = np.zeros(len(values) + 1, np.int64)
    np.cumsum(lengths // POSITION_BYTES, out=bounds[1:])
    return wide.reshape(-1).view("<i8").astype(np.int64), bounds, capped


def decode_heads(values: Sequence[bytes], hashes: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return what many values of texts begin with: fields of the head, `signature`, `short`."""
    record = head_type(hashes, kind)
    width = record.itemsize
    return np.frombuffer(b"".join([value[:width] for value in values]), record)


def head_type(hashes: int, kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return what values of texts begin with, for signatures of so many values."""
    return np.dtype([*_HEAD_FIELDS, ("signature", kind, (hashes,)), ("short", "<u2")])


def encode_texts(heads: NDArray[Any], short: Ragged, tails: Sequence[bytes]) -> list[bytes]:
    """Return values of texts; `heads` are as `decode_heads` returns them."""
    flat, width = heads.tobytes(), heads.itemsize
    elements, ends = short.values.astype("<u8").tobytes(), (8 * short.bounds).tolist()
    return [
        flat[width * row : width * (row + 1)] + elements[ends[row] : ends[row + 1]] + tail
        for row, tail in enumerate(tails)
    ]


def encode_exacts(
    positions: NDArray[np.int64], last_seen: NDArray[np.int64], clusters: NDArray[np.int64]
) -> list[bytes]:
    """Return values of exact."""
    places = [_octets(column, "<u8")[:, :POSITION_BYTES] for column in (positions, clusters)]
    return _cut(np.concatenate([_octets(last_seen, "<i8"), *places], axis=1))


def _octets(numbers: NDArray[Any], kind: str) -> NDArray[np.uint8]:
    """Return the eight bytes of each number, in the order that this kind of integer has."""
    return numbers.astype(kind).view(np.uint8).reshape(-1, 8)


def _cut(rows: NDArray[np.uint8]) -> list[bytes]:
    """Return each row of a matrix of bytes as an object of its own."""
    cut: list[bytes] = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel().tolist()
    return cut
