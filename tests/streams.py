"""Streams for the engine: few ids and few texts, so that everything meets; and how to run them.

The texts of a pool are made from a seed: some texts, and of each copies that differ in case and
spacing, edits, excerpts and extensions. What the oracle asks of them is computed here with the
package's sketches.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain, cycle
from random import Random
from typing import Final, NamedTuple

import numpy as np
from hypothesis import strategies as st

from stream_dedup.config import (
    EventsSettings,
    IndexSettings,
    MatchingSettings,
    Settings,
    SimilaritySettings,
)
from stream_dedup.engine import UNDATED, Matcher, Record, Signer
from stream_dedup.events import Deletion, Document, RecordReference, Verdict
from stream_dedup.quantities import Duration
from stream_dedup.similarity.curve import Measure
from stream_dedup.similarity.sketch import Sketcher
from stream_dedup.similarity.verify import agreement_within_reach, compare, estimate
from tests.oracles.engine import Answer, Event, Found, Rules
from tests.oracles.text import cosine, counts, jaccard, normalise, shingles

START: Final = 1_700_000_000_000
SECOND: Final = 1000
NAMES: Final = ("", "", "", "n")  # most in one namespace, where they meet
SOURCES: Final = ("", "afp", "dpa")
IDS: Final = tuple("abcdefghij")
_TOLERANCE: Final = 2e-6  # a verdict may print six decimals


ODD_TEXTS: Final = ("a", "ab c", "", " .,! ")
FAMILY_WORDS: Final = (4, 12, 30, 120)
FAMILY_SIZE: Final = 10


def pool(seed: int) -> list[str]:
    """Make texts of which many resemble each other."""
    random = Random(seed)
    words = ["".join(random.choices("abcdefghij", k=random.randint(2, 7))) for _ in range(80)]
    families = [_family(random.choices(words, k=length), words, random) for length in FAMILY_WORDS]
    return list(chain(ODD_TEXTS, *families))


def _family(base: list[str], words: list[str], random: Random) -> list[str]:
    """Return a text, two exact copies, edits of growing size, excerpts and an extension."""
    text = " ".join(base)
    edits = []
    for share in (0.02, 0.06, 0.12, 0.3):
        edited = list(base)
        for place in random.sample(range(len(base)), max(1, round(share * len(base)))):
            edited[place] = random.choice(words)
        edits.append(" ".join(edited))
    cut = len(base) - len(base) // 7 - 1
    return [
        text,
        text.upper(),
        "  " + text.replace(" ", ",\n") + "!",
        *edits,
        " ".join(base[:cut]),
        " ".join(base[: cut // 2 + 1]),
        " ".join(base + random.choices(words, k=len(base) // 5 + 1)),
    ]


class Table:
    """What the oracle may know of the texts of a pool."""

    def __init__(self, texts: Sequence[str], settings: SimilaritySettings) -> None:
        sketcher = Sketcher.planned(settings)
        sketches, elements = sketcher.sketch(texts), sketcher.elements(texts)
        count = len(texts)
        left, right = (side.reshape(-1) for side in np.indices((count, count)))
        agreement = (sketches.signatures[left] == sketches.signatures[right]).sum(axis=1)
        similarity, error = estimate(agreement, settings.hashes, settings.measure)
        short = (sketches.short.lengths[left] > 0) & (sketches.short.lengths[right] > 0)
        exact = short | (settings.verify == "exact")
        similarity[exact], error[exact] = compare(
            elements, left[exact], right[exact], settings.measure
        )
        self._agreement = agreement.reshape(count, count)
        self._settings, self._by_texts = settings, (exact & ~short).reshape(count, count)
        self._similarity = similarity.clip(0, 1).reshape(count, count).tolist()
        self._error = error.reshape(count, count).tolist()
        counted = exact & (settings.measure == "jaccard")
        self._sizes = np.where(
            counted,
            [elements.lengths[left], elements.lengths[right]],
            [sketches.sizes[left], sketches.sizes[right]],
        ).reshape(2, count, count)
        self._signatures = sketches.signatures
        self._keys = [list(enumerate(keys)) for keys in sketches.keys.tolist()]
        self._normalised = [normalise(text) for text in texts]

    def signature(self, text: int) -> tuple[int, ...]:
        """Return what the agreement of two texts is counted from."""
        return tuple(self._signatures[text].tolist())

    def normalised(self, text: int) -> str:
        """Return what is left of the text."""
        return self._normalised[text]

    def is_empty(self, text: int) -> bool:
        """Tell whether nothing is left of the text."""
        return not self._normalised[text]

    def sizes(self, a: int, b: int) -> tuple[int, int]:
        """Return the sizes, counted where the elements of both are, else as sketched."""
        size, other = self._sizes[:, a, b].tolist()
        return size, other

    def same(self, a: int, b: int) -> bool:
        """Tell whether the normalised texts are the same."""
        return self._normalised[a] == self._normalised[b]

    def similarity(self, a: int, b: int) -> tuple[float, float]:
        """Return similarity and error."""
        return self._similarity[a][b], self._error[a][b]

    def within_reach(self, a: int, b: int, threshold: float) -> bool:
        """Tell whether the texts are to be compared, if it takes the texts to compare them."""
        least = agreement_within_reach(threshold, self._settings.hashes, self._settings.measure)
        return bool(self._agreement[a, b] >= least or not self._by_texts[a, b])

    def buckets(self, text: int) -> Sequence[Hashable]:
        """Return the band keys with their numbers."""
        return self._keys[text]


def true_similarity(a: str, b: str, settings: SimilaritySettings) -> float:
    """Return what the settings measure, of two texts, by the plain definition."""
    unit, size = settings.unit, settings.size
    if settings.measure == "cosine":
        return cosine(counts(a, unit, size), counts(b, unit, size))
    sets = [shingles(text, unit, size, settings.multiset) for text in (a, b)]
    return jaccard(*sets)


@lru_cache(maxsize=256)
def table(seed: int, settings: SimilaritySettings) -> Table:
    """Return the table of a pool."""
    return Table(pool(seed), settings)


def rules(settings: Settings) -> Rules:
    """Return what decides."""
    window = settings.index.window
    return Rules(
        threshold=settings.similarity.threshold,
        window=None if window == float("inf") else round(window * SECOND),
        bucket_size_max=settings.index.bucket_size_max,
        scope=settings.matching.scope,
        matches_max=settings.matching.matches_max,
        measure=settings.similarity.measure,
    )


class Bands(NamedTuple):
    """Signature values, and how they are banded."""

    hashes: int
    bands: int
    rows: int


def similarity_settings() -> st.SearchStrategy[SimilaritySettings]:
    """Draw small signatures of few bands, by all measures."""
    jaccard = st.sampled_from([Bands(32, 8, 2), Bands(32, 4, 4), Bands(48, 12, 3), Bands(64, 3, 1)])
    cosine = st.sampled_from([Bands(64, 4, 8), Bands(64, 8, 4), Bands(96, 12, 6)])
    return st.one_of(_measured("jaccard", jaccard), _measured("cosine", cosine))


def _measured(
    measure: Measure, bands: st.SearchStrategy[Bands]
) -> st.SearchStrategy[SimilaritySettings]:
    return st.builds(
        lambda chosen, **others: SimilaritySettings(
            measure=measure, hashes=chosen.hashes, bands=chosen.bands, rows=chosen.rows, **others
        ),
        bands,
        unit=st.sampled_from(["char", "char", "word"]),
        size=st.sampled_from([1, 3, 5]),
        multiset=st.booleans(),
        threshold=st.sampled_from([0.5, 0.6, 0.75, 0.9]),
        verify=st.sampled_from(["signature", "signature", "exact"]),
        seed=st.integers(0, 3),
    )


WINDOWS: Final = (1.0, 3.0, 10.0, float("inf"))


def engine_settings(
    windows: Sequence[float] = WINDOWS,
    similarity: st.SearchStrategy[SimilaritySettings] | None = None,
) -> st.SearchStrategy[Settings]:
    """Draw settings under which buckets overflow and windows pass."""
    return st.builds(
        Settings,
        similarity=similarity or similarity_settings(),
        events=st.just(EventsSettings(emit="all")),
        index=st.builds(
            IndexSettings,
            window=st.sampled_from([Duration(window) for window in windows]),
            bucket_size_max=st.sampled_from([1, 2, 3, 4, 100]),
        ),
        matching=st.builds(
            MatchingSettings,
            scope=st.sampled_from(["any", "any", "same_source", "other_source"]),
            matches_max=st.sampled_from([1, 2, 10]),
        ),
    )


class Draft(NamedTuple):
    """An event before it has a time: `step` is in windows from the log time, None if undated."""

    id: str
    namespace: str
    source: str
    text: int | None
    step: float | None


# Most events come at once: each that comes a window later ends all that was there.
STEPS: Final = (*[0.0] * 14, *[0.01] * 4, 0.1, 0.2, 0.3, 0.5, -0.3, 0.999, 1.0, 1.001, -2.0, None)


def text_choices() -> st.SearchStrategy[list[int]]:
    """Draw the texts of a stream: one or two families, and a few that stand alone."""
    families = st.sets(st.integers(0, len(FAMILY_WORDS) - 1), min_size=1, max_size=2)
    return families.map(_texts_of)


def _texts_of(families: Iterable[int]) -> list[int]:
    starts = [len(ODD_TEXTS) + FAMILY_SIZE * family for family in sorted(families)]
    return [text for start in starts for text in range(start, start + FAMILY_SIZE)] + [0, 1, 2]


def drafts(texts: Sequence[int], names: Sequence[str]) -> st.SearchStrategy[Draft]:
    """Draw an event among few ids and some texts."""
    return st.builds(
        Draft,
        st.sampled_from(IDS),
        st.sampled_from(names),
        st.sampled_from(SOURCES),
        st.sampled_from([*texts, *texts, *[None] * 5]),
        st.sampled_from(STEPS),
    )


def streams(names: Sequence[str] = NAMES, size: int = 40) -> st.SearchStrategy[list[Draft]]:
    """Draw a stream: long enough to go wrong, as often as short enough to read."""
    lists = st.tuples(text_choices(), st.sampled_from([1, size // 4, size])).flatmap(
        lambda drawn: st.lists(drafts(drawn[0], names), min_size=drawn[1], max_size=size)
    )
    return st.builds(_undated, lists, UNDATED_FIRST)


# How many events come before the first that has a time.
UNDATED_FIRST: Final = st.sampled_from([0, 0, 3])


def _undated(stream: list[Draft], count: int) -> list[Draft]:
    return [draft._replace(step=None) for draft in stream[:count]] + stream[count:]


def long_stream(seed: int, length: int, names: Sequence[str] = NAMES) -> list[Draft]:
    """Make a stream too long to be drawn piece by piece, in which texts come in fashions."""
    random = Random(seed)
    texts, stream = _texts_of([0]), list[Draft]()
    for _ in range(length):
        if random.random() < 0.03:
            texts = _texts_of(random.sample(range(len(FAMILY_WORDS)), 2))
        text = random.choice(texts) if random.random() > 0.1 else None
        step = random.choice(STEPS) if random.random() < 0.3 else 0.01
        stream.append(
            Draft(random.choice(IDS), random.choice(names), random.choice(SOURCES), text, step)
        )
    return stream


def crowd_stream(seed: int, length: int) -> list[Draft]:
    """Make a stream of two texts alike, each of which more documents share than a group keeps.

    Most come again and again. Times are whole stretches in which members are counted.
    """
    random, (first, *_, edited) = Random(seed), range(len(ODD_TEXTS), len(ODD_TEXTS) + 5)
    stream = []
    for _ in range(length):
        number, step = random.randrange(90), random.choice([0, 0, 1, 1, 2]) / 64
        is_edited = (number % 3 == 0) ^ (random.random() < 0.03)
        text = None if random.random() < 0.03 else edited if is_edited else first
        stream.append(Draft(f"d{number}", "", random.choice(SOURCES), text, step))
    return stream


class Clock:
    """Turns steps into times, among them those exactly a window after the log time."""

    def __init__(self, window: float, undated: int = 0) -> None:
        self._undated = undated  # records to come without a time, whatever their step
        self._unit = SECOND if window == float("inf") else round(window * SECOND)
        self._log_time = START

    def time(self, step: float | None) -> int | None:
        """Return a record's time."""
        self._undated -= 1
        if step is None or self._undated >= 0:
            return None
        time = self._log_time + round(step * self._unit)
        self._log_time = max(self._log_time, time)
        return time


def timed(stream: Sequence[Draft], window: float) -> list[Event]:
    """Give each event its time."""
    clock = Clock(window)
    return [
        Event(draft.id, draft.namespace, draft.source, clock.time(draft.step), draft.text)
        for draft in stream
    ]


def record(event: Event, texts: Sequence[str], number: int) -> Record:
    """Return the event as the record of this number; positions have gaps."""
    reference = RecordReference(topic="documents", partition=0, offset=number)
    time = UNDATED if event.time is None else event.time
    if event.text is None:
        deletion = Deletion(id=event.id, namespace=event.namespace)
        return Record(deletion, 2 * number + 1, time, reference)
    document = Document(
        id=event.id, text=texts[event.text], source=event.source, namespace=event.namespace
    )
    return Record(document, 2 * number + 1, time, reference)


def records(events: Sequence[Event], seed: int) -> list[Record]:
    """Return the events as records, with the texts of a pool."""
    texts = pool(seed)
    return [record(event, texts, number) for number, event in enumerate(events)]


def cut(stream: Sequence[Record], sizes: Sequence[int]) -> Iterator[Sequence[Record]]:
    """Cut a stream into batches of these sizes, over and over."""
    start = 0
    for size in cycle(sizes):
        if start >= len(stream):
            return
        yield stream[start : start + size]
        start += size


def run(
    matcher: Matcher, signer: Signer, stream: Sequence[Record], sizes: Sequence[int]
) -> list[Verdict]:
    """Match and remember batch by batch."""
    verdicts = []
    for batch in cut(stream, sizes):
        matched = matcher.match(signer.sign(batch))
        verdicts += matched.verdicts
        matcher.remember(matched)
    return verdicts


def encoded(verdicts: Sequence[Verdict]) -> list[bytes]:
    """Return the verdicts as they are published."""
    return [verdict.encode() for verdict in verdicts]


def answer_of(verdict: Verdict) -> Answer:
    """Return what a verdict says in the words of the oracle."""
    cluster, previous = verdict.cluster, verdict.previous
    return Answer(
        type=verdict.type,
        matches=tuple(
            Found(
                match.id,
                match.source,
                _milliseconds(match.seen_at),
                match.kind,
                match.bands,
                match.similarity,
                match.error,
                match.containment,
            )
            for match in verdict.matches
        ),
        match_count=verdict.match_count,
        cluster=(cluster.id, cluster.size) if cluster else None,
        previous=(previous.similarity, previous.error) if previous else None,
        capped=verdict.capped,
    )


def assert_said(verdict: Verdict, event: Event, answer: Answer) -> None:
    """Check all that a verdict says of an event against the oracle's answer."""
    document = verdict.document
    source = "" if event.text is None else event.source

    assert (document.id, document.namespace, document.source) == (event.id, event.namespace, source)
    assert _milliseconds(document.seen_at) == event.time
    assert _rounded(answer_of(verdict)) == _rounded(answer), (event, answer_of(verdict), answer)


class _Near(float):
    """A number that equals those within the tolerance."""

    __hash__ = float.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(float(self) - float(other)) <= _TOLERANCE


def _rounded(answer: Answer) -> Answer:
    """Return the answer with numbers that forgive rounding."""
    matches = tuple(
        found._replace(
            similarity=_Near(found.similarity),
            error=_Near(found.error),
            containment=_Near(found.containment),
        )
        for found in answer.matches
    )
    previous = answer.previous and (_Near(answer.previous[0]), _Near(answer.previous[1]))
    return answer._replace(matches=matches, previous=previous)


def _milliseconds(moment: str | None) -> int | None:
    if moment is None:
        return None
    return (datetime.fromisoformat(moment) - datetime.fromtimestamp(0, UTC)) // timedelta(
        milliseconds=1
    )
