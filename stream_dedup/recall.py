"""How much of what is there the lookups meet: some documents, compared with all recent ones.

A metric and no more: it comes after the decisions and none depends on it. Which documents are
compared follows from their positions. What is counted is whether the buckets showed a document the
groups whose signatures say that they are similar enough; whether these then match is verified, and
a verification misses nothing.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.config import Settings
from stream_dedup.index.columns import position_keys
from stream_dedup.index.layout import decode_group
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.matching import groups
from stream_dedup.matching.overlay import Overlay
from stream_dedup.signing import SignedBatch
from stream_dedup.similarity.compiled import Array, kernel, mix64
from stream_dedup.similarity.curve import similarity_from_agreement
from stream_dedup.similarity.sketch import Sketcher
from stream_dedup.similarity.vectors import in_wide_vectors
from stream_dedup.similarity.verify import agreement

Numbers = NDArray[np.int64]

# Copies come soon: among so many groups there are enough, and they lie in 5 MB.
WINDOW = 20_000
_WINDOW_BYTES_MAX = 1 << 24
_TOGETHER = 16  # documents that are compared in one pass over the groups
_FIRST = 32  # values of a signature that are compared first: a line of the processor's cache
# With fewer found, a share says more about chance than about the index.
HITS_MIN = 30
# The estimate is that of the last documents that had something to find: it follows what changes.
_DOCUMENTS_KEPT = 1000
# Of a crowd that resembles one document some are enough; all would outvote the other documents.
_PAIRS_MAX = 8
_STANDARD_ERRORS = 1.96  # of an interval that holds the truth 19 times in 20


class Estimate(NamedTuple):
    """The share of pairs that were met, where it lies with 95 % confidence, and what theory says.

    `expected` is what the bands let one expect of pairs whose signatures agree as these do.
    """

    share: float
    low: float
    high: float
    expected: float


class Recall(NamedTuple):
    """What was counted lately; no estimate where that is too little."""

    hits: int
    misses: int
    estimate: Estimate | None

    def __str__(self) -> str:
        if self.estimate is None:
            return (
                f"unknown: {self.hits} pairs met, {self.misses} missed; {HITS_MIN} met are needed"
            )
        share, low, high, expected = self.estimate
        return f"{share:.3f} ({low:.3f} to {high:.3f}); {expected:.3f} expected"


class _Counted(NamedTuple):
    """The pairs of one document."""

    hits: int
    misses: int
    expected: float  # the hits that theory expects


class _Similar(NamedTuple):
    """Groups that are similar enough to a document, and in how many values they agree."""

    positions: Numbers
    agreeing: Numbers


class RecallMeter:
    """Counts what the lookups of sampled documents met; written by one thread, read by any."""

    def __init__(
        self, index: Index, settings: Settings, sketcher: Sketcher, window: int = WINDOW
    ) -> None:
        self._index = index
        self._sample = settings.matching.recall_sample
        self._scope = settings.matching.scope
        self._sketcher = sketcher
        agreements = np.arange(sketcher.hashes + 1) / sketcher.hashes
        similarities = similarity_from_agreement(agreements, sketcher.measure)
        self._least = int(np.searchsorted(similarities, settings.similarity.threshold))
        self._recent = _Recent(window)
        self._counted: deque[_Counted] = deque(maxlen=_DOCUMENTS_KEPT)

    def sampled(self, positions: Sequence[int]) -> frozenset[int]:
        """Choose documents by their positions; return their places in the batch."""
        if not self._sample:
            return frozenset()
        shares = _shares(np.array(positions, np.uint64))
        return frozenset(np.flatnonzero(shares < self._sample).tolist())

    def add(
        self, batch: SignedBatch, met: Mapping[int, Numbers], overlay: Overlay, horizon: int
    ) -> None:
        """Take in a batch that is remembered.

        `met` tells of sampled documents, by their places in the batch, the positions of all groups
        that their buckets showed; documents that looked into none are not there.
        """
        if not self._sample or not batch.size:
            return
        self._recent.add(batch, overlay.texts.places(batch.positions))
        for place, similar in self._recent.similar(batch, list(met), self._least):
            if not len(similar.positions):
                continue  # as for most
            counted = self._count(batch, place, met[place], similar, horizon)
            if counted.hits or counted.misses:
                self._counted.append(counted)

    def recall(self) -> Recall:
        """Return what is known by now."""
        counted = list(self._counted)
        hits = sum(document.hits for document in counted)
        misses = sum(document.misses for document in counted)
        if hits < HITS_MIN:
            return Recall(hits, misses, None)
        pairs = hits + misses
        # Pairs of one document are met or missed together, so they are taken as one trial.
        low, high = wilson(hits / pairs, len(counted))
        expected = sum(document.expected for document in counted) / pairs
        return Recall(hits, misses, Estimate(hits / pairs, low, high, expected))

    def _count(
        self, batch: SignedBatch, place: int, shown: Numbers, similar: _Similar, horizon: int
    ) -> _Counted:
        """Count which of the similar groups that a document may match its buckets showed."""
        positions, agreeing = similar
        # Every so many of them: which of them were met must not matter to the choice.
        chosen = slice(None, None, -(-len(positions) // _PAIRS_MAX) or 1)
        positions, agreeing = positions[chosen], agreeing[chosen]
        matching = self._may_match(batch, place, positions, horizon)
        positions, agreeing = positions[matching], agreeing[matching]
        hits = int(np.isin(positions, shown).sum())
        bands, rows, hashes = self._sketcher.bands, self._sketcher.rows, self._sketcher.hashes
        expected = sum(meeting_probability(k, hashes, bands, rows) for k in agreeing.tolist())
        return _Counted(hits, len(positions) - hits, expected)

    def _may_match(
        self, batch: SignedBatch, place: int, positions: Numbers, horizon: int
    ) -> NDArray[np.bool_]:
        """Tell which groups the index must not hide: living ones, in scope."""
        source, namespace = batch.sources[place], batch.namespaces[place]
        width = batch.sketches.signatures[:1].nbytes
        matching = np.zeros(len(positions), np.bool_)
        values = self._index.read(Keyspace.TEXTS, position_keys(positions))
        for row, value in enumerate(values):
            if value is not None:
                group = decode_group(int(positions[row]), value, width)
                found = groups.reported(group, horizon, self._scope, source)
                matching[row] = found is not None and group.namespace == namespace
        return matching


class _Recent:
    """The groups that began last, in a ring."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._next = 0
        self._positions = np.empty(0, np.int64)
        self._namespaces = np.empty(0, np.int64)
        self._signatures: NDArray[Any] = np.empty((0, 0))

    def add(self, batch: SignedBatch, places: list[int]) -> None:
        """Take in groups that these documents of a batch began."""
        signatures = batch.sketches.signatures
        if not len(self._positions):
            self._make_room(signatures)
        places = places[-len(self._positions) :]
        rows = np.arange(self._next, self._next + len(places)) % len(self._positions)
        self._signatures[rows] = signatures[places]
        self._positions[rows] = [batch.positions[place] for place in places]
        self._namespaces[rows] = [hash(batch.namespaces[place]) for place in places]
        self._next += len(places)

    def similar(
        self, batch: SignedBatch, places: list[int], least: int
    ) -> Iterator[tuple[int, _Similar]]:
        """Yield for each document the earlier groups of its namespace that agree in so many."""
        for start in range(0, len(places), _TOGETHER):
            chosen = places[start : start + _TOGETHER]
            agreeing = np.empty((len(chosen), len(self._positions)), np.int64)
            _agree(
                self._signatures,
                self._positions,
                self._namespaces,
                batch.sketches.signatures[chosen],
                np.array([batch.positions[place] for place in chosen]),
                np.array([hash(batch.namespaces[place]) for place in chosen]),
                least,
                agreeing,
            )
            for place, values in zip(chosen, agreeing, strict=True):
                rows = np.flatnonzero(values >= least)
                yield place, _Similar(self._positions[rows], values[rows])

    def _make_room(self, like: NDArray[Any]) -> None:
        size = max(1, min(self._size, _WINDOW_BYTES_MAX // like[:1].nbytes))
        self._positions = np.full(size, np.iinfo(np.int64).max)  # after all documents
        self._namespaces = np.zeros(size, np.int64)
        self._signatures = np.zeros((size, like.shape[1]), like.dtype)


@kernel
def _agree(
    signatures: Array,
    positions: Array,
    namespaces: Array,
    asked: Array,
    before: Array,
    among: Array,
    least: int,
    agreeing: Array,
) -> None:
    """Compare each row with all that are `asked`, if it lies `before` them and in their namespace.

    The rows do not fit the processor's caches: each is fetched once, and most of them in part. What
    the first values show is mostly enough to know that fewer than `least` agree: -1 then. They are
    counted here and not by `agreement`: slices for it would take three times as long.
    """
    in_wide_vectors()
    size = signatures.shape[1]
    first = min(_FIRST, size)
    for row in range(positions.size):
        for document in range(len(asked)):
            agreeing[document, row] = -1
            count = np.uint16(0)
            for value in range(first):
                equal = signatures[row, value] == asked[document, value]
                count = np.uint16(count + np.uint16(equal))
            if count + size - first < least:
                continue
            if positions[row] < before[document] and namespaces[row] == among[document]:
                agreeing[document, row] = agreement(signatures[row], asked[document])


@kernel
def _shares(positions: Array) -> Array:
    """Return a number from 0 to 1 for each position, as if drawn, and always the same."""
    shares = np.empty(positions.size, np.float64)
    for place in range(positions.size):
        shares[place] = np.float64(mix64(positions[place]) >> np.uint64(11)) * 2.0**-53
    return shares


def wilson(share: float, trials: int) -> tuple[float, float]:
    """Return the interval of Wilson's score, which stays sensible near 0 and 1."""
    squared = _STANDARD_ERRORS**2 / trials
    middle = (share + squared / 2) / (1 + squared)
    reach = sqrt(squared * (share * (1 - share) + squared / 4)) / (1 + squared)
    return max(0.0, middle - reach), min(1.0, middle + reach)


@lru_cache(maxsize=4096)
def meeting_probability(agreeing: int, hashes: int, bands: int, rows: int) -> float:
    """Return how likely signatures that agree in so many values agree in a whole band.

    Any values may be those that agree, each choice as likely as another. So this holds for what
    was seen of a pair, where `curve.candidate_probability` holds for its unknown true agreement.
    """
    share = agreeing / hashes
    value = np.array([1 - share, share])
    # A power series: the coefficient of x^k is the probability that k values agree and no band.
    band = _power(value, rows)
    band[-1] = 0
    none = np.convolve(_power(band, bands), _power(value, hashes - bands * rows))
    return float(1 - none[agreeing] / _power(value, hashes)[agreeing])


def _power(series: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Multiply a power series by itself."""
    product = np.ones(1)
    while exponent:
        if exponent & 1:
            product = np.convolve(product, series)
        series = np.convolve(series, series)
        exponent >>= 1
    return product
