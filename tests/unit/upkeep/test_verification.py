"""What `problems` sees: nothing in a sound index, everything that somebody breaks in one."""

from collections.abc import Callable
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as search
from hypothesis import strategies as st

from stream_dedup.config import EventsSettings, IndexSettings, Settings, SimilaritySettings
from stream_dedup.engine import Matcher, Signer
from stream_dedup.events import Deletion, Document
from stream_dedup.index import layout
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.interfaces import Changes, Index, Keyspace, Puts
from stream_dedup.quantities import Duration
from stream_dedup.upkeep.standing import standing
from stream_dedup.upkeep.verification import problems
from tests import streams
from tests.unit.upkeep.indexes import FOREVER, TEXTS, remember

TRIALS = 25


def put(index: Index, keyspace: Keyspace, key: bytes, value: bytes) -> None:
    """Write one row."""
    index.write(Changes({keyspace: Puts([key], [value])}, {}, {}))


def delete(index: Index, keyspace: Keyspace, key: bytes) -> None:
    """Delete one row."""
    index.write(Changes({}, {keyspace: [key]}, {}))


@search(max_examples=40)
@given(
    settings=streams.engine_settings(),
    seed=st.integers(0, 20),
    stream=streams.streams(),
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=3),
)
def test_what_the_engine_leaves_is_sound(
    settings: Settings, seed: int, stream: list[streams.Draft], sizes: list[int]
) -> None:
    """After each batch of any stream, whatever expired or was deleted, there is no problem."""
    index = MemoryIndex()
    matcher, signer = Matcher(index, settings), Signer(settings)
    events = streams.timed(stream, settings.index.window)
    for batch in streams.cut(streams.records(events, seed), sizes):
        matcher.remember(matcher.match(signer.sign(batch)))

        assert list(problems(index)) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_long_stream_is_sound(seed: int) -> None:
    """So it is when many windows have passed and buckets have overflowed."""
    settings = Settings(
        similarity=SimilaritySettings(
            hashes=32,
            bands=8,
            rows=2,
            threshold=0.6,
            verify="signature" if seed % 2 else "exact",
        ),
        events=EventsSettings(emit="none"),
        index=IndexSettings(window=Duration(3.0), bucket_size_max=[100, 3][seed // 2]),
    )
    index = MemoryIndex()
    matcher, signer = Matcher(index, settings), Signer(settings)
    events = streams.timed(streams.long_stream(seed, 600), settings.index.window)
    for batch in streams.cut(streams.records(events, seed), [20, 3, 40]):
        matcher.remember(matcher.match(signer.sign(batch)))

        assert list(problems(index)) == []


def sample(index: Index, keyspace: Keyspace) -> list[tuple[bytes, bytes]]:
    """Draw rows to be broken."""
    rows = list(index.scan(keyspace))
    return Random(1).sample(rows, min(TRIALS, len(rows)))


@pytest.mark.parametrize("keyspace", Keyspace)
def test_a_row_that_is_gone_is_missed(keyspace: Keyspace) -> None:
    """Whatever living row is deleted, another one refers to it."""
    index = remember(TEXTS, FOREVER)
    assert sample(index, keyspace)
    for key, value in sample(index, keyspace):
        delete(index, keyspace, key)
        assert list(problems(index)) != [], key
        put(index, keyspace, key, value)
    assert list(problems(index)) == []


@pytest.mark.parametrize("keyspace", Keyspace)
def test_a_row_that_cannot_be_read_is_told(keyspace: Keyspace) -> None:
    """A value that lacks its last byte, or is of another kind, or has more, is told."""
    index = remember(TEXTS, FOREVER)
    for key, value in sample(index, keyspace):
        # Nobody reads behind the end of a compressed text.
        longer = [] if keyspace is Keyspace.ORIGINALS else [value + b"\xc1\xc1"]
        for broken in (value[:-1], b"\xc1", *longer):
            put(index, keyspace, key, broken)
            assert list(problems(index)) != [], (key, broken)
        put(index, keyspace, key, value)


def moved(row: layout.Sighting) -> layout.Sighting:
    return msgspec.structs.replace(row, position=row.position + 1)


def early(row: layout.Sighting) -> layout.Sighting:
    return msgspec.structs.replace(row, seen=row.seen - 1)


def late(row: layout.Sighting) -> layout.Sighting:
    return msgspec.structs.replace(row, seen=row.seen + 10**15)


@pytest.mark.parametrize("change", [moved, early, late])
def test_an_id_that_says_otherwise_than_its_text_is_told(
    change: Callable[[layout.Sighting], layout.Sighting],
) -> None:
    """Position and time of a document are the same wherever they stand."""
    index = remember(TEXTS, FOREVER)
    for key, value in sample(index, Keyspace.IDS):
        changed = layout.encode_sighting(change(layout.decode_sighting(value)))
        put(index, Keyspace.IDS, key, changed)
        assert list(problems(index)) != []
        put(index, Keyspace.IDS, key, value)


GROUP_CHANGES: dict[str, Callable[[layout.Group], object]] = {
    "namespace": lambda group: "other",
    "cluster": lambda group: group.position + 1,
    "size": lambda group: group.size + 1,
    "first_seen": lambda group: group.last_seen + 1,
    "last_seen": lambda group: group.last_seen + 1,
    "fingerprint": lambda group: bytes(16),
    "signature": lambda group: bytes(len(group.signature)),
    "members": lambda group: group.members[1:],
}


@pytest.mark.parametrize("field", GROUP_CHANGES)
def test_a_text_that_says_otherwise_is_told(field: str) -> None:
    """Each field of a text's row is held against what else is known of it."""
    index = remember(TEXTS, FOREVER)
    state = standing(index.meta())
    assert state is not None
    for key, value in sample(index, Keyspace.TEXTS):
        group = state.group(key, value)
        setattr(group, field, GROUP_CHANGES[field](group))
        put(index, Keyspace.TEXTS, key, layout.encode_group(group))
        assert list(problems(index)) != [], key
        put(index, Keyspace.TEXTS, key, value)


@pytest.mark.parametrize(
    "others",
    [[], [layout.Stretch(0, 3)], [layout.Stretch(2**60, 4), layout.Stretch(2**61, 0)]],
    ids=["nobody", "too few", "a stretch of nobody"],
)
def test_members_that_a_text_only_counts_are_counted(others: list[layout.Stretch]) -> None:
    """Of twenty copies sixteen are kept by name; four are counted, and no fewer."""
    index = remember([Document(id=f"c{n}", text=TEXTS[-1].text) for n in range(20)], FOREVER)
    state = standing(index.meta())
    assert state is not None
    assert list(problems(index)) == []
    [(key, value)] = index.scan(Keyspace.TEXTS)
    group = state.group(key, value)
    assert sum(stretch.documents for stretch in group.others) == 4

    put(
        index,
        Keyspace.TEXTS,
        key,
        layout.encode_group(msgspec.structs.replace(group, others=others)),
    )
    assert list(problems(index)) != []


def test_a_text_in_a_foreign_bucket_is_told() -> None:
    """A bucket that holds one text too many is found by counting."""
    index = remember(TEXTS, FOREVER)
    (first, value), (second, other) = list(index.scan(Keyspace.BUCKETS))[:2]
    entries = sorted({value[:6], other[:6]}, key=lambda entry: int.from_bytes(entry, "little"))
    put(index, Keyspace.BUCKETS, first, b"".join(entries))
    assert value != other
    assert list(problems(index)) != []
    put(index, Keyspace.BUCKETS, first, value)

    put(index, Keyspace.BUCKETS, second, other[:6] + other[:6])
    assert any("ascending" in problem for problem in problems(index))


def test_swapped_buckets_are_told_where_texts_are_kept() -> None:
    """Counts cannot tell that two texts lie in each other's buckets, kept texts do."""
    estimating = msgspec.structs.replace(FOREVER, similarity=SimilaritySettings())
    for settings, found in ((estimating, False), (FOREVER, True)):
        index = remember(TEXTS, settings)
        rows = [row for row in index.scan(Keyspace.BUCKETS) if len(row[1]) == layout.POSITION_BYTES]
        (first, value), (second, other) = rows[0], next(r for r in rows if r[1] != rows[0][1])
        put(index, Keyspace.BUCKETS, first, other)
        put(index, Keyspace.BUCKETS, second, value)

        assert bool(list(problems(index))) is found


def test_what_full_buckets_let_go_is_not_missed_and_all_else_is() -> None:
    """As many entries may be missing as had to go; one more is a problem."""
    crowd = [Document(id=f"c{number}", text=f"{TEXTS[-1].text} {number}") for number in range(9)]
    settings = msgspec.structs.replace(
        FOREVER, index=IndexSettings(window=Duration.parse("none"), bucket_size_max=2)
    )
    index = remember(crowd, settings)
    state = standing(index.meta())
    assert state is not None
    assert state.tally.evicted > 0
    assert list(problems(index)) == []

    key, _ = next(iter(index.scan(Keyspace.BUCKETS)))
    delete(index, Keyspace.BUCKETS, key)
    assert any("had to go" in problem for problem in problems(index))


def test_a_cluster_smaller_than_its_documents_is_told() -> None:
    """A cluster's size is at least the number of its documents that are there."""
    index = remember(TEXTS, FOREVER)
    rows = list(index.scan(Keyspace.CLUSTERS))
    for key, value in rows:
        cluster = layout.decode_cluster(value)
        put(index, Keyspace.CLUSTERS, key, layout.encode_cluster(layout.Cluster(1, [])))
        assert cluster.size < 2 or list(problems(index)) != []
        put(index, Keyspace.CLUSTERS, key, value)
    assert any(layout.decode_cluster(value).size > 2 for _, value in rows)


def test_more_documents_than_a_text_counts_are_told() -> None:
    """Members beyond those listed are counted, and no more ids than that may refer to the text."""
    copies = [Document(id=f"c{number}", text=TEXTS[0].text) for number in range(20)]
    index = remember(copies, FOREVER)
    assert list(problems(index)) == []

    key, value = next(iter(index.scan(Keyspace.IDS)))
    put(index, Keyspace.IDS, layout.id_key("", "another"), value)
    assert any("neither lists nor counts" in problem for problem in problems(index))
    assert key != layout.id_key("", "another")


def test_an_empty_index_is_sound_and_rows_without_meta_are_not() -> None:
    """An index says what it is before it holds anything."""
    index = MemoryIndex()
    assert list(problems(index)) == []

    put(index, Keyspace.IDS, b"\0\0\0\0a", b"")
    assert len(list(problems(index))) == 1


def test_every_row_is_counted_for_who_watches() -> None:
    """The progress adds up to all rows."""
    index = remember([*TEXTS, Deletion(id=TEXTS[0].id)], FOREVER)
    seen: list[int] = []
    assert list(problems(index, seen.append)) == []

    assert sum(seen) == sum(len(list(index.scan(keyspace))) for keyspace in Keyspace)
