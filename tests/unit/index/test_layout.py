import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.index import columns, layout
from stream_dedup.index.layout import Cluster, ExactRow, Group, Member, Sighting, Stretch
from stream_dedup.similarity.ragged import Ragged, bounds_of

positions = st.integers(0, layout.POSITION_MAX)
times = st.integers(-(2**62), 2**62)
names = st.text()
members = st.builds(Member, names, names, times, st.none() | st.integers(0, 2**53))
HASHES = 6


def groups(signature_bytes: int) -> st.SearchStrategy[Group]:
    return st.builds(
        Group,
        position=positions,
        fingerprint=st.binary(min_size=16, max_size=16),
        namespace=names,
        cluster=positions,
        size=st.integers(0, 2**32 - 1),
        first_seen=times,
        last_seen=times,
        members=st.lists(members, max_size=16),
        others=st.lists(st.builds(Stretch, times, st.integers(1, 2**53)), max_size=9),
        signature=st.binary(min_size=signature_bytes, max_size=signature_bytes),
        short=st.lists(st.binary(min_size=8, max_size=8), max_size=9).map(b"".join),
    )


def test_the_bytes_are_those_of_the_drawing() -> None:
    """Every key and value lies as the module draws it: what was stored is read for ever."""
    print16 = bytes(range(16))
    group = Group(
        position=7,
        fingerprint=print16,
        namespace="n",
        cluster=3,
        size=9,
        first_seen=1,
        last_seen=2,
        members=[Member("a", "s", 2, None)],
        others=[Stretch(1, 3), Stretch(4, 7)],
        signature=b"SIGN",
        short=b"ELEMENTS",
    )
    numbers = np.array([[0x0102030405060708, 0xFF02030405060708]], np.uint64)
    bounds = np.array([0, 2, 3])

    assert layout.position_key(258) == b"\0\0\0\0\1\2"
    assert layout.exact_key(print16, "é") == print16 + b"\xc3\xa9"
    assert layout.id_key("é", "a") == b"\0\0\0\2\xc3\xa9a"
    assert columns.bucket_keys(columns.bucket_numbers(numbers)[0]) == [
        b"\0\1\2\3\4\5",
        b"\1\xff\2\3\4\5",
    ]
    positions, capped = np.array([3, 1, 258]), np.array([False, True])
    assert columns.encode_buckets(np.array([1, 2, 0]), bounds, capped, positions) == [
        b"\1\0\0\0\0\0\2\1\0\0\0\0",
        b"\3\0\0\0\0\0\1",
    ]
    assert layout.encode_exact(ExactRow(1, -1, 2)) == b"\xff" * 8 + b"\1\0\0\0\0\0\2\0\0\0\0\0"
    assert layout.encode_sighting(Sighting(1, 2, "t", 3, 4)) == b"\x95\1\2\xa1t\3\4"
    assert layout.encode_cluster(Cluster(2, [1, 5])) == b"\x92\2\x92\1\5"
    assert layout.encode_group(group) == (
        print16
        + b"\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\x09\0\0\0SIGN\1\0ELEMENTS"
        + b"\x93\xa1n\x91\x94\xa1a\xa1s\2\xc0\x92\x92\1\3\x92\4\7"
    )
    assert layout.encode_tail("n", []) == b"\x92\xa1n\x90"


@given(groups(2 * HASHES))
def test_a_group_is_read_as_it_was_written(group: Group) -> None:
    """Encoding loses nothing."""
    value = layout.encode_group(group)

    assert layout.decode_group(group.position, value, 2 * HASHES) == group
    assert layout.decode_short(value, 2 * HASHES).astype("<u8").tobytes() == group.short


@given(st.lists(groups(2 * HASHES), max_size=5))
def test_many_rows_begin_as_each_of_them_does(rows: list[Group]) -> None:
    """Heads and signatures of many rows, taken as arrays, are those of each row."""
    heads = columns.decode_heads(
        [layout.encode_group(row) for row in rows], HASHES, np.dtype(np.uint16)
    )

    assert heads["cluster"].tolist() == [row.cluster for row in rows]
    assert heads["last_seen"].tolist() == [row.last_seen for row in rows]
    assert heads["size"].tolist() == [row.size for row in rows]
    assert heads["short"].tolist() == [len(row.short) // 8 for row in rows]
    assert [signature.tobytes() for signature in heads["signature"]] == [
        row.signature for row in rows
    ]


@given(st.lists(groups(2 * HASHES), max_size=5))
def test_many_rows_are_written_as_each_of_them_is(rows: list[Group]) -> None:
    """Values of texts and of exact that are made of arrays are those of each row."""
    values = [layout.encode_group(row) for row in rows]
    heads = columns.decode_heads(values, HASHES, np.dtype(np.uint16))
    elements = [np.frombuffer(row.short, "<u8").astype(np.uint64) for row in rows]
    short = Ragged(
        np.concatenate([*elements, np.empty(0, np.uint64)]), bounds_of([*map(len, elements)])
    )
    tails = [layout.encode_tail(row.namespace, row.members, row.others) for row in rows]
    copies = [ExactRow(row.position, row.last_seen, row.cluster) for row in rows]
    numbers = np.array(copies, np.int64).reshape(-1, 3).T

    assert columns.encode_texts(heads, short, tails) == values
    assert columns.encode_exacts(numbers[0], numbers[1], numbers[2]) == [
        layout.encode_exact(row) for row in copies
    ]


@given(st.lists(st.none() | st.tuples(st.lists(positions), st.booleans())))
def test_buckets_are_read_as_they_were_written(
    buckets: list[tuple[list[int], bool] | None],
) -> None:
    """Positions and the mark of capped ones survive; a bucket that is not there is empty."""
    there = [bucket for bucket in buckets if bucket is not None]
    bounds = np.cumsum([0, *(len(entries) for entries, _ in there)])
    flat = np.array([entry for entries, _ in there for entry in entries], np.int64)
    marks = np.array([mark for _, mark in there], bool)
    values = iter(columns.encode_buckets(np.arange(len(flat)), bounds, marks, flat))
    found = columns.decode_buckets([bucket and next(values) for bucket in buckets])

    expected = [bucket or ([], False) for bucket in buckets]
    assert [part.tolist() for part in np.split(found[0], found[1][1:-1])][: len(buckets)] == [
        entries for entries, _ in expected
    ]
    assert found[2].tolist() == [mark for _, mark in expected]


@given(
    st.integers(0, 2**32),
    st.integers(0, 9),
    st.integers(1, 4) | st.integers(255, 258),
    st.booleans(),
)
def test_the_buckets_of_many_documents_are_numbered_in_the_order_of_their_keys(
    seed: int, documents: int, bands: int, few: bool
) -> None:
    """Each bucket has one place, however many documents share it and however many bands there are.

    Keys that differ in the last 24 bits alone name one bucket.
    """
    random = np.random.default_rng(seed)
    keys = random.integers(2**64, size=(documents, bands), dtype=np.uint64)
    if few:
        keys = (keys % np.uint64(3) << np.uint64(24)) | (keys >> np.uint64(40))
    numbers, places = columns.numbered(keys)
    names = columns.bucket_keys(numbers)

    assert names == sorted(set(names))
    assert places.shape == keys.shape
    assert [[names[place] for place in row] for row in places.tolist()] == [
        [bytes([band % 256]) + int(key).to_bytes(8, "big")[:5] for band, key in enumerate(row)]
        for row in keys
    ]
    assert len({*places.ravel().tolist()}) == len(names)


@given(positions, times, positions)
def test_small_rows_are_read_as_they_were_written(position: int, seen: int, cluster: int) -> None:
    """Rows of exact, ids and clusters survive."""
    row = ExactRow(position, seen, cluster)
    sighting = Sighting(position, seen, "topic", 3, cluster)
    joined = Cluster(cluster, [position, cluster])

    assert layout.decode_exact(layout.encode_exact(row)) == row
    assert layout.decode_sighting(layout.encode_sighting(sighting)) == sighting
    assert layout.decode_cluster(layout.encode_cluster(joined)) == joined


@given(st.lists(st.tuples(names, names), min_size=2, max_size=2, unique=True))
def test_two_documents_never_share_a_key(pair: list[tuple[str, str]]) -> None:
    """Whatever namespaces and ids hold, different ones have different keys, and are read back."""
    first, second = (layout.id_key(*name) for name in pair)

    assert first != second
    assert layout.id_of_key(first) == pair[0]


@given(st.lists(positions, min_size=1))
def test_keys_sort_as_positions_do(found: list[int]) -> None:
    """A sweep over ascending keys is one over ascending positions."""
    keys = [layout.position_key(position) for position in sorted(found)]

    assert keys == sorted(keys)
    assert [layout.position_of_key(key) for key in keys] == sorted(found)


def test_a_lone_surrogate_is_kept() -> None:
    """An id that no JSON can bring, but a caller of the library, is a key like any other."""
    assert layout.id_of_key(layout.id_key("\ud800", "\udfff")) == ("\ud800", "\udfff")
    with pytest.raises(UnicodeEncodeError):
        "\ud800".encode()
