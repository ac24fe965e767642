"""The engine on cases with a name: what a user would try by hand."""

from collections import Counter
from itertools import count, islice

import pytest

from stream_dedup.config import EventsSettings, IndexSettings, Settings, SimilaritySettings
from stream_dedup.engine import Matcher, Record, Signer, texts_kept_from
from stream_dedup.errors import Refused
from stream_dedup.events import ClusterReference, Deletion, Document, RecordReference, Verdict
from stream_dedup.index.layout import decode_cluster, position_of_key
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.interfaces import Keyspace
from stream_dedup.matching.groups import MEMBERS_KEPT
from stream_dedup.quantities import Duration
from stream_dedup.upkeep.verification import problems

STORY = "Storm winds closed both terminals of the harbour on Monday after a crane was damaged. " * 5
EDITED = STORY.replace("Monday", "Tuesday", 1)
ALL = EventsSettings(emit="all")


class Desk:
    """A matcher that is told one event after the other."""

    def __init__(self, settings: Settings, index: MemoryIndex | None = None) -> None:
        self.index = index or MemoryIndex()
        self._signer = Signer(settings)
        self._matcher = Matcher(self.index, settings)
        self._numbers = count(self._matcher.next_offset)

    def tell(self, event: Document | Deletion, time: int = 0) -> Verdict:
        """Decide and remember."""
        number = next(self._numbers)
        reference = RecordReference(topic="t", partition=0, offset=number)
        batch = self._signer.sign([Record(event, number, time, reference)])
        matched = self._matcher.match(batch)
        self._matcher.remember(matched)
        return matched.verdicts[0]


def test_copies_that_nobody_can_name_any_more_stop_nothing() -> None:
    """When all members that a group kept are deleted, it names nobody until it is copied again."""
    desk = Desk(Settings(events=ALL))
    for number in range(MEMBERS_KEPT + 2):
        desk.tell(Document(id=f"a{number}", text=STORY))
    desk.tell(Document(id="b", text=EDITED))
    for number in (0, *range(3, MEMBERS_KEPT + 2)):
        desk.tell(Deletion(id=f"a{number}"))

    assert desk.tell(Document(id="b", text=EDITED)).type == "repeat"
    assert [match.id for match in desk.tell(Document(id="c", text=EDITED)).matches] == ["b"]
    again = desk.tell(Document(id="a1", text=STORY))
    assert (again.type, again.cluster) == ("repeat", ClusterReference(id="a1", size=2))
    assert [match.id for match in desk.tell(Document(id="d", text=STORY)).matches] == ["a1"]


def test_a_text_that_keeps_coming_is_counted_within_the_window() -> None:
    """Of hourly copies those of the last day are told, however long they have been coming.

    So are those that a near copy matches; who comes again, under the same id, counts once.
    """
    hour, day = 3_600_000, Duration.parse("24h")
    desk = Desk(Settings(events=ALL, index=IndexSettings(window=day)))
    counts = [
        desk.tell(Document(id=f"a{hours}", text=STORY), hours * hour).match_count
        for hours in range(200)
    ]
    assert counts == [min(hours, 24) for hours in range(200)]
    assert desk.tell(Document(id="near", text=EDITED), 200 * hour).match_count == 24

    for hours in range(200, 300):
        again = desk.tell(Document(id=f"a{hours % 40}", text=STORY), hours * hour)
    assert (again.type, again.match_count) == ("duplicate", 24)
    for hours in range(300, 400):
        again = desk.tell(Document(id=f"b{hours % 20}", text=STORY), hours * hour)
    assert again.type == "repeat"
    assert desk.tell(Document(id="c", text=STORY), 400 * hour).match_count == 20
    for number in range(5):
        desk.tell(Deletion(id=f"b{number}"), 400 * hour)
    assert desk.tell(Document(id="d", text=STORY), 400 * hour).match_count == 16
    assert list(problems(desk.index)) == []


@pytest.mark.parametrize(
    ("windows", "living"),
    [(["none", "24h"], 24), (["24h", "none", "24h"], 24), (["72h", "1h", "72h"], 72)],
)
def test_of_another_window_what_is_counted_is_right_after_it(
    windows: list[str], living: int
) -> None:
    """Hourly copies are counted within the window that holds, whichever held before."""
    index, hours = MemoryIndex(), iter(range(1000))
    for window in windows:
        desk = Desk(Settings(events=ALL, index=IndexSettings(window=Duration.parse(window))), index)
        for hour in islice(hours, 100):
            told = desk.tell(Document(id=f"a{hour}", text=STORY), hour * 3_600_000)
        assert list(problems(index)) == []

    assert told.match_count == living


@pytest.mark.parametrize(("before", "after"), [("exact", "signature"), ("signature", "exact")])
def test_texts_may_be_kept_from_now_on_or_no_longer(before: str, after: str) -> None:
    """Documents of before still match, and nothing of a deleted one stays."""
    first = Settings(events=ALL, similarity=SimilaritySettings(verify=before))  # type: ignore[arg-type]
    then = Settings(events=ALL, similarity=SimilaritySettings(verify=after))  # type: ignore[arg-type]
    index = Desk(first).index
    Desk(first, index).tell(Document(id="a", text=STORY))
    desk = Desk(then, index)

    assert [match.id for match in desk.tell(Document(id="b", text=EDITED)).matches] == ["a"]
    desk.tell(Deletion(id="a"))
    desk.tell(Deletion(id="b"))
    assert list(index.scan(Keyspace.ORIGINALS)) == []


def test_an_index_tells_from_when_on_texts_are_kept() -> None:
    """It is the position of the first document after the change, until they are kept no longer."""
    index = MemoryIndex()
    told: list[int | None] = []
    for verify in ("signature", "exact", "exact", "signature", "exact"):
        desk = Desk(Settings(events=ALL, similarity=SimilaritySettings(verify=verify)), index)
        desk.tell(Document(id=f"a{len(told)}", text=STORY))
        told.append(texts_kept_from(index.meta()))

    assert told == [None, 1, 1, None, 4]
    assert texts_kept_from({}) is None


def test_a_copy_keeps_its_text_findable() -> None:
    """An exact copy at two thirds of a window, a near copy at one and a third: found."""
    desk = Desk(Settings(events=ALL, index=IndexSettings(window=Duration(3))))
    desk.tell(Document(id="a", text=STORY), 0)
    desk.tell(Document(id="b", text=STORY), 2000)
    near = desk.tell(Document(id="c", text=EDITED), 4000)

    assert [(match.id, match.kind) for match in near.matches] == [("b", "near")]
    assert near.cluster is not None
    assert (near.cluster.id, near.cluster.size) == ("b", 3)


def test_a_repeated_document_keeps_its_text() -> None:
    """Where texts are kept, a near copy is compared with it after any number of windows."""
    similarity = SimilaritySettings(verify="exact")
    settings = Settings(events=ALL, similarity=similarity, index=IndexSettings(window=Duration(3)))
    desk = Desk(settings)
    for time in range(0, 20_000, 2500):
        desk.tell(Document(id="a", text=STORY), time)
    near = desk.tell(Document(id="b", text=EDITED), 19_000)

    assert [(match.id, match.error) for match in near.matches] == [("a", 0)]


def test_a_cluster_lives_as_long_as_its_representative_is_repeated() -> None:
    """It keeps its size over a window, though nobody joined it meanwhile."""
    desk = Desk(Settings(events=ALL, index=IndexSettings(window=Duration(3))))
    for time in (0, 2000, 3900):
        desk.tell(Document(id="a", text=STORY), time)
        desk.tell(Document(id="b", text=EDITED), time)
        desk.tell(Document(id="other", text="Bread and salt"), time + 1500)
    desk.tell(Document(id="other", text="Bread and salt"), 6600)

    last = desk.tell(Document(id="c", text=EDITED + "More soon."), 6700)
    assert last.cluster == ClusterReference(id="a", size=3)


def test_what_is_forgotten_gives_its_space_back() -> None:
    """After many windows no row is left that was seen more than two of them ago."""
    desk = Desk(Settings(events=ALL, index=IndexSettings(window=Duration(3))))
    for time in range(0, 60_000, 500):
        desk.tell(Document(id=f"a{time}", text=f"{time} {STORY}"), time)

    positions = [position_of_key(key) for key, _ in desk.index.scan(Keyspace.TEXTS)]
    assert min(positions) > 120 - 2 * 7
    assert len(list(desk.index.scan(Keyspace.IDS))) == len(positions)


def test_tenants_do_not_meet() -> None:
    """One id and one text in two namespaces are two documents; each is deleted by itself."""
    desk = Desk(Settings(events=ALL))
    verdicts = [
        desk.tell(Document(id="a", text=STORY, namespace=name)).type for name in ("", "x", "y")
    ]
    desk.tell(Deletion(id="a", namespace="x"))

    assert verdicts == ["unique"] * 3
    assert desk.tell(Document(id="b", text=STORY, namespace="x")).type == "unique"
    assert desk.tell(Document(id="b", text=STORY, namespace="y")).type == "duplicate"


def test_of_ten_copies_any_may_go() -> None:
    """Without the first nine still match, and so on until none is left."""
    desk = Desk(Settings(events=ALL))
    for number in range(10):
        desk.tell(Document(id=str(number), text=STORY))
    for number in range(10):
        near = desk.tell(Document(id="near", text=EDITED))
        assert ([match.id for match in near.matches], near.match_count) == (
            [str(number)],
            10 - number,
        )
        desk.tell(Deletion(id="near"))
        desk.tell(Deletion(id=str(number)))

    assert desk.tell(Document(id="near", text=EDITED)).type == "unique"
    assert desk.tell(Document(id="last", text=STORY)).match_count == 1


def test_a_cluster_lists_the_texts_that_joined_it_last() -> None:
    """A text is listed once however often it is copied; of more than a hundred the first go."""
    desk = Desk(Settings(events=ALL))
    for number in range(120):
        desk.tell(Document(id=f"a{number}", text=f"{STORY * 4} {number}"))
    desk.tell(Document(id="copy", text=f"{STORY * 4} 119"))

    (row,) = [decode_cluster(value) for _, value in desk.index.scan(Keyspace.CLUSTERS)]
    assert (row.size, row.positions) == (121, list(range(20, 120)))


def test_a_cluster_goes_with_the_text_that_it_is_named_after() -> None:
    """No row is left of a cluster whose representative was deleted, though others had joined."""
    desk = Desk(Settings(events=ALL))
    for name, text in (("a", STORY), ("b", EDITED), ("c", STORY)):
        desk.tell(Document(id=name, text=text))
    before = len(list(desk.index.scan(Keyspace.CLUSTERS)))
    desk.tell(Deletion(id="a"))
    desk.tell(Deletion(id="c"))

    assert before == 1
    assert list(desk.index.scan(Keyspace.CLUSTERS)) == []
    assert desk.tell(Document(id="b", text=EDITED)).cluster == ClusterReference(id="b", size=1)


def test_the_tally_counts_what_full_buckets_hid_and_let_go() -> None:
    """It goes on over a restart: as many documents, by hidden buckets, as verdicts told of."""
    settings = Settings(
        events=ALL, index=IndexSettings(window=Duration.parse("none"), bucket_size_max=2)
    )
    crowd = [Document(id=f"c{number}", text=f"{STORY} {number}") for number in range(12)]
    index, verdicts = MemoryIndex(), []
    for half in (crowd[:6], crowd[6:]):
        desk = Desk(settings, index)
        verdicts += [desk.tell(document) for document in half]

    tally = Matcher(index, settings).tally
    assert tally.capped == Counter(verdict.capped for verdict in verdicts if verdict.capped)
    assert sum(tally.capped.values()) > 6
    assert tally.evicted > 0


def test_an_index_of_other_settings_is_refused() -> None:
    """The field, both values and both ways out are named, and the index stays as it is."""
    index = MemoryIndex()
    matcher = Matcher(index, Settings())
    matcher.remember(matcher.match(Signer(Settings()).sign([])))
    before = index.meta()

    with pytest.raises(Refused, match=r"size = 5.*9.*--index DIR.*index rebuild"):
        Matcher(index, Settings(similarity=SimilaritySettings(size=9)))
    assert index.meta() == before
    Matcher(index, Settings(index=IndexSettings(window=Duration(7))))


def test_a_log_is_read_again_under_the_settings_that_decided_before() -> None:
    """They are those that wrote the index last, where it is not known what decided."""
    before = Settings(events=ALL, index=IndexSettings(window=Duration(3)))
    index, now = MemoryIndex(), Settings(events=ALL)
    Desk(before, index).tell(Document(id="a", text=STORY))

    assert Matcher.settings_before(index, now) == before
    assert Matcher.settings_before(index, before, Matcher.decisions(now)) == now
