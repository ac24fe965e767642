"""Recall and precision against exact Jaccard: per corpus, per language and by length.

The truth is the exact join of `tests.quality.brute_force`, which shares no code with the product.
Identical texts are one here: copies are found by a fingerprint, and crowds of them would outweigh
all else.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from benchmarks.corpora.measure import measure
from benchmarks.corpora.records import Check, Lengths, Scored
from benchmarks.corpora.search import Found, compared, report, sharing_a_band
from benchmarks.corpora.texts import LANGUAGES, Document
from benchmarks.corpora.theory import Bands, chance
from stream_dedup.config import SimilaritySettings
from stream_dedup.similarity.plan import plan_bands
from stream_dedup.similarity.verify import agreement_within_reach
from tests.quality.brute_force import Groups, group_copies, join_groups

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

DEFAULT = SimilaritySettings()
LENGTHS = (0, 20, 50, 100, 300)  # characters; where a class of lengths begins


class Pairs(NamedTuple):
    """Pairs of different texts, a < b, each once."""

    a: Ints
    b: Ints

    def where(self, kept: Mask) -> "Pairs":
        """Return some of them."""
        return Pairs(self.a[kept], self.b[kept])


class Outcome(NamedTuple):
    """What is true of a collection, and what is reported."""

    groups: Groups
    languages: NDArray[np.str_]  # of each text
    true: Pairs
    similarity: NDArray[np.float64]  # of the true ones
    compared: Pairs
    reported: dict[str, Pairs]  # by verification
    chances: dict[str, NDArray[np.float64]]  # of the true ones, by verification

    def lengths(self, pairs: Pairs) -> Ints:
        """Return the length of the shorter text of each pair."""
        lengths = np.array([len(text) for text in self.groups.texts], np.int64)
        return np.minimum(lengths[pairs.a], lengths[pairs.b])


def find(documents: Sequence[Document]) -> Outcome:
    """Join the documents exactly, and have us find the pairs."""
    texts = [document.text for document in documents]
    groups = group_copies(texts)
    true = join_groups(groups, DEFAULT.threshold, DEFAULT.unit, DEFAULT.size)
    firsts = groups.members[groups.bounds[:-1]]
    exact = replace(DEFAULT, verify="exact")
    ways = {
        "none": sharing_a_band(texts, DEFAULT),
        "signature": report(texts, DEFAULT),
        "exact": report(texts, exact),
    }
    return Outcome(
        groups,
        np.array([documents[first].lang for first in firsts.tolist()]),
        Pairs(true.a, true.b),
        true.jaccard,
        _different(compared(texts, DEFAULT), groups),
        {verify: _different(found, groups) for verify, found in ways.items()},
        _chances(groups, Pairs(true.a, true.b), true.jaccard),
    )


def scores(name: str, documents: Sequence[Document], outcome: Outcome) -> list[Scored]:
    """Count for the collection, and where it has several languages for each of them too."""
    counted = [_scored(name, documents, outcome, lambda pairs: pairs.a >= 0)]
    languages = [language for language in LANGUAGES if (outcome.languages == language).any()]
    for language in languages if len(languages) > 1 else []:
        own = [document for document in documents if document.lang == language]
        within = _within(outcome.languages == language)
        counted.append(_scored(f"{name}, {LANGUAGES[language]}", own, outcome, within))
    return counted


def by_length(outcome: Outcome) -> list[Lengths]:
    """Count what the defaults report, for each class of lengths."""
    counted = []
    true_lengths = outcome.lengths(outcome.true)
    reported = outcome.reported["signature"]
    right, reported_lengths = _right(reported, outcome), outcome.lengths(reported)
    for least, end in zip(LENGTHS, (*LENGTHS[1:], 1 << 62), strict=True):
        true_here = (true_lengths >= least) & (true_lengths < end)
        here = (reported_lengths >= least) & (reported_lengths < end)
        counted.append(
            Lengths(
                least=least,
                pairs=int(true_here.sum()),
                expected=float(outcome.chances["signature"][true_here].sum()),
                reported=int(here.sum()),
                right=int((right & here).sum()),
            )
        )
    return counted


def added(one: Lengths, other: Lengths) -> Lengths:
    """Return the counts of both collections together."""
    return Lengths(
        one.least,
        one.pairs + other.pairs,
        one.expected + other.expected,
        one.reported + other.reported,
        one.right + other.right,
    )


def _scored(
    name: str,
    documents: Sequence[Document],
    outcome: Outcome,
    belongs: Callable[[Pairs], Mask],
) -> Scored:
    true_here = belongs(outcome.true)
    checks = []
    for verify, pairs in outcome.reported.items():
        here = belongs(pairs)
        checks.append(
            Check(
                verify=verify,
                reported=int(here.sum()),
                right=int((_right(pairs, outcome) & here).sum()),
                expected=float(outcome.chances[verify][true_here].sum()),
            )
        )
    default = outcome.reported["signature"]
    wrong = default.where(belongs(default) & ~_right(default, outcome))
    return Scored(
        name=name,
        documents=len(documents),
        texts=len(group_copies(document.text for document in documents).texts),
        pairs=int(true_here.sum()),
        compared=int(belongs(outcome.compared).sum()),
        checks=checks,
        wrong_similarity=_median_similarity(outcome.groups.texts, wrong),
    )


def _within(members: Mask) -> Callable[[Pairs], Mask]:
    return lambda pairs: members[pairs.a] & members[pairs.b]


def _right(pairs: Pairs, outcome: Outcome) -> Mask:
    """Tell which pairs are true ones."""
    return np.isin(_keys(pairs, outcome), _keys(outcome.true, outcome))


def _keys(pairs: Pairs, outcome: Outcome) -> Ints:
    return pairs.a * len(outcome.groups.texts) + pairs.b


def _different(found: Found, groups: Groups) -> Pairs:
    """Return pairs of documents as pairs of different texts."""
    if found.cut:
        raise SystemExit(f"error: of {found.cut} documents not all pairs were listed")
    number = len(groups.texts)
    text_of = np.full(int(groups.members.max(initial=-1)) + 1, -1, np.int64)
    text_of[groups.members] = np.repeat(np.arange(number), np.diff(groups.bounds))
    sides = text_of[found.earlier], text_of[found.later]
    low, high = np.minimum(*sides), np.maximum(*sides)
    keys = np.unique(low[low != high] * number + high[low != high])
    return Pairs(keys // max(1, number), keys % max(1, number))


def _chances(
    groups: Groups, true: Pairs, similarity: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return how likely each true pair is reported, by verification.

    What is compared exactly need not be estimated to reach the threshold, only to lie within reach.
    """
    plan = plan_bands(DEFAULT.threshold, DEFAULT.recall, DEFAULT.hashes)
    bands = Bands(plan.bands, plan.rows, plan.hashes)
    within_reach = agreement_within_reach(DEFAULT.threshold, DEFAULT.hashes, DEFAULT.measure)
    exact = chance(similarity, bands, within_reach)
    estimated = chance(similarity, bands, int(np.ceil(DEFAULT.threshold * DEFAULT.hashes)))
    lengths = np.array([len(text) for text in groups.texts], np.int64)
    short = lengths - DEFAULT.size + 1 <= DEFAULT.hashes
    both_short = short[true.a] & short[true.b]
    return {
        "none": chance(similarity, bands),
        "signature": np.where(both_short, exact, estimated),
        "exact": exact,
    }


def _median_similarity(texts: Sequence[str], pairs: Pairs) -> float | None:
    if not len(pairs.a):
        return None
    involved, places = np.unique(np.concatenate(pairs), return_inverse=True)
    left, right = np.split(places, 2)
    own = [texts[text] for text in involved.tolist()]
    return float(np.median(measure(own, left, right, DEFAULT.unit, DEFAULT.size).jaccard))
