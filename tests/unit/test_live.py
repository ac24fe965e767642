from functools import partial
from time import perf_counter

import msgspec
import pytest
from msgspec.structs import replace

from stream_dedup import metrics as listed
from stream_dedup.config import EventsSettings, IndexSettings, Settings, SimilaritySettings
from stream_dedup.engine import Matched, Matcher, Record, Signer
from stream_dedup.events import (
    ClusterReference,
    Document,
    Match,
    RecordReference,
    SeenDocument,
    Verdict,
)
from stream_dedup.growth import CLUSTERS_MAX, GROWING
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.live import LATEST, SLICE_SECONDS, SLICES, Live
from stream_dedup.metrics import Metrics
from stream_dedup.quantities import Duration
from stream_dedup.similarity.curve import candidate_probability

START = 1_700_000_000.0
TEXT = "Rain fell on the hills all night and the river rose above the lower fields of the valley"


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


class Engine:
    """A real engine, whose every batch is committed and then shown."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.clock, self.metrics = Clock(), Metrics()
        self.live = Live(self.metrics, self.settings, self.clock)
        self._signer = Signer(self.settings)
        self._matcher = Matcher(MemoryIndex(), self.settings)

    def decide(self, *documents: tuple[str, str], namespace: str = "") -> Matched:
        """Decide ids and texts, as the service does."""
        first = self._matcher.next_offset
        records = [
            Record(
                Document(id=name, text=text, source=f"of {name}", namespace=namespace),
                position,
                int(START * 1000) + position,
                RecordReference(topic="t", partition=0, offset=position),
            )
            for position, (name, text) in enumerate(documents, first)
        ]
        matched = self._matcher.match(self._signer.sign(records))
        self._matcher.remember(matched)
        self.live.decided(matched, self.clock())
        return matched


def shown(verdicts: list[Verdict]) -> Matched:
    """Stand verdicts in for a batch, of which nothing but these is looked at."""
    matched = Engine().decide(("a", TEXT))
    return matched._replace(verdicts=verdicts)


def verdict(name: str, cluster: str, size: int) -> Verdict:
    """Say that a document joined a cluster."""
    match = Match(
        id=cluster, kind="near", similarity=0.9, error=0.02, containment=0.9,
        seen_at=None, source="", bands=3,
    )  # fmt: skip
    return Verdict(
        event_id=name,
        type="duplicate",
        document=SeenDocument(id=name, source="", namespace="", seen_at=None),
        record=RecordReference(topic="t", partition=0, offset=0),
        matches=(match,),
        match_count=1,
        cluster=ClusterReference(id=cluster, size=size),
        previous=None,
        capped=0,
        settings="f",
    )


def test_a_match_is_shown_with_what_it_matched() -> None:
    """A document that matched is among the latest, with both ids and sources, kind and cluster."""
    engine = Engine()
    engine.decide(("a", TEXT))
    engine.clock.now += 1
    engine.decide(("b", TEXT.upper()))

    (match,) = engine.live.snapshot().latest

    assert (match.id, match.source, match.matched_id, match.matched_source) == (
        *("b", "of b"),
        *("a", "of a"),
    )
    assert (match.kind, match.similarity, match.type) == ("exact", 1, "duplicate")
    assert (match.cluster_id, match.cluster_size, match.match_count) == ("a", 2, 1)
    assert match.decided_at == START + 1
    assert match.seen_at
    assert match.matched_seen_at


def test_the_newest_matches_come_first_and_are_numbered() -> None:
    """Matches are numbered since the start; of more than are kept the newest are, newest first."""
    engine = Engine()
    engine.decide(("a", TEXT))
    engine.decide(("b", TEXT))
    engine.decide(*((f"c{number}", TEXT) for number in range(LATEST + 9)))

    snapshot = engine.live.snapshot()

    assert [match.number for match in snapshot.latest] == list(range(LATEST + 10, 10, -1))
    assert snapshot.latest[0].id == f"c{LATEST + 8}"
    assert snapshot.matches == LATEST + 10


def test_a_cluster_grows_by_the_documents_that_join_it() -> None:
    """Each new document counts once; its revisions and repeats, and the first one, do not."""
    engine = Engine()
    edited = TEXT.replace("river", "water")
    engine.decide(("a", TEXT), ("b", edited), ("c", edited))
    engine.decide(("c", edited), ("b", TEXT), ("a", edited))

    (cluster,) = engine.live.snapshot().growing

    assert (cluster.id, cluster.gained, cluster.gained_last_minute) == ("a", 2, 2)
    assert cluster.size >= 2


def test_a_cluster_does_not_grow_by_its_first_document() -> None:
    """A duplicate that resembles no representative begins a cluster, and nothing grew."""
    live = Live(Metrics(), Settings(), Clock())
    live.decided(shown([verdict("a", "a", 1)]), START)

    assert live.snapshot().growing == []
    assert live.snapshot().latest[0].cluster_id == "a"


def test_a_cluster_that_never_stops_takes_no_more_room() -> None:
    """Of a cluster that grows for hours only what the last three minutes brought is kept."""
    live, clock = Live(Metrics(), Settings(), Clock()), START
    batch = shown([verdict("b", "a", 9)])
    for second in range(0, 3600, 5):
        clock = START + second
        live.decided(batch, clock)
    live._clock = lambda: clock

    (cluster,) = live.snapshot().growing

    assert (cluster.gained, cluster.gained_last_minute) == (36, 12)
    (grown,) = live._growth._clusters.values()
    assert len(grown.gained) == 36


def test_clusters_of_two_namespaces_are_two() -> None:
    """The same id stands for another cluster in another namespace."""
    engine = Engine()
    engine.decide(("a", TEXT), ("b", TEXT))
    engine.decide(("a", TEXT), ("b", TEXT), ("c", TEXT), namespace="n")

    growing = engine.live.snapshot().growing

    assert [(one.namespace, one.id, one.gained) for one in growing] == [("n", "a", 2), ("", "a", 1)]


def test_growth_is_that_of_the_last_minute() -> None:
    """The metric tells the most that one cluster gained in a minute, and falls back by itself."""
    engine = Engine()
    growth = partial(engine.metrics.value, listed.CLUSTER_GROWTH)
    engine.decide(*((name, TEXT) for name in "abcd"))
    engine.live.settle()
    assert growth() == 3

    engine.clock.now += 30
    engine.decide(*((name, TEXT) for name in "ef"))
    engine.live.settle()
    assert growth() == 5

    engine.clock.now += 40
    engine.live.settle()
    assert growth() == 2
    (cluster,) = engine.live.snapshot().growing
    assert (cluster.gained, cluster.gained_last_minute, cluster.size) == (5, 2, 6)

    engine.clock.now += 40
    engine.live.settle()
    assert growth() == 0


def test_what_is_older_than_the_ring_is_gone() -> None:
    """After the time of all slices nothing grows any more, and no count is left of them."""
    engine = Engine()
    engine.metrics.add(listed.DOCUMENTS, 2, "near")
    engine.decide(*((name, TEXT) for name in "abc"))
    engine.clock.now += SLICE_SECONDS * (SLICES + 1)

    snapshot = engine.live.snapshot()

    assert snapshot.growing == []
    assert set(snapshot.series.documents) == {0}
    assert snapshot.outcomes == {"near": 2}
    assert snapshot.outcomes_last_minute == {}


def test_many_clusters_do_not_pile_up_and_the_fastest_stay() -> None:
    """Among thousands that gain one document each, those that keep growing are counted in full."""
    live, clock = Live(Metrics(), Settings(), Clock()), START
    for wave in range(20):
        clock = START + 2 * wave
        crowd = [verdict(f"{wave} {n}", f"once {wave} {n}", 2) for n in range(CLUSTERS_MAX // 5)]
        fast = [verdict(f"{wave} f{n}", f"fast {n}", 9) for n in range(GROWING)]
        live.decided(shown(crowd[::2] + fast + crowd[1::2]), clock)
    live._clock = lambda: clock

    growing = live.snapshot().growing

    assert {one.id for one in growing} == {f"fast {n}" for n in range(GROWING)}
    assert {(one.gained, one.gained_last_minute) for one in growing} == {(20, 20)}
    assert len(live._growth._clusters) == CLUSTERS_MAX


def test_counts_lie_in_the_slice_in_which_they_were_made() -> None:
    """What is counted before a batch is shown belongs to that time, not to the next look."""
    engine = Engine()
    engine.metrics.add(listed.DOCUMENTS, 7, "unique")
    engine.metrics.add(listed.DOCUMENTS, 3, "exact")
    engine.decide(("a", TEXT))
    engine.clock.now += 5 * SLICE_SECONDS

    snapshot = engine.live.snapshot()

    assert snapshot.series.documents[-5:] == [10, 0, 0, 0, 0]
    assert snapshot.series.duplicates[-5:] == [3, 0, 0, 0, 0]
    assert snapshot.series.documents[:-5] == [None] * (SLICES - 5)
    assert snapshot.series.until == pytest.approx(engine.clock.now, abs=SLICE_SECONDS)
    assert snapshot.outcomes_last_minute == {"unique": 7, "exact": 3}


@pytest.mark.parametrize(
    ("observed", "p50", "p99"),
    [
        ([0.06] * 100, 0.0625, 0.07475),  # spread over 0.05 to 0.075
        ([0.06] * 98 + [4.0] * 2, 0.05 + 0.025 * 50 / 98, 3.75),
        ([0.001], 0.005, 0.0099),
        ([7200.0] * 3, 3600, 3600),
    ],
)
def test_latency_is_read_off_the_histogram(observed: list[float], p50: float, p99: float) -> None:
    """Median and 99th percentile lie within the interval that holds them, at their rank in it."""
    engine = Engine()
    engine.metrics.observe(listed.LATENCY, observed)

    snapshot = engine.live.snapshot()
    assert (snapshot.p50_seconds, snapshot.p99_seconds) == pytest.approx((p50, p99))

    engine.clock.now += SLICE_SECONDS
    later = engine.live.snapshot().series
    assert (later.p50_seconds[-1], later.p99_seconds[-1]) == pytest.approx((p50, p99))


def test_no_latency_is_told_where_none_was_measured() -> None:
    """An idle minute has no median, and a slice without documents none either."""
    engine = Engine()
    engine.metrics.observe(listed.LATENCY, [0.06])
    engine.live.settle()
    engine.clock.now += 70

    snapshot = engine.live.snapshot()

    assert (snapshot.p50_seconds, snapshot.p99_seconds) == (None, None)
    assert snapshot.series.p50_seconds[-1] is None
    assert any(snapshot.series.p50_seconds)


def test_lag_is_added_up_by_role_and_the_oldest_counts() -> None:
    """Records of the partitions of a role are added; in seconds the slowest partition counts."""
    engine = Engine()
    for partition, (records, seconds) in enumerate([(5, 1.5), (7, 0.5)]):
        engine.metrics.set(listed.LAG_RECORDS, records, "sign", str(partition))
        engine.metrics.set(listed.LAG_SECONDS, seconds, "sign", str(partition))
    engine.metrics.set(listed.LAG_SECONDS, 4, "match", "0")

    snapshot = engine.live.snapshot()
    engine.clock.now += SLICE_SECONDS

    assert snapshot.lag_records == {"sign": 12}
    assert snapshot.lag_seconds == {"sign": 1.5, "match": 4}
    assert engine.live.snapshot().series.lag_seconds[-1] == 4


def test_gauges_are_passed_on() -> None:
    """Index, recall and similarity are those of the metrics, by their labels."""
    engine = Engine()
    engine.metrics.set(listed.INDEX_BYTES, 1e9)
    engine.metrics.set(listed.INDEX_KEYS, 12, "ids")
    engine.metrics.set(listed.RECALL, 0.97, "share")
    engine.metrics.observe(listed.SIMILARITY, [0.05, 0.805, 1.0])

    snapshot = engine.live.snapshot()

    assert (snapshot.index_bytes, snapshot.index_keys) == (1e9, {"ids": 12})
    assert snapshot.recall == {"share": 0.97}
    assert snapshot.disk_free_bytes is None
    assert sum(snapshot.similarity.counts) == 3
    assert snapshot.similarity.counts[snapshot.similarity.bounds.index(0.81)] == 1
    assert len(snapshot.similarity.counts) == len(snapshot.similarity.bounds) + 1


def test_the_settings_in_force_are_those_that_were_planned() -> None:
    """Bands and rows are named where the plan chose them, and the curve is theirs."""
    similarity = SimilaritySettings(threshold=0.7, verify="exact")
    settings = Settings(similarity=similarity, index=IndexSettings(window=Duration("inf")))

    shown = Engine(settings).live.snapshot().settings

    assert shown.bands * shown.rows <= similarity.hashes
    assert shown.curve[70] == pytest.approx(candidate_probability(0.7, shown.bands, shown.rows))
    assert shown.curve[70] == pytest.approx(shown.recall_at_threshold)
    assert (shown.curve[0], shown.curve[100], len(shown.curve)) == (0, 1, 101)
    assert (shown.verify, shown.window_seconds) == ("exact", None)


def test_a_clock_set_back_loses_nothing() -> None:
    """What comes while the clock is behind itself counts as the newest."""
    engine = Engine()
    engine.decide(("a", TEXT), ("b", TEXT))
    engine.clock.now -= 100
    engine.metrics.add(listed.DOCUMENTS, 4, "unique")
    engine.decide(("c", TEXT))
    engine.clock.now += 110

    (cluster,) = engine.live.snapshot().growing
    assert (cluster.gained, cluster.gained_last_minute) == (2, 2)
    assert sum(filter(None, engine.live.snapshot().series.documents)) == 4


def test_nothing_published_is_nothing_shown() -> None:
    """With events.emit = "none" there are no verdicts to show; the settings say so."""
    engine = Engine(Settings(events=EventsSettings(emit="none")))
    engine.decide(("a", TEXT), ("b", TEXT))

    snapshot = engine.live.snapshot()

    assert (snapshot.latest, snapshot.growing) == ([], [])
    assert snapshot.settings.emit == "none"


def test_a_snapshot_is_json() -> None:
    """All of a snapshot can be written as JSON, from the first moment on."""
    engine = Engine()
    engine.decide(("a", TEXT), ("b", TEXT))

    read = msgspec.json.decode(msgspec.json.encode(engine.live.snapshot()))

    assert read["latest"][0]["id"] == "b"
    assert read["series"]["slice_seconds"] == SLICE_SECONDS


def test_it_costs_microseconds() -> None:
    """Two thousand documents, all of them matches, cost less than 2 µs each."""
    engine = Engine()
    verdicts = [replace(verdict(f"d{n}", f"c{n % 900}", 5), event_id=str(n)) for n in range(2000)]
    batch = shown(verdicts)
    for outcome in ("unique", "exact", "near", "excerpt", "extension", "repeat", "skipped"):
        engine.metrics.add(listed.DOCUMENTS, 3, outcome)
    spent = []
    for _ in range(20):
        engine.clock.now += 1
        started = perf_counter()
        engine.live.decided(batch, engine.clock.now)
        spent.append(perf_counter() - started)

    assert min(spent) / len(verdicts) < 2e-6, f"seconds of a batch: {spent}"
