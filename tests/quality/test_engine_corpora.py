"""A stream of each corpus against the truth: which documents have a copy before them.

Every document of a corpus comes once, in file order. Whether an earlier one is similar enough is
known from the exact join, which shares no code with the engine. Theory says how many may be missed.
"""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from stream_dedup.config import (
    EventsSettings,
    IndexSettings,
    MatchingSettings,
    Settings,
    SimilaritySettings,
)
from stream_dedup.engine import UNDATED, Matcher, Record, Signer
from stream_dedup.events import Document, RecordReference, Verdict
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.quantities import Duration
from tests.quality import corpora
from tests.quality.brute_force import Pairs
from tests.quality.test_pairs import (
    DECIMALS,
    SHORT,
    THRESHOLD,
    WHOLE,
    Part,
    check_misses,
    plan,
    truth,
)

# Where buckets of a few entries overflow.
CROWDED = [part for part in SHORT if part.corpus in ("civil_procedure_codes", "debian_desc_multi")]
BATCH = 500
UNBOUNDED = 1_000_000


class Told(NamedTuple):
    """What was said of each document, in order."""

    verdicts: list[Verdict]

    @property
    def duplicate(self) -> NDArray[np.bool_]:
        """Which documents match an earlier one."""
        return np.array([verdict.type == "duplicate" for verdict in self.verdicts], np.bool_)

    @property
    def capped(self) -> NDArray[np.bool_]:
        """Of which documents some bucket hid a part."""
        return np.array([verdict.capped > 0 for verdict in self.verdicts], np.bool_)


def settings(bucket_size_max: int) -> Settings:
    """Return the defaults, verified exactly and without a window; every match is told."""
    return Settings(
        similarity=SimilaritySettings(threshold=THRESHOLD, verify="exact"),
        events=EventsSettings(emit="all"),
        index=IndexSettings(window=Duration(float("inf")), bucket_size_max=bucket_size_max),
        matching=MatchingSettings(matches_max=UNBOUNDED),
    )


def stream(texts: list[str], chosen: Settings) -> Told:
    """Send the texts through the engine; an id is the text's position."""
    signer, matcher = Signer(chosen), Matcher(MemoryIndex(), chosen)
    verdicts: list[Verdict] = []
    for start in range(0, len(texts), BATCH):
        batch = [
            record(position, text) for position, text in enumerate(texts[start:][:BATCH], start)
        ]
        matched = matcher.match(signer.sign(batch))
        verdicts += matched.verdicts
        matcher.remember(matched)
    return Told(verdicts)


def record(position: int, text: str) -> Record:
    """Return a document without a time."""
    reference = RecordReference(topic="corpus", partition=0, offset=position)
    return Record(Document(id=str(position), text=text), position, UNDATED, reference)


def best_earlier(true: Pairs, number: int) -> NDArray[np.float64]:
    """Return the similarity of each document's best earlier partner, 0 where it has none."""
    best = np.zeros(number)
    np.maximum.at(best, true.b, true.jaccard)
    return best


def check_types(part: Part, told: Told, excused: NDArray[np.bool_]) -> None:
    """Check that the duplicates are those with a partner, but for what bands may miss.

    A document with several partners is missed less often than one that has only the best of them.
    """
    best = best_earlier(truth(part, "char", 5), len(told.verdicts))
    wrongly = np.flatnonzero(told.duplicate & (best == 0))

    assert wrongly.tolist() == []

    with_partner = (best > 0) & ~excused
    missed = ~told.duplicate[with_partner]
    check_misses(best[with_partner], missed, plan(THRESHOLD).misses(best[with_partner]))


def check_matches(part: Part, told: Told) -> None:
    """Check that each match is a true pair with its true similarity, best first and not twice."""
    true = truth(part, "char", 5)
    pairs = zip(true.a.tolist(), true.b.tolist(), strict=True)
    similarities = dict(zip(pairs, true.jaccard.tolist(), strict=True))
    for later, verdict in enumerate(told.verdicts):
        found = [int(match.id) for match in verdict.matches]
        values = [match.similarity for match in verdict.matches]
        expected = [similarities.get((earlier, later)) for earlier in found]

        assert len(set(found)) == len(found)
        assert values == sorted(values, reverse=True)
        assert expected == pytest.approx(values, abs=10**-DECIMALS), (later, found)
        assert len(found) <= verdict.match_count
        assert not any(match.error for match in verdict.matches)


@pytest.mark.parametrize("part", SHORT, ids=str)
def test_duplicates_are_the_documents_with_an_earlier_partner(part: Part) -> None:
    """A document is a duplicate if some earlier one is similar enough; only bands miss any."""
    told = stream(corpora.texts(*part), settings(UNBOUNDED))

    check_types(part, told, np.zeros(len(told.verdicts), np.bool_))
    check_matches(part, told)


@pytest.mark.soak
@pytest.mark.parametrize("part", WHOLE, ids=str)
def test_duplicates_of_whole_corpora_are_the_documents_with_an_earlier_partner(part: Part) -> None:
    """The same holds for each corpus from its first document to its last."""
    told = stream(corpora.texts(*part), settings(UNBOUNDED))

    check_types(part, told, np.zeros(len(told.verdicts), np.bool_))
    check_matches(part, told)


@pytest.mark.parametrize("part", CROWDED, ids=str)
def test_what_full_buckets_hide_is_told(part: Part) -> None:
    """With small buckets too a duplicate is missed by chance only, or its verdict says `capped`."""
    told = stream(corpora.texts(*part), settings(3))

    check_types(part, told, told.capped)
    check_matches(part, told)
