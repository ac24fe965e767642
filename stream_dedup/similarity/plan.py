"""Choosing bands and rows from what is wanted: a threshold, and the recall at that threshold.

Wide bands make few useless candidates, many bands miss few pairs, and both come out of the same
signature. The plan is the widest band, and then the most bands, that still reach the recall.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stream_dedup.errors import SettingsError
from stream_dedup.similarity import curve
from stream_dedup.similarity.curve import FloatArray, Measure, Number

# Each candidate is a row to read and verify: beyond this, lookups cost more than all else together.
CANDIDATES_MAX = 1000

# The sizes of signatures allowed. Below 64 bits an angle is a guess; above 1024 the projections
# cost more than the text.
HASHES: dict[Measure, tuple[int, int]] = {"jaccard": (1, 4096), "cosine": (64, 1024)}
_BITS_STEP = 64

# How similar unrelated documents are, in 5-character shingles: the one similarity that makes as
# many candidates as random pairs of real documents do together. These are the values of news
# articles. Bibliographic records and statutes came to 0.06 to 0.15 (Jaccard) and 0.12 to 0.27
# (cosine); long technical texts, which larger shingles suit better, to 0.2 and 0.45. The cosine is
# the higher one because counts weigh what every text repeats, such as "and the".
BACKGROUND: dict[Measure, float] = {"jaccard": 0.07, "cosine": 0.27}


@dataclass(frozen=True, slots=True)
class Plan:
    """A number of bands and rows for signatures of `hashes` values, and what to expect of it."""

    measure: Measure
    threshold: float
    hashes: int
    bands: int
    rows: int

    def __post_init__(self) -> None:
        _check(self.measure, self.threshold, self.hashes)
        if self.bands < 1 or self.rows < 1:
            raise SettingsError("bands and rows must both be at least 1")
        if self.bands * self.rows > self.hashes:
            raise SettingsError(
                f"{self.bands} bands of {self.rows} rows take {self.bands * self.rows} hashes, "
                f"there are {self.hashes}: raise hashes, or lower bands or rows"
            )

    def probability(self, similarity: Number) -> Number:
        """Return the probability that a pair of this similarity becomes a candidate."""
        agreement = curve.agreement_from_similarity(similarity, self.measure)
        return curve.candidate_probability(agreement, self.bands, self.rows)

    @property
    def recall(self) -> float:
        """The share of pairs found among those exactly at the threshold."""
        return float(self.probability(self.threshold))

    @property
    def half_point(self) -> float:
        """The similarity at which every second pair becomes a candidate."""
        return self._similarity(curve.half_point(self.bands, self.rows))

    @property
    def half_point_estimate(self) -> float:
        """The estimate (1/b)^(1/r) of the half point."""
        return self._similarity(curve.half_point_estimate(self.bands, self.rows))

    @property
    def standard_error(self) -> float:
        """One standard error of a similarity estimated at the threshold."""
        return float(curve.standard_error(self.threshold, self.hashes, self.measure))

    def candidates(self, documents: int, similarities: float | FloatArray | None = None) -> float:
        """Return the expected candidates of one lookup among so many documents.

        The similarities are one that stands for all documents, or those of random pairs; without
        any, the documents are taken as unrelated.
        """
        if similarities is None:
            similarities = BACKGROUND[self.measure]
        values = np.atleast_1d(np.asarray(similarities, np.float64))
        return documents * float(self.probability(values).sum()) / max(1, values.size)

    def _similarity(self, agreement: float) -> float:
        return float(curve.similarity_from_agreement(agreement, self.measure))


def plan_bands(
    threshold: float,
    recall: float,
    hashes: int,
    measure: Measure = "jaccard",
    *,
    documents: int | None = None,
    background: float | FloatArray | None = None,
) -> Plan:
    """Choose the most rows, then the most bands, that reach the recall at the threshold.

    Given the number of documents, a cosine plan whose lookups would drown in candidates as similar
    as the background (see `Plan.candidates`) is refused.
    """
    _check(measure, threshold, hashes)
    if not 0 < recall < 1:
        raise SettingsError(
            f"recall must lie between 0 and 1, not be {recall:g}: bands find a share of the pairs, "
            "and never all for certain"
        )
    wish = _Wish(measure, threshold, recall, hashes)
    plan = _search(wish)
    if plan is None:
        raise SettingsError(_out_of_reach(wish))
    if measure == "cosine" and documents is not None:
        _refuse_crowds(wish, plan, documents, background)
    return plan


class IndexBytes(NamedTuple):
    """Disk bytes a document takes in each keyspace of the index."""

    buckets: int
    texts: int
    exact: int
    ids: int

    @property
    def total(self) -> int:
        """Bytes in all keyspaces together."""
        return sum(self)


# What RocksDB adds to an entry: 8 bytes of sequence number, 3 of lengths, 1.25 of filter, and a
# share of the block index and of versions not yet compacted away. Chosen so that 16 bands and a row
# of 270 bytes come to the 700 bytes measured.
_ENTRY = 14
_POSITION = 5
_NAMESPACE = 1  # the default one; a name adds its length
_DOCUMENT_ID = 20  # an assumption; an id stands in its text's row and is a key
_BAND_KEY = 2 + 5  # the band's number, 40 bits of key
_FINGERPRINT = 16
_COORDINATES = 8  # topic, partition and offset of the source
# Sizes, first member, live count, first and last seen, last seen per source, cluster.
_TEXT_FIELDS = 8 + (1 + _DOCUMENT_ID) + 2 + 12 + 12 + 5


def index_bytes(plan: Plan) -> IndexBytes:
    """Estimate the index's disk bytes for a document whose text is new."""
    signature = plan.hashes * 2 if plan.measure == "jaccard" else math.ceil(plan.hashes / 8)
    return IndexBytes(
        buckets=plan.bands * (_BAND_KEY + _POSITION + _ENTRY),
        texts=_POSITION + signature + _TEXT_FIELDS + _ENTRY,
        exact=_NAMESPACE + _FINGERPRINT + _POSITION + _ENTRY,
        ids=_NAMESPACE + _DOCUMENT_ID + _POSITION + _COORDINATES + _ENTRY,
    )


class _Wish(NamedTuple):
    measure: Measure
    threshold: float
    recall: float
    hashes: int


def _check(measure: Measure, threshold: float, hashes: int) -> None:
    if not 0 < threshold <= 1:
        raise SettingsError(f"threshold must be above 0 and at most 1, not {threshold:g}")
    fewest, most = HASHES[measure]
    if not fewest <= hashes <= most:
        raise SettingsError(
            f"hashes must be from {fewest} to {most} for measure {measure}, not {hashes}"
        )


def _search(wish: _Wish) -> Plan | None:
    for rows in range(wish.hashes, 0, -1):
        plan = Plan(wish.measure, wish.threshold, wish.hashes, wish.hashes // rows, rows)
        if plan.recall >= wish.recall:
            return plan
    return None


def _out_of_reach(wish: _Wish) -> str:
    # Bands of a single row miss the least, so what they need is the least there is.
    agreement = curve.agreement_from_similarity(wish.threshold, wish.measure)
    hashes = math.ceil(math.log1p(-wish.recall) / math.log1p(-agreement))
    reached = curve.agreement_at(wish.recall, wish.hashes, 1)
    threshold = math.ceil(curve.similarity_from_agreement(reached, wish.measure) * 100) / 100
    ways = [f"a threshold of {threshold:.2f}"]
    if hashes <= HASHES[wish.measure][1]:
        ways.insert(0, f"{hashes} hashes")
    return (
        f"{wish.hashes} hashes cannot find {wish.recall:.6g} of the pairs at {wish.measure} "
        f"{wish.threshold:g}, however they are banded. What works: {', or '.join(ways)}"
    )


def _refuse_crowds(
    wish: _Wish, plan: Plan, documents: int, background: float | FloatArray | None
) -> None:
    def fits(wish: _Wish) -> bool:
        found = _search(wish)
        return found is not None and found.candidates(documents, background) <= CANDIDATES_MAX

    if fits(wish):
        return
    raise SettingsError(
        f"cosine {wish.threshold:g} with {wish.hashes} bits, in {plan.bands} bands of {plan.rows}, "
        f"would make about {plan.candidates(documents, background):,.0f} candidates per lookup "
        f"among {documents:,} documents, and {CANDIDATES_MAX:,} is the limit. "
        + _ways_out(wish, fits)
    )


def _ways_out(wish: _Wish, fits: Callable[[_Wish], bool]) -> str:
    most = HASHES["cosine"][1]
    more_bits = range(_BITS_STEP * (wish.hashes // _BITS_STEP + 1), most + 1, _BITS_STEP)
    higher = [step / 100 for step in range(math.floor(wish.threshold * 100) + 1, 100)]
    by_bits = [wish._replace(hashes=bits) for bits in more_bits]
    by_threshold = [wish._replace(threshold=threshold) for threshold in higher]
    by_both = [way._replace(hashes=most) for way in by_threshold]
    ways = [next(filter(fits, options), None) for options in (by_bits, by_threshold)]
    if ways == [None, None]:
        ways = [next(filter(fits, by_both), None)]
    named = [f"{way.hashes} bits with a threshold of {way.threshold:g}" for way in ways if way]
    if not named:
        return f"No threshold up to 0.99 works with {most} bits either: use measure jaccard"
    return f"What works: {', or '.join(named)}"
