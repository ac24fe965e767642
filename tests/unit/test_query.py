"""Questions beside the stream: what they are told is what the stream would be told."""

from collections.abc import Sequence
from typing import Literal

import pytest
from msgspec.structs import asdict, replace

from stream_dedup.config import EventsSettings, MatchingSettings, Settings
from stream_dedup.deduplicator import Deduplicator
from stream_dedup.engine import Matcher, Record, Signer
from stream_dedup.events import Document, Match, RecordReference
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.query import QueryAnswer, Reader
from stream_dedup.similarity.plan import Plan
from tests.unit.upkeep.indexes import FOREVER, TEXTS, remember

NOWHERE = RecordReference(topic="documents", partition=0, offset=10**6)


def bare(answer: QueryAnswer) -> list[Match]:
    """Return the matches as a verdict has them."""
    return [
        Match(**{name: value for name, value in asdict(match).items() if name != "found"})
        for match in answer.matches
    ]


def asked(reader: Reader, document: Document, threshold: float | None = None) -> QueryAnswer:
    """Ask for what a document would match."""
    return reader.query(document.text, document.namespace, document.source, threshold)


@pytest.mark.parametrize("emit", ["none", "matches", "all"])
@pytest.mark.parametrize("scope", ["any", "same_source", "other_source"])
def test_a_query_tells_what_a_verdict_would(
    emit: Literal["none", "matches", "all"], scope: Literal["any", "same_source", "other_source"]
) -> None:
    """Matches equal those of a new document, whatever is published and whoever is in scope."""
    index = remember(TEXTS[::2], FOREVER)
    matching = MatchingSettings(scope=scope)
    settings = replace(FOREVER, events=EventsSettings(emit=emit), matching=matching)
    matcher = Matcher(index, settings)
    reader = Reader(index, settings, lambda: matcher)
    loud = replace(settings, events=EventsSettings(emit="all"))
    deciding, signer = Matcher(index, loud), Signer(loud)
    before = dict(index.meta())
    found = 0
    for document in TEXTS:
        new = replace(document, id="a new one")
        signed = signer.sign([Record(new, deciding.next_offset, UNDATED, NOWHERE)])
        verdict = deciding.match(signed).verdicts[0]
        answer = asked(reader, new)
        assert (bare(answer), answer.match_count) == (list(verdict.matches), verdict.match_count)
        found += len(answer.matches)

    assert found > 20
    assert index.meta() == before


@pytest.mark.parametrize("threshold", [0.3, 0.9])
def test_a_threshold_of_its_own_holds_for_a_query(threshold: float) -> None:
    """Lower and higher ones find what settings with that threshold would, over the same bands."""
    index = remember(TEXTS[::2], FOREVER)
    matcher, other = Matcher(index, FOREVER), deciding_by(threshold)
    reader, expected = (
        Reader(index, FOREVER, lambda: matcher),
        Reader(index, other, lambda: Matcher(index, other)),
    )
    answers = [asked(reader, document, threshold) for document in TEXTS]
    similarities = [match.similarity for answer in answers for match in answer.matches]

    assert answers == [asked(expected, document) for document in TEXTS]
    assert min(similarities) >= threshold
    assert sum(len(asked(reader, document).matches) for document in TEXTS) != len(similarities)


def deciding_by(threshold: float) -> Settings:
    """Return settings of another threshold that sign alike."""
    sketcher = Signer(FOREVER).sketcher
    similarity = replace(
        FOREVER.similarity, threshold=threshold, bands=sketcher.bands, rows=sketcher.rows
    )
    return replace(FOREVER, similarity=similarity)


def test_how_sure_an_answer_is_follows_the_curve() -> None:
    """Each match, and the threshold, come with the chance that such a pair shares a band."""
    index = remember(TEXTS[::2], FOREVER)
    matcher = Matcher(index, FOREVER)
    reader = Reader(index, FOREVER, lambda: matcher)
    sketcher = Signer(FOREVER).sketcher
    plan = Plan("jaccard", 0.6, sketcher.hashes, sketcher.bands, sketcher.rows)
    answers = [asked(reader, document, 0.4) for document in TEXTS]

    assert {answer.recall for answer in answers} == {plan.probability(0.4)}
    kinds = set()
    for match in (match for answer in answers for match in answer.matches):
        kinds.add(match.kind)
        chance = 1.0 if match.kind == "exact" else plan.probability(match.similarity)
        assert match.found == pytest.approx(chance)
    assert {"exact", "near"} <= kinds


def test_a_limit_shortens_the_matches_only() -> None:
    """The number of documents that match stays the true one."""
    with Deduplicator(settings=FOREVER) as dedup:
        base = " ".join(map(str, range(100)))
        dedup.add_many({"id": str(n), "text": f"{base} {n}"} for n in range(20))
        reader = Reader(dedup._index, FOREVER, lambda: dedup._matcher)
        lengths = [len(reader.query(base, limit=limit).matches) for limit in (1, None, 15, 100)]
        counts = {reader.query(base, limit=limit).match_count for limit in (1, None, 15, 100)}

    assert lengths == [1, 10, 15, 20]
    assert counts == {20}


def test_a_text_without_words_matches_nothing() -> None:
    """It is answered like any other."""
    index = remember(TEXTS, FOREVER)
    matcher = Matcher(index, FOREVER)

    assert Reader(index, FOREVER, lambda: matcher).query(" ... ").matches == ()


def test_an_index_without_documents_can_be_asked() -> None:
    """Before the first document nothing matches and nothing is known."""
    with Deduplicator(settings=FOREVER) as dedup:
        reader = Reader(dedup._index, FOREVER, lambda: dedup._matcher)
        assert reader.query("a text").matches == ()
        assert reader.document("a") is None
        assert reader.cluster("a") is None


def test_documents_and_their_clusters_are_known() -> None:
    """What is remembered is told by id and namespace; what the window let go is not."""
    with Deduplicator(settings=FOREVER) as dedup:
        dedup.add_many(documents("ab"))
        dedup.remove("b")
        reader = Reader(dedup._index, FOREVER, lambda: dedup._matcher)
        found, cluster = reader.document("a"), reader.cluster("a")

        assert found is not None
        assert found.text == "a text of a few words"
        assert cluster is not None
        assert (cluster.id, cluster.size, cluster.last) == ("a", 1, ["a"])
        assert (reader.document("b"), reader.document("a", "other")) == (None, None)


def documents(names: Sequence[str]) -> list[Document]:
    """Return documents of one text."""
    return [Document(id=name, text="a text of a few words") for name in names]
