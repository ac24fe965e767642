"""The made-up feed: what is planted is there by construction, and similarity bears it out."""

from collections import Counter, defaultdict
from collections.abc import Hashable
from datetime import timedelta
from functools import cache
from random import Random
from typing import NamedTuple

import pytest

from stream_dedup.events import (
    Deletion,
    Document,
    Match,
    RecordReference,
    Revision,
    SeenDocument,
    Verdict,
)
from stream_dedup.feed import editing
from stream_dedup.feed.asides import ASIDES
from stream_dedup.feed.forms import FORMS, NOTICES
from stream_dedup.feed.grammar import Pen, patterns
from stream_dedup.feed.newsroom import Role
from stream_dedup.feed.planting import COPIES, NO_COPIES, SAME_ID, Planted, news_feed
from stream_dedup.feed.remarks import ADDITIONS, FOOTERS, HEADLINES, REMARKS
from stream_dedup.feed.score import Score
from stream_dedup.feed.stories import TOPICS, Happening, Story, in_all_languages
from stream_dedup.feed.translations import EVENTS, LANGUAGES
from tests.oracles.text import containment, jaccard, shingles

THRESHOLD = 0.8
SEEDS = (1, 2)
DOCUMENTS = 600

STORY = Story(
    "A ferry comes back",
    "OSTREL, 2 March – ",
    tuple(
        f"Sentence number {number} tells of {number * 7} ferries and a goat."
        for number in range(12)
    ),
)


@cache
def feed(seed: int, documents: int = DOCUMENTS) -> tuple[Planted, ...]:
    return tuple(news_feed(seed, documents))


class Measured(NamedTuple):
    """The highest similarity of a document to those it is a copy of, and to all others."""

    planted: Planted
    to_copies: float
    to_others: float


class Shelf:
    """Texts as sets of shingles, a bit for each, so that all pairs can be compared."""

    def __init__(self) -> None:
        self._places: defaultdict[Hashable, int] = defaultdict(lambda: len(self._places))

    def put(self, text: str) -> int:
        """Return the set of a text's shingles."""
        places = [self._places[shingle] for shingle in shingles(text, "char", 5)]
        bits = bytearray(max(places) // 8 + 1)
        for place in places:
            bits[place // 8] |= 1 << place % 8
        return int.from_bytes(bits, "little")


def overlap(a: int, b: int) -> float:
    return (a & b).bit_count() / (a | b).bit_count()


@cache
def measured(seed: int) -> list[Measured]:
    """Compare every document with all that stand when it comes."""
    shelf = Shelf()
    standing: dict[str, int] = {}
    found = []
    for planted in feed(seed):
        event = planted.event
        if isinstance(event, Deletion):
            del standing[event.id]
            continue
        own = shelf.put(event.text)
        similarities = {identity: overlap(own, other) for identity, other in standing.items()}
        copies = {event.id} if planted.role in SAME_ID else planted.copies
        others = similarities.keys() - planted.copies - {event.id}
        to_copies = max((similarities[identity] for identity in copies), default=0.0)
        to_others = max((similarities[identity] for identity in others), default=0.0)
        found.append(Measured(planted, to_copies, to_others))
        standing[event.id] = own
    return found


def test_the_measure_is_the_similarity() -> None:
    """Counting bits gives what the oracle gives."""
    shelf = Shelf()
    a, b = "one story of a goat", "another story of a goat and a boat"

    expected = jaccard(shingles(a, "char", 5), shingles(b, "char", 5))
    assert overlap(shelf.put(a), shelf.put(b)) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_copies_are_similar_and_some_only_just(seed: int) -> None:
    """Nearly all planted copies reach the threshold; editors who change much come close to it."""
    similarities = [found.to_copies for found in measured(seed) if found.planted.role in COPIES]
    reached = sum(similarity >= THRESHOLD for similarity in similarities) / len(similarities)

    assert len(similarities) > DOCUMENTS / 5
    assert reached >= 0.96
    assert min(similarities) > 0.7
    assert sum(0.75 < similarity < 0.86 for similarity in similarities) >= 5


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_no_copy_is_not_similar_and_some_only_just(seed: int) -> None:
    """Hardly anything made apart reaches the threshold, though forms and notices come close."""
    highest = defaultdict(list)
    for found in measured(seed):
        highest[found.planted.role].append(found.to_others)
    similarities = [similarity for of_role in highest.values() for similarity in of_role]
    ordinary = [*highest[Role.STORY], *highest[Role.FOLLOW_UP], *highest[Role.LATE]]

    assert sum(similarity >= THRESHOLD for similarity in similarities) <= DOCUMENTS / 100
    assert max(ordinary) < 0.6
    assert max(highest[Role.FORM]) > 0.6
    assert max(highest[Role.NOTICE]) > 0.7


def test_not_everything_planted_can_be_found() -> None:
    """The truth is how texts were made, not how similar they turned out."""
    similarities = [
        found.to_copies
        for seed in SEEDS
        for found in measured(seed)
        if found.planted.role in COPIES
    ]

    assert min(similarities) < THRESHOLD


@pytest.mark.parametrize("seed", range(5))
def test_a_translation_has_nothing_in_common_with_its_original(seed: int) -> None:
    """One event told in five languages, with the same names and figures, is five texts."""
    told = in_all_languages(Random(seed))
    texts = {language: shingles(story.text, "char", 5) for language, story in told.items()}

    assert tuple(told) == LANGUAGES
    assert all(len(story.text) > 400 for story in told.values())
    for language, text in texts.items():
        assert all(jaccard(text, texts[other]) < 0.15 for other in texts if other != language)


def test_a_seed_makes_one_feed() -> None:
    """The same seed and length give the same feed, another seed another one."""
    assert list(news_feed(3, 200)) == list(news_feed(3, 200))
    assert list(news_feed(3, 200)) != list(news_feed(4, 200))
    assert [len(list(news_feed(3, length))) for length in (10, 11, 999)] == [10, 11, 999]


@pytest.mark.parametrize("seed", SEEDS)
def test_events_come_in_order_of_time(seed: int) -> None:
    """The feed is one stretch of three days, inside the default window."""
    times = [planted.event.published_at for planted in feed(seed)]
    dated = [time for time in times if time is not None]

    assert len(dated) == DOCUMENTS
    assert dated == sorted(dated)
    assert timedelta(days=2) < dated[-1] - dated[0] < timedelta(days=3)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_planted_truth_is_consistent(seed: int) -> None:
    """Copies name documents that stand; roles without copies have none; ids return as they say."""
    standing: dict[str, str] = {}
    for planted in feed(seed, 3000):
        event, role = planted.event, planted.role
        assert event.id not in planted.copies
        assert planted.copies <= standing.keys()
        if isinstance(event, Deletion):
            assert role is Role.RETRACTION
            del standing[event.id]
            continue
        assert bool(planted.copies) == (role in COPIES) or role in SAME_ID
        assert (event.id in standing) == (role in SAME_ID)
        if role in SAME_ID:
            assert (standing[event.id] == event.text) == (role is Role.REPEAT)
        standing[event.id] = event.text


def test_every_role_is_planted() -> None:
    """The feed of the default length has each way of being made many times."""
    counts = Counter(planted.role for planted in feed(1, 3000))

    assert set(counts) == set(Role) == {*COPIES, *NO_COPIES, Role.RETRACTION}
    assert min(counts.values()) >= 5


@pytest.mark.parametrize("seed", SEEDS)
def test_texts_read_like_news(seed: int) -> None:
    """No text is empty or endless, and nothing of the patterns is left in it."""
    documents = [planted.event for planted in feed(seed, 3000)]
    texts = [document.text for document in documents if isinstance(document, Document)]

    assert all(400 < len(text) < 3000 for text in texts)
    assert not any(
        mark in text for text in texts for mark in ("{", "}", "[", "]", "|", "a/an", "  ")
    )
    assert all(document.source for document in documents if isinstance(document, Document))


def test_every_pattern_can_be_written() -> None:
    """Each slot of each pattern names a list of words, and each choice is closed."""
    blocks = [part for topic in TOPICS for part in topic]
    blocks += [form for _, form in FORMS]
    blocks += [NOTICES, REMARKS, HEADLINES, FOOTERS, ADDITIONS]
    blocks += [event[language] for event in (*EVENTS, ASIDES) for language in LANGUAGES]
    pen = Pen(Random(0))
    for block in blocks:
        assert block
        for pattern in block:
            for _ in range(20):
                written = Pen(Random(0), pen.cast).write(pattern)
                assert not set("{}[]|~") & set(written), pattern


@pytest.mark.parametrize("event", [*EVENTS, ASIDES])
def test_languages_tell_the_same(event: dict[str, tuple[str, ...]]) -> None:
    """Every language has the sentences of the others, in their order."""
    assert tuple(event) == LANGUAGES
    assert len({len(sentences) for sentences in event.values()}) == 1


def test_the_language_of_patterns() -> None:
    """Choices nest, names stick, fresh words do not, articles agree, and casts are not mixed up."""
    pen = Pen(Random(5), {"animal": "otter", "trade": "baker"})

    assert pen.write("[a|a] [b[c|c]|bc]") == "A bc"
    assert pen.write("a/an {animal}, A/an {trade}") == "An otter, A baker"
    assert pen.write("{person}") == pen.write("{person}")
    assert pen.write("{person!}") == pen.write("{person}").split()[-1]
    assert pen.write("{dead:3-80000}") == pen.write("{dead:3-80000}")
    assert len({pen.write("{3-8}") for _ in range(100)}) == 6
    assert len({pen.write("{~crop}") for _ in range(100)}) > 1
    assert len({pen.write(f"{{town{number}}}") for number in range(40)}) == 40
    assert pen.write("{9999-9999} {12000-12000}") == "9999 12,000"
    assert patterns("\n- one\n  more\n- two - three\n") == ("one more", "two - three")


def test_a_follow_up_tells_more_of_the_same() -> None:
    """It repeats how the story began, and nothing else of it."""
    happening = Happening(Random(1), TOPICS[0])
    first = happening.story(", 2 March – ")
    later = happening.follow_up(first, ", 3 March – ")

    assert set(first.sentences) & set(later.sentences) == {first.sentences[0]}
    assert first.dateline.split(",")[0] == later.dateline.split(",")[0]


@pytest.mark.parametrize("seed", range(20))
def test_editions_are_what_they_are_called(seed: int) -> None:
    """Each way of editing does what it says, and leaves the rest as it was."""
    random = Random(seed)
    text = shingles(STORY.text, "char", 5)
    cut, extended = editing.cut(STORY, random), editing.extended(STORY, random)
    corrected = editing.corrected(STORY, random)

    assert STORY.text.startswith(cut.text)
    assert len(cut.text) > 0.7 * len(STORY.text)
    assert extended.text.startswith(STORY.text[:-60])
    assert extended.sentences[: len(STORY.sentences)] == STORY.sentences < extended.sentences
    assert editing.with_footer(STORY, random).text.startswith(f"{STORY.text}\n")
    assert corrected.headline.startswith("Correction: ")
    assert corrected.sentences != STORY.sentences
    assert containment(text, shingles(corrected.text, "char", 5)) > 0.8
    assert editing.wire_copy(STORY, random).sentences == STORY.sentences
    assert editing.edited(STORY, random).sentences[0] == STORY.sentences[0]


def verdict(kind: str, *matched: str, previous: float | None = None) -> Verdict:
    match_fields = {"kind": "near", "similarity": 0.9, "error": 0.0, "containment": 1.0}
    return Verdict(
        event_id="e",
        type=kind,  # type: ignore[arg-type]
        document=SeenDocument(id="new", source="", namespace="", seen_at=None),
        record=RecordReference(topic="t", partition=0, offset=0),
        matches=tuple(
            Match(id=identity, seen_at=None, source="", bands=1, **match_fields)  # type: ignore[arg-type]
            for identity in matched
        ),
        match_count=len(matched),
        cluster=None,
        previous=None if previous is None else Revision(similarity=previous, error=0.0),
        capped=0,
        settings="",
    )


def document(identity: str, text: str) -> Document:
    return Document(id=identity, text=text)


STANDING = {name: document(name, f"text {name}") for name in ("a", "b", "c", "new")}


@pytest.mark.parametrize(
    ("role", "copies", "told", "found", "reported", "missed", "wrong"),
    [
        (Role.WIRE, "ab", verdict("duplicate", "a"), 1, 1, None, None),
        (Role.WIRE, "ab", verdict("duplicate", "c", "b"), 1, 1, None, ("text c",)),
        (Role.WIRE, "ab", verdict("duplicate", "c"), 0, 1, ("text a", "text b"), ("text c",)),
        (Role.WIRE, "ab", verdict("unique"), 0, 0, ("text a", "text b"), None),
        (Role.STORY, "", verdict("unique"), 0, 0, None, None),
        (Role.STORY, "", verdict("duplicate", "c"), 0, 1, None, ("text c",)),
        (Role.REPEAT, "a", verdict("repeat"), 1, 1, None, None),
        (Role.REPEAT, "a", verdict("duplicate", "a"), 0, 1, ("text new",), None),
        (Role.REVISION, "", verdict("unique", previous=0.8), 1, 1, None, None),
        (Role.REVISION, "", verdict("unique", previous=0.79), 0, 0, ("text new",), None),
        (Role.REVISION, "a", verdict("duplicate", "a", previous=0.1), 0, 1, ("text new",), None),
    ],
)
def test_a_verdict_is_held_against_the_truth(
    role: Role,
    copies: str,
    told: Verdict,
    found: int,
    reported: int,
    missed: tuple[str, ...] | None,
    wrong: tuple[str, ...] | None,
) -> None:
    """A copy is found by any of its kin, and its report is right if it names nobody else."""
    score = Score(THRESHOLD)
    score.add(Planted(document("new", "text"), role, frozenset(copies)), told, STANDING)

    assert (score.planted[role], score.found[role], score.reported[role]) == (1, found, reported)
    assert [mistake.others for mistake in score.missed] == ([missed] if missed else [])
    assert [mistake.others for mistake in score.wrong] == ([wrong] if wrong else [])
    assert all(mistake.text == "text" for mistake in (*score.missed, *score.wrong))


def test_recall_and_precision_are_shares_of_documents() -> None:
    """Recall counts planted copies, precision reported documents; retractions are neither."""
    score = Score(THRESHOLD)
    assert (score.recall, score.precision) == (None, None)

    new = document("new", "text")
    for role, copies, told in (
        (Role.WIRE, "ab", verdict("duplicate", "a", "b")),
        (Role.EDITED, "a", verdict("duplicate", "a")),
        (Role.CUT, "a", verdict("unique")),
        (Role.REPEAT, "", verdict("repeat")),
        (Role.FORM, "", verdict("duplicate", "a", "b", "c")),
        (Role.STORY, "", verdict("unique")),
    ):
        score.add(Planted(new, role, frozenset(copies)), told, STANDING)
    score.add(Planted(Deletion(id="a"), Role.RETRACTION, frozenset()), verdict("deleted"), STANDING)

    assert (score.copies, score.recall, score.precision) == (4, 3 / 4, 3 / 4)
    assert (Role.EDITED, 1, 1) in score.rows(copies=True)
    assert (Role.CUT, 1, 0) in score.rows(copies=True)
    assert (Role.FORM, 1, 1) in score.rows(copies=False)
    assert score.planted[Role.RETRACTION] == 0
