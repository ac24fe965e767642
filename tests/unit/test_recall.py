"""The recall meter: what it counts, what it leaves out, and that it changes nothing."""

from collections.abc import Sequence
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as search
from hypothesis import strategies as st
from msgspec.structs import replace

from stream_dedup.config import IndexSettings, MatchingSettings, Settings, SimilaritySettings
from stream_dedup.engine import UNDATED, Matcher, Record, Signer
from stream_dedup.events import Deletion, Document, RecordReference
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.quantities import Duration
from stream_dedup.recall import HITS_MIN, Recall, RecallMeter, meeting_probability, wilson
from stream_dedup.similarity.sketch import Sketcher
from tests import streams

HASHES, BANDS, ROWS, THRESHOLD = 64, 10, 6, 0.6
HALF = BANDS // 2
ALL = MatchingSettings(recall_sample=1)
SETTINGS = Settings(
    similarity=SimilaritySettings(
        unit="word", size=1, hashes=HASHES, bands=BANDS, rows=ROWS, threshold=THRESHOLD
    ),
    matching=ALL,
)
seeds = st.integers(0, 20)


class Blind(MemoryIndex):
    """An index that has lost the buckets of some bands."""

    def __init__(self, hidden: range) -> None:
        super().__init__()
        self.hidden = hidden

    def read(self, keyspace: Keyspace, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return nothing for buckets of these bands."""
        values = super().read(keyspace, keys)
        if keyspace is not Keyspace.BUCKETS:
            return values
        pairs = zip(keys, values, strict=True)
        return [None if key[0] in self.hidden else value for key, value in pairs]


def of_bands(hidden: range) -> Index:
    """Return an index without these bands."""
    return Blind(hidden) if hidden else MemoryIndex()


def record(number: int, event: Document | Deletion, time: int = UNDATED) -> Record:
    """Return a record at a position of its own."""
    return Record(event, number, time, RecordReference(topic="t", partition=0, offset=number))


def documents(texts: Sequence[str]) -> list[Record]:
    """Return a document for each text."""
    return [record(n, Document(id=str(n), text=text)) for n, text in enumerate(texts)]


def pairs(number: int, seed: int, replaced: tuple[int, int] = (8, 16)) -> list[str]:
    """Make texts of 60 words, then a copy of each in which some words are others."""
    random = Random(seed)
    originals = [[f"w{random.getrandbits(60)}" for _ in range(60)] for _ in range(number)]
    copies = []
    for original in originals:
        words = list(original)
        for place in random.sample(range(60), random.randint(*replaced)):
            words[place] = f"w{random.getrandbits(60)}"
        copies.append(words)
    return [" ".join(words) for words in originals + copies]


def run(
    records: Sequence[Record],
    settings: Settings = SETTINGS,
    hidden: range = range(0),
    size: int = 50,
) -> Matcher:
    """Match and remember a stream."""
    matcher = Matcher(of_bands(hidden), settings)
    streams.run(matcher, Signer(settings), records, [size])
    return matcher


def measured(
    records: Sequence[Record],
    settings: Settings = SETTINGS,
    hidden: range = range(0),
    size: int = 50,
) -> Recall:
    """Return what the meter says behind a stream."""
    return run(records, settings, hidden, size).recall.recall()


def in_theory(texts: Sequence[str], bands: int) -> float:
    """Return the mean probability of meeting in so many bands, of pairs estimated similar."""
    sketcher = Sketcher.planned(SETTINGS.similarity)
    signatures = sketcher.sketch(texts).signatures
    left, right = np.split(signatures, 2)
    agreeing = [k for k in (left == right).sum(axis=1).tolist() if k / HASHES >= THRESHOLD]
    return float(np.mean([meeting_probability(k, HASHES, bands, ROWS) for k in agreeing]))


@pytest.mark.parametrize("seed", range(4))
def test_with_all_bands_the_estimate_is_that_of_theory(seed: int) -> None:
    """What is measured is the share that theory expects of pairs so similar, but for chance."""
    texts = pairs(400, seed)
    recall = measured(documents(texts))
    error = 0.5 / np.sqrt(recall.hits + recall.misses)

    assert recall.estimate is not None
    assert 0.5 < recall.estimate.expected < 0.95
    assert recall.estimate.low < recall.estimate.share < recall.estimate.high
    assert recall.estimate.share == pytest.approx(recall.estimate.expected, abs=4 * error)
    assert recall.estimate.expected == pytest.approx(in_theory(texts, BANDS))


def test_the_interval_holds_what_theory_expects_19_times_in_20() -> None:
    """Of forty streams, five at most have an interval beside the share that theory expects."""
    estimates = [measured(documents(pairs(400, seed))).estimate for seed in range(40)]
    known = [estimate for estimate in estimates if estimate is not None]
    missed = [one for one in known if not one.low <= one.expected <= one.high]

    assert len(known) == len(estimates)
    assert len(missed) <= 5, missed


@pytest.mark.parametrize("seed", range(4))
def test_without_half_the_bands_the_estimate_falls(seed: int) -> None:
    """An index that lost half its bands is seen: the share falls to that of the other half."""
    texts = pairs(400, seed)
    whole = measured(documents(texts)).estimate
    counted = measured(documents(texts), hidden=range(HALF))
    half = counted.estimate
    assert whole is not None
    assert half is not None
    error = 0.5 / np.sqrt(counted.hits + counted.misses)

    assert half.high < whole.low
    assert half.high < half.expected == whole.expected
    assert half.share == pytest.approx(in_theory(texts, BANDS - HALF), abs=4 * error)


def test_a_loss_shows_within_a_thousand_documents() -> None:
    """The estimate is that of late: what went well before does not hide a loss."""
    index = Blind(range(0))
    matcher, signer = Matcher(index, SETTINGS), Signer(SETTINGS)
    records = documents([*pairs(1200, 1), *pairs(1200, 2)])
    streams.run(matcher, signer, records[:2400], [200])
    before = matcher.recall.recall().estimate
    index.hidden = range(BANDS)
    streams.run(matcher, signer, records[2400:3600], [200])
    index.hidden = range(HALF)
    streams.run(matcher, signer, records[3600:], [200])
    after = matcher.recall.recall()

    assert before is not None
    assert after.estimate is not None
    assert after.hits + after.misses == 1000
    assert after.estimate.high < before.low


def test_below_30_hits_nothing_is_claimed() -> None:
    """With fewer hits there is no estimate, and what is said tells why; with 30 there is one."""
    exact = [pair for text in pairs(HITS_MIN, 3) for pair in (text, f"{text} and")]
    few, enough = measured(documents(exact[:-62])), measured(documents(exact[:60]))

    assert few.hits < HITS_MIN
    assert few.estimate is None
    assert str(few) == f"unknown: {few.hits} pairs met, 0 missed; 30 met are needed"
    assert enough.hits == HITS_MIN
    assert str(enough).startswith("1.000 (0.8")


A, B = pairs(1, 7, (6, 6))
OTHER = pairs(1, 8)[0]


@pytest.mark.parametrize(
    ("events", "pairs_counted"),
    [
        ([Document(id="a", text=A), Document(id="b", text=B)], 1),
        ([Document(id="a", text=A), Document(id="b", text=OTHER)], 0),
        ([Document(id="a", text=A), Document(id="b", text=A)], 0),
        ([Document(id="a", text=A), Document(id="b", text=B, namespace="n")], 0),
        ([Document(id="a", text=A), Deletion(id="a"), Document(id="b", text=B)], 0),
        ([Document(id="a", text=A), Document(id="a", text=B)], 0),
        ([Document(id="a", text=A), Document(id="a", text=OTHER), Document(id="b", text=B)], 0),
        (
            [
                Document(id="a", text=A),
                Document(id="c", text=A),
                Deletion(id="a"),
                Document(id="b", text=B),
            ],
            1,
        ),
        ([Document(id="a", text=A), Deletion(id="b"), Document(id="b", text=B)], 1),
        ([Document(id="a", text=""), Document(id="b", text="")], 0),
    ],
)
@pytest.mark.parametrize("size", [1, 10])
def test_only_what_the_index_must_show_is_counted(
    events: list[Document | Deletion], pairs_counted: int, size: int
) -> None:
    """Pairs across namespaces, of what is gone, and exact copies are neither hits nor misses."""
    records = [record(number, event) for number, event in enumerate(events)]
    seeing = measured(records, size=size)
    blind = measured(records, hidden=range(BANDS), size=1)

    assert (seeing.hits, seeing.misses) == (pairs_counted, 0)
    assert (blind.hits, blind.misses) == (0, pairs_counted)


@pytest.mark.parametrize(("later", "pairs_counted"), [(10_000, 1), (10_001, 0)])
def test_what_has_expired_is_not_counted(later: int, pairs_counted: int) -> None:
    """A group outside the window is neither hit nor miss."""
    settings = replace(SETTINGS, index=IndexSettings(window=Duration(10)))
    first, second = Document(id="a", text=A), Document(id="b", text=B)
    start = streams.START
    records = [record(0, first, start), record(1, second, start + later)]

    assert measured(records, settings).hits == pairs_counted
    assert measured(records, settings, range(BANDS), 1).misses == pairs_counted


@pytest.mark.parametrize(
    ("matching", "pairs_counted"),
    [
        (MatchingSettings(scope="same_source", recall_sample=1), 0),
        (MatchingSettings(scope="other_source", recall_sample=1), 1),
    ],
)
def test_what_is_out_of_scope_is_not_counted(
    matching: MatchingSettings, pairs_counted: int
) -> None:
    """A group none of whose members may be reported is neither hit nor miss."""
    settings = replace(SETTINGS, matching=matching)
    first, second = Document(id="a", text=A, source="x"), Document(id="b", text=B, source="y")
    records = [record(0, first), record(1, second)]

    assert measured(records, settings).hits == pairs_counted
    assert measured(records, settings, range(BANDS), 1).misses == pairs_counted


def test_what_a_full_bucket_hides_is_missed() -> None:
    """A cap on buckets costs recall, and the meter shows it."""
    settings = replace(SETTINGS, index=IndexSettings(bucket_size_max=1))
    crowd = documents([f"{A} {number}" for number in range(20)])

    assert measured(crowd).misses == 0
    assert measured(crowd, settings).misses > 0
    assert measured(crowd, settings).misses == measured(crowd, settings, size=3).misses


def test_of_a_crowd_some_pairs_are_counted() -> None:
    """A document that resembles hundreds counts eight of them."""
    recall = measured(documents([f"{A} {number}" for number in range(300)]))

    assert sum(min(number, 8) for number in range(300)) >= recall.hits >= 300 * 4


def test_only_recent_groups_are_compared() -> None:
    """Of the last groups that began so many are kept, copies taking no room; no older counts."""
    signer = Signer(SETTINGS)
    others = pairs(10, 9)[:10]
    for fillers, pairs_counted in ((others[:9], 1), (others, 0), (others[:9] * 4, 1)):
        index = MemoryIndex()
        matcher = Matcher(index, SETTINGS)
        matcher.recall = RecallMeter(index, SETTINGS, signer.sketcher, window=11)
        streams.run(matcher, signer, documents([A, *fillers, B]), [1])

        assert matcher.recall.recall().hits == pairs_counted


@search(max_examples=60)
@given(streams.engine_settings(), streams.streams(), seeds, st.integers(1, 40))
def test_no_verdict_depends_on_the_sample(
    settings: Settings, stream: list[streams.Draft], seed: int, size: int
) -> None:
    """Whether nothing or everything is measured, the same is published, to the byte."""
    records = streams.records(streams.timed(stream, settings.index.window), seed)
    published = []
    for sample in (0.0, 1.0):
        matching = replace(settings.matching, recall_sample=sample)
        changed = replace(settings, matching=matching)
        verdicts = streams.run(Matcher(MemoryIndex(), changed), Signer(changed), records, [size])
        published.append(streams.encoded(verdicts))

    assert published[0] == published[1]


# Signatures that agree in any value meet: who is estimated similar cannot be missed.
SURE = st.builds(
    SimilaritySettings,
    hashes=st.just(32),
    bands=st.just(32),
    rows=st.just(1),
    size=st.sampled_from([1, 3, 5]),
    threshold=st.sampled_from([0.5, 0.75]),
    verify=st.sampled_from(["signature", "exact"]),
)


@search(max_examples=100)
@given(streams.engine_settings(), SURE, streams.streams(), seeds, st.integers(1, 40))
def test_what_cannot_be_missed_is_never_missed(
    settings: Settings,
    similarity: SimilaritySettings,
    stream: list[streams.Draft],
    seed: int,
    size: int,
) -> None:
    """Whatever is replaced, deleted, expires or is out of scope, nothing is called missed."""
    settings = replace(
        settings,
        similarity=similarity,
        matching=replace(settings.matching, recall_sample=1),
        index=replace(settings.index, bucket_size_max=100),
    )
    records = streams.records(streams.timed(stream, settings.index.window), seed)

    assert measured(records, settings, size=size).misses == 0
    assert measured(records, settings, range(32), 1).hits == 0


def test_the_sample_follows_from_positions_and_is_as_large_as_asked_for() -> None:
    """The same positions are chosen however batches are cut; their share is the setting's."""
    chosen = {}
    for sample in (0.0, 0.005, 0.5, 1.0):
        settings = Settings(matching=MatchingSettings(recall_sample=sample))
        meter = RecallMeter(MemoryIndex(), settings, Signer(settings).sketcher)
        chosen[sample] = meter.sampled(range(100_000))
        parts = [
            {start + place for place in meter.sampled(range(start, start + 1000))}
            for start in range(0, 100_000, 1000)
        ]
        assert set.union(*parts) == chosen[sample]

    assert (len(chosen[0.0]), len(chosen[1.0])) == (0, 100_000)
    assert 400 <= len(chosen[0.005]) <= 600
    assert 49_000 <= len(chosen[0.5]) <= 51_000
    assert chosen[0.005] < chosen[0.5]


def test_a_meter_that_is_off_costs_nothing() -> None:
    """Without a sample nothing is kept or counted."""
    settings = replace(SETTINGS, matching=MatchingSettings(recall_sample=0))

    assert measured(documents(pairs(40, 5)), settings) == Recall(0, 0, None)


@pytest.mark.parametrize(("hashes", "bands", "rows"), [(8, 2, 3), (8, 4, 2), (7, 1, 7), (9, 9, 1)])
def test_the_probability_of_meeting_is_a_share_of_all_choices(
    hashes: int, bands: int, rows: int
) -> None:
    """Of all ways in which so many values can agree, it is the share with a whole band."""
    for agreeing in range(hashes + 1):
        ways = [set(values) for values in combinations(range(hashes), agreeing)]
        met = sum(
            any(set(range(band * rows, band * rows + rows)) <= values for band in range(bands))
            for values in ways
        )
        probability = meeting_probability(agreeing, hashes, bands, rows)

        assert probability == pytest.approx(met / len(ways), abs=1e-12)


def test_the_interval_is_that_of_the_score() -> None:
    """Published values of Wilson's interval come out, and shares of 0 and 1 keep to [0, 1]."""
    assert wilson(0.9, 10) == pytest.approx((0.5958, 0.9821), abs=1e-3)
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=1e-3)
    assert wilson(1.0, 30) == pytest.approx((0.8865, 1.0), abs=1e-3)
    assert wilson(0.0, 30)[0] == 0.0
