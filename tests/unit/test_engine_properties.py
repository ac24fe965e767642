"""What holds of the engine's verdicts for any stream, without asking an oracle; and plain cases."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import settings as search
from hypothesis import strategies as st
from msgspec.structs import replace

from stream_dedup.config import (
    EventsSettings,
    IndexSettings,
    MatchingSettings,
    Settings,
    SimilaritySettings,
)
from stream_dedup.engine import UNDATED, Matcher, Record, Signer
from stream_dedup.events import Deletion, Document, RecordReference, Verdict
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.matching.groups import MEMBERS_KEPT
from stream_dedup.quantities import Duration
from stream_dedup.upkeep.verification import problems
from tests import streams
from tests.oracles.engine import Answer, Oracle

seeds = st.integers(0, 20)
long_seeds = st.integers(0, 2**32 - 1)
sizes = st.lists(st.integers(1, 9), min_size=1, max_size=6)
DAY = 24 * 3600.0
few = search(max_examples=25)


def verdicts_of(
    settings: Settings, records: Sequence[Record], sizes: Sequence[int] = (7,)
) -> list[Verdict]:
    """Run a stream through an empty index."""
    return streams.run(Matcher(MemoryIndex(), settings), Signer(settings), records, sizes)


def encoded(settings: Settings, records: Sequence[Record], sizes: Sequence[int]) -> list[bytes]:
    """Run a stream through an empty index, and return what is published."""
    return streams.encoded(verdicts_of(settings, records, sizes))


def drawn(settings: Settings, stream: Sequence[streams.Draft], seed: int) -> list[Record]:
    """Return the records of a stream under the window of the settings."""
    return streams.records(streams.timed(stream, settings.index.window), seed)


def check_oracle(settings: Settings, stream: Sequence[streams.Draft], seed: int, size: int) -> None:
    """Compare each verdict with the oracle's answer."""
    events = streams.timed(stream, settings.index.window)
    oracle = Oracle(streams.table(seed, settings.similarity), streams.rules(settings))
    verdicts = verdicts_of(settings, streams.records(events, seed), [size])

    assert len(verdicts) == len(events)
    for verdict, event in zip(verdicts, events, strict=True):
        streams.assert_said(verdict, event, oracle.tell(event))


@search(max_examples=50)
@given(streams.engine_settings(), streams.streams(), seeds, st.integers(1, 40))
def test_each_verdict_is_that_of_the_oracle(
    settings: Settings, stream: list[streams.Draft], seed: int, size: int
) -> None:
    """Any stream under any settings is answered as by searching everything."""
    check_oracle(settings, stream, seed, size)


@search(max_examples=8)
@given(streams.engine_settings(), long_seeds, st.sampled_from([1, 13, 400]))
def test_each_verdict_of_a_longer_stream_is_that_of_the_oracle(
    settings: Settings, seed: int, size: int
) -> None:
    """Hundreds of events, over many windows, are answered as by searching everything."""
    check_oracle(settings, streams.long_stream(seed, 400), seed % 50, size)


@pytest.mark.soak
@search(max_examples=100)
@given(streams.engine_settings(), long_seeds, st.sampled_from([1, 13, 400, 2000]))
def test_each_verdict_of_many_long_streams_is_that_of_the_oracle(
    settings: Settings, seed: int, size: int
) -> None:
    """The same holds for thousands of events, many times."""
    check_oracle(settings, streams.long_stream(seed, 2000), seed % 1000, size)


def _counts(answer: Answer) -> tuple[str, int, int | None]:
    return answer.type, answer.match_count, answer.cluster[1] if answer.cluster else None


@search(max_examples=15)
@given(
    similarity=streams.similarity_settings(),
    window=st.sampled_from([Duration(0.64), Duration(6.4), Duration.parse("none")]),
    seed=long_seeds,
    sizes=sizes,
)
def test_what_many_share_is_counted_as_the_oracle_counts(
    similarity: SimilaritySettings, window: Duration, seed: int, sizes: list[int]
) -> None:
    """A group that keeps some of its members by name, wherever batches are cut, counts them all."""
    decided = Settings(
        similarity=similarity,
        events=EventsSettings(emit="all"),
        index=IndexSettings(window=window, bucket_size_max=100),
    )
    events = streams.timed(streams.crowd_stream(seed, 500), window)
    oracle = Oracle(streams.table(seed % 50, similarity), streams.rules(decided))
    index, signer = MemoryIndex(), Signer(decided)
    records = streams.records(events, seed % 50)
    verdicts = streams.run(Matcher(index, decided), signer, records, sizes)

    told = [oracle.tell(event) for event in events]
    assert [_counts(streams.answer_of(verdict)) for verdict in verdicts] == [*map(_counts, told)]
    assert max(answer.match_count for answer in told) > 2 * MEMBERS_KEPT
    assert list(problems(index)) == []


@few
@given(streams.engine_settings(), streams.streams(), seeds, sizes)
def test_verdicts_do_not_depend_on_where_batches_are_cut(
    settings: Settings, stream: list[streams.Draft], seed: int, sizes: list[int]
) -> None:
    """Batches of 1, 2, 7, of all at once and of any sizes are published alike, to the byte."""
    records = drawn(settings, stream, seed)
    expected = encoded(settings, records, [1])

    for cuts in ([2], [7], [len(records)], sizes):
        assert encoded(settings, records, cuts) == expected, cuts


@few
@given(streams.engine_settings(), streams.streams(), seeds, sizes, st.data())
def test_verdicts_do_not_depend_on_a_crash_and_replay(
    settings: Settings,
    stream: list[streams.Draft],
    seed: int,
    sizes: list[int],
    data: st.DataObject,
) -> None:
    """Batches matched and never remembered, then cut otherwise, are published alike."""
    records = drawn(settings, stream, seed)
    expected = encoded(settings, records, sizes)
    crash = data.draw(st.integers(0, len(records) - 1), "remembered before the crash")
    lost = data.draw(st.integers(1, len(records)), "matched in vain")
    index, signer = MemoryIndex(), Signer(settings)
    before = streams.run(Matcher(index, settings), signer, records[:crash], sizes)
    vain = Matcher(index, settings).match(signer.sign(records[crash : crash + lost]))
    after = streams.run(Matcher(index, settings), signer, records[crash:], [5])

    assert streams.encoded(before + after) == expected
    assert streams.encoded(vain.verdicts) == expected[crash : crash + lost]


@few
@given(streams.engine_settings(), streams.streams(), seeds)
def test_a_failed_matcher_goes_on_after_a_batch_that_was_not_remembered(
    settings: Settings, stream: list[streams.Draft], seed: int
) -> None:
    """One and the same matcher may match a batch twice: only remembering moves it."""
    records = drawn(settings, stream, seed)
    matcher, signer, verdicts = Matcher(MemoryIndex(), settings), Signer(settings), list[Verdict]()
    for batch in streams.cut(records, [3]):
        signed = signer.sign(batch)
        first, second = matcher.match(signed), matcher.match(signed)

        assert streams.encoded(first.verdicts) == streams.encoded(second.verdicts)
        matcher.remember(second)
        verdicts += second.verdicts

    assert streams.encoded(verdicts) == encoded(settings, records, [3])


@few
@given(streams.engine_settings([float("inf")]), streams.streams(), seeds)
def test_a_window_longer_than_the_stream_forgets_as_little_as_none(
    settings: Settings, stream: list[streams.Draft], seed: int
) -> None:
    """With and without generations, what is within the window is there."""
    records = drawn(settings, stream, seed)
    index = replace(settings.index, window=Duration(365 * DAY))

    assert encoded(settings, records, [4]) == encoded(replace(settings, index=index), records, [4])


def test_a_record_ten_years_later_expires_all_that_came_before() -> None:
    """What came ten years ago is as gone as if it had never been, and what follows starts anew."""
    settings = plain(window=Duration(60))
    early = [document(1, "a", TEXT, time=0), document(2, "b", NEAR, time=1000)]
    late = [document(3, "c", TEXT, time=3650 * 86_400_000), document(4, "d", NEAR, time=UNDATED)]

    assert types(verdicts_of(settings, early + late, [1])) == ["unique", "duplicate"] * 2


@pytest.mark.soak
@search(max_examples=50)
@given(streams.engine_settings(), long_seeds, sizes, st.integers(1, 999))
def test_long_streams_are_published_alike_however_they_are_cut_and_broken(
    settings: Settings, seed: int, sizes: list[int], crash: int
) -> None:
    """A thousand events in batches of 1, 50, all or any sizes, with a crash on the way."""
    records = drawn(settings, streams.long_stream(seed, 1000), seed % 1000)
    expected = encoded(settings, records, [50])
    index, signer = MemoryIndex(), Signer(settings)
    before = streams.run(Matcher(index, settings), signer, records[:crash], [31])
    Matcher(index, settings).match(signer.sign(records[crash:]))
    after = streams.run(Matcher(index, settings), signer, records[crash:], [17])

    assert streams.encoded(before + after) == expected
    for cuts in ([1], [len(records)], sizes):
        assert encoded(settings, records, cuts) == expected, cuts


@few
@given(streams.engine_settings(), streams.streams(), seeds, sizes)
def test_all_cross_references_of_the_index_hold_after_every_batch(
    settings: Settings, stream: list[streams.Draft], seed: int, sizes: list[int]
) -> None:
    """What one row of the index says of another is true, whatever came before."""
    index, signer = MemoryIndex(), Signer(settings)
    matcher = Matcher(index, settings)
    for batch in streams.cut(drawn(settings, stream, seed), sizes):
        matcher.remember(matcher.match(signer.sign(batch)))

        assert list(problems(index)) == []


# Tenants


def of_tenant(verdicts: Sequence[Verdict], name: str) -> list[bytes]:
    """Return the verdicts of one namespace, as published under another."""
    return [
        replace(verdict, document=replace(verdict.document, namespace="-")).encode()
        for verdict in verdicts
        if verdict.document.namespace == name
    ]


def tenanted(record: Record, name: str, position: int) -> Record:
    """Return the record of another tenant."""
    return record._replace(event=replace(record.event, namespace=name), position=position)


@few
@given(streams.engine_settings(), streams.streams([""]), seeds, sizes)
def test_two_tenants_with_the_same_stream_never_touch_each_other(
    settings: Settings, stream: list[streams.Draft], seed: int, sizes: list[int]
) -> None:
    """The same ids and texts under two names, in turn, are published as each would be alone."""
    records = drawn(settings, stream, seed)
    alone = of_tenant(verdicts_of(settings, records, sizes), "")
    both = [
        tenanted(record, name, 2 * record.position + turn)
        for record in records
        for turn, name in enumerate("ab")
    ]
    verdicts = verdicts_of(settings, both, sizes)

    assert of_tenant(verdicts, "a") == alone
    assert of_tenant(verdicts, "b") == alone


@few
@given(
    streams.engine_settings([float("inf")]),
    streams.streams([""]),
    streams.streams([""]),
    seeds,
    st.randoms(use_true_random=False),
)
def test_tenants_with_different_streams_never_touch_each_other(
    settings: Settings,
    first: list[streams.Draft],
    second: list[streams.Draft],
    seed: int,
    random: Random,
) -> None:
    """However two streams of one log mix, each tenant is answered as alone."""
    sides = {"a": drawn(settings, first, seed), "b": drawn(settings, second, seed)}
    turns = [name for name, side in sides.items() for _ in side]
    random.shuffle(turns)
    rest = {name: iter(side) for name, side in sides.items()}
    mixed = [tenanted(next(rest[name]), name, position) for position, name in enumerate(turns)]
    verdicts = verdicts_of(settings, mixed)

    for name, side in sides.items():
        assert of_tenant(verdicts, name) == of_tenant(verdicts_of(settings, side), "")


# Plain cases

TEXT = (
    "The council of the harbour town voted on Tuesday night to rebuild the old pier, which a storm "
    "had carried away in the spring; work is to begin in June and to take two years."
)
NEAR = TEXT.replace("Tuesday", "Monday")
OTHER = "Rain is expected over the northern islands until the weekend, with winds from the west."


def plain(**index: object) -> Settings:
    """Return settings of which only those of the index matter."""
    return Settings(
        events=EventsSettings(emit="all"),
        index=IndexSettings(**{"window": Duration(float("inf")), **index}),  # type: ignore[arg-type]
    )


def reference(number: int) -> RecordReference:
    return RecordReference(topic="feed", partition=0, offset=number)


def document(number: int, id: str, text: str, time: int = 0, source: str = "") -> Record:
    event = Document(id=id, text=text, source=source)
    return Record(event, number, time, reference(number))


def deletion(number: int, id: str, time: int = 0) -> Record:
    return Record(Deletion(id=id), number, time, reference(number))


def types(verdicts: Sequence[Verdict]) -> list[str]:
    return [verdict.type for verdict in verdicts]


def best(verdict: Verdict) -> str | None:
    """Return the id of the best match."""
    return verdict.matches[0].id if verdict.matches else None


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize("order", ["first to last", "last to first", "from the middle"])
def test_copies_match_until_the_last_of_them_is_deleted(order: str, size: int) -> None:
    """Ten copies, then nine, and so on: the earliest left is named, all are counted; then none."""
    ids = [f"copy {number}" for number in range(10)]
    doomed = {
        "first to last": ids,
        "last to first": ids[::-1],
        "from the middle": ids[5:] + ids[:5],
    }
    records = [document(number, id, TEXT) for number, id in enumerate(ids)]
    for id in doomed[order]:  # a probe that is taken back at once, then one copy fewer
        number = len(records)
        records += [document(number, "probe", NEAR), deletion(number + 1, "probe")]
        records += [document(number + 2, "copy", TEXT), deletion(number + 3, "copy")]
        records += [deletion(number + 4, id)]
    records += [document(len(records), "last", TEXT), document(len(records) + 1, "end", NEAR)]
    verdicts = verdicts_of(plain(), records, [size])
    left = list(ids)
    for round_start, id in zip(range(10, len(records) - 2, 5), doomed[order], strict=True):
        near, _, exact, _, deleted = verdicts[round_start : round_start + 5]

        assert (best(near), near.match_count) == (left[0], len(left))
        assert (best(exact), exact.match_count, exact.matches[0].kind) == (
            left[0],
            len(left),
            "exact",
        )
        assert (deleted.type, deleted.matches, deleted.cluster) == ("deleted", (), None)
        left.remove(id)

    assert types(verdicts[-2:]) == ["unique", "duplicate"]


@few
@given(streams.engine_settings(), streams.streams(), seeds, st.sampled_from(streams.IDS))
def test_nothing_matches_what_was_deleted(
    settings: Settings, stream: list[streams.Draft], seed: int, id: str
) -> None:
    """From the deletion of an id until it comes again, no match, cluster or revision names it."""
    absent: set[tuple[str, str]] = set()
    records = drawn(settings, stream, seed)
    for record, verdict in zip(records, verdicts_of(settings, records), strict=True):
        name = record.event.namespace
        named = {match.id for match in verdict.matches}
        if verdict.cluster and verdict.cluster.id != record.event.id:
            named.add(verdict.cluster.id)

        assert not {(name, id) for id in named} & absent
        if verdict.type in ("deleted", "skipped"):
            absent.add((name, record.event.id))
        elif (name, record.event.id) in absent:
            assert verdict.previous is None
            assert verdict.type != "repeat"
            absent.discard((name, record.event.id))


@pytest.mark.parametrize("size", [1, 2, 10])
def test_an_exact_copy_renews_what_a_near_copy_finds_later(size: int) -> None:
    """An exact copy at two thirds of a window, a near copy at four thirds: it is found."""
    records = [
        document(1, "first", TEXT, time=0),
        document(2, "exact", TEXT.upper(), time=60_000),
        document(3, "other", OTHER, time=90_001),
        document(4, "near", NEAR, time=120_000),
    ]
    verdicts = verdicts_of(plain(window=Duration(90)), records, [size])

    assert [best(verdict) for verdict in verdicts] == [None, "first", None, "exact"]
    assert verdicts[-1].match_count == 1


@pytest.mark.parametrize(("age", "found"), [(90_000, True), (90_001, False)])
def test_a_window_is_left_to_the_millisecond(age: int, found: bool) -> None:
    """A document exactly a window old is there, and a millisecond later it is not."""
    records = [document(1, "a", TEXT, time=5), document(2, "b", NEAR, time=5 + age)]
    verdicts = verdicts_of(plain(window=Duration(90)), records, [2])

    assert types(verdicts) == ["unique", "duplicate" if found else "unique"]


def test_a_late_record_does_not_turn_the_clock_back() -> None:
    """Log time is the latest time seen: a record with an older one is seen now, not then."""
    records = [
        document(1, "a", TEXT, time=100_000),
        document(2, "b", OTHER, time=10_000),
        document(3, "c", OTHER, time=150_000),
    ]
    verdicts = verdicts_of(plain(window=Duration(60)), records, [1])

    assert types(verdicts) == ["unique", "unique", "duplicate"]
    assert streams.answer_of(verdicts[2]).matches[0].seen_at == 10_000


def test_what_came_before_the_first_date_does_not_vanish_with_it() -> None:
    """Records without a time count as seen when the first time comes."""
    start = 1_700_000_000_000
    records = [
        document(1, "a", TEXT, time=UNDATED),
        document(2, "b", OTHER, time=start),
        document(3, "c", NEAR, time=start + 60_000),
        document(4, "d", OTHER, time=start + 60_001),
    ]
    verdicts = verdicts_of(plain(window=Duration(60)), records, [1])

    assert types(verdicts) == ["unique", "unique", "duplicate", "unique"]
    assert verdicts[2].matches[0].seen_at is None


def measured() -> Iterator[SimilaritySettings]:
    """List all ways to compare."""
    for verify in ("signature", "exact"):
        for multiset in (False, True):
            yield SimilaritySettings(verify=verify, multiset=multiset)
            yield SimilaritySettings(measure="cosine", verify=verify, multiset=multiset, hashes=256)


@pytest.mark.parametrize("similarity", list(measured()))
def test_every_measure_finds_a_near_copy_and_says_how_near(similarity: SimilaritySettings) -> None:
    """Jaccard and cosine, estimated and exact, of sets and multisets: as the oracle computes it."""
    settings = replace(plain(), similarity=similarity)
    records = [document(1, "a", TEXT * 3), document(2, "b", NEAR * 3), document(3, "c", OTHER)]
    verdicts = verdicts_of(settings, records, [3])
    match = verdicts[1].matches[0]
    table = streams.Table([TEXT * 3, NEAR * 3], similarity)
    true = streams.true_similarity(TEXT * 3, NEAR * 3, similarity)

    assert types(verdicts) == ["unique", "duplicate", "unique"]
    assert (match.similarity, match.error) == pytest.approx(table.similarity(0, 1), abs=1e-6)
    assert (match.error == 0) == (similarity.verify == "exact")
    assert match.similarity == pytest.approx(true, abs=max(1e-6, 4 * match.error))


@pytest.mark.parametrize("emit", ["matches", "all", "none"])
def test_what_is_published_follows_emit(emit: str) -> None:
    """All verdicts, those with matches, or none are published; all are counted."""
    settings = replace(plain(), events=EventsSettings(emit=emit))  # type: ignore[arg-type]
    records = [
        document(1, "a", TEXT),
        document(2, "b", NEAR),
        document(3, "b", NEAR),
        document(4, "c", " ?"),
        deletion(5, "a"),
    ]
    matched = Matcher(MemoryIndex(), settings).match(Signer(settings).sign(records))
    published = {"all": ["unique", "duplicate", "repeat", "skipped", "deleted"], "none": []}

    assert types(matched.verdicts) == published.get(emit, ["duplicate"])
    assert matched.types == dict.fromkeys(published["all"], 1)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("any", ["unique", "duplicate", "duplicate"]),
        ("same_source", ["unique", "unique", "duplicate"]),
        ("other_source", ["unique", "duplicate", "duplicate"]),
    ],
)
def test_scope_says_whose_copies_count(scope: str, expected: list[str]) -> None:
    """Copies match within a source, between sources, or wherever they come from."""
    settings = replace(plain(), matching=MatchingSettings(scope=scope))  # type: ignore[arg-type]
    records = [
        document(1, "a", TEXT, source="afp"),
        document(2, "b", TEXT, source="dpa"),
        document(3, "c", NEAR, source="afp"),
    ]
    verdicts = verdicts_of(settings, records, [3])

    assert types(verdicts) == expected
    assert best(verdicts[2]) == ("b" if scope == "other_source" else "a")


def test_event_ids_name_the_record_whatever_happened_before_it() -> None:
    """The id of an event follows from where its record was read, not from what was known then."""
    first, second = document(7, "a", TEXT), document(8, "b", NEAR)
    together = verdicts_of(plain(), [first, second])
    alone = verdicts_of(plain(), [second])

    assert together[1].event_id == alone[0].event_id
    assert together[0].event_id != together[1].event_id
