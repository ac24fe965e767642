"""What the live page shows: the metrics of the last minutes, the latest matches, what grows.

Time is cut into slices of the wall clock, kept in a ring. What the metrics counted since one looked
last goes into the slice of the look, so nobody has to wake up for an idle second: a slice that is
not there is one in which nothing was decided. It is bounded, stored nowhere, and no decision
depends on it.
"""

import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from threading import Lock

from stream_dedup import metrics as listed
from stream_dedup.config import Settings
from stream_dedup.decide import KINDS
from stream_dedup.engine import Matched
from stream_dedup.events import Verdict
from stream_dedup.growth import Cluster, Growth
from stream_dedup.metrics import Metric, Metrics
from stream_dedup.snapshot import (
    Histogram,
    LatestMatch,
    Series,
    Snapshot,
    in_force,
)

SLICE_SECONDS = 2
SLICES = 90  # three minutes: what is older is for Prometheus
LATEST = 50

_MINUTE = 60 // SLICE_SECONDS


@dataclass(slots=True)
class _Slice:
    """What was seen within one slice of time."""

    number: int
    outcomes: Counter[str] = field(default_factory=Counter)
    latencies: Counter[int] = field(default_factory=Counter)  # by the interval of the histogram
    lag_seconds: float | None = None

    @property
    def duplicates(self) -> int:
        return sum(self.outcomes[kind] for kind in KINDS)


class Live:
    """Hears of every batch from the thread that matches; any thread may ask."""

    def __init__(
        self, metrics: Metrics, settings: Settings, clock: Callable[[], float] = time.time
    ) -> None:
        self._metrics, self._clock = metrics, clock
        self._settings = in_force(settings)
        self._lock = Lock()
        self._started_at = clock()
        self._slices = deque([_Slice(int(self._started_at // SLICE_SECONDS))])
        # What the metrics said when one looked last.
        self._outcomes: Counter[str] = Counter()
        self._latencies: Counter[int] = Counter()
        self._growth = Growth()
        self._matches = 0
        self._latest: deque[tuple[int, float, Verdict]] = deque(maxlen=LATEST)

    def decided(self, matched: Matched, at: float) -> None:
        """Take in a batch that was committed at this time, in seconds since the epoch."""
        found = [verdict for verdict in matched.verdicts if verdict.matches]
        joined = _joined(found)
        with self._lock:
            before, self._matches = self._matches, self._matches + len(found)
            numbers = range(before + 1, self._matches + 1)[-LATEST:]
            for number, verdict in zip(numbers, found[-LATEST:], strict=True):
                self._latest.append((number, at, verdict))
            self._look(at)
            self._growth.add(joined, at)

    def settle(self) -> None:
        """Bring up to date what changes by time alone: asked for before metrics are written."""
        with self._lock:
            self._tell(self._clock())

    def snapshot(self) -> Snapshot:
        """Say how things are now."""
        with self._lock:
            at = self._clock()
            now = self._tell(at)
            minute = self._since(now - _MINUTE)
            p50, p99 = _quantiles(sum((kept.latencies for kept in minute), Counter()))
            return Snapshot(
                at=at,
                started_at=self._started_at,
                outcomes=dict(self._outcomes),
                outcomes_last_minute=dict(sum((kept.outcomes for kept in minute), Counter())),
                p50_seconds=p50,
                p99_seconds=p99,
                series=self._series(now),
                lag_records=self._by_role(listed.LAG_RECORDS, sum),
                lag_seconds=self._by_role(listed.LAG_SECONDS, max),
                restore_remaining=self._metrics.value(listed.RESTORE_REMAINING),
                index_bytes=self._metrics.value(listed.INDEX_BYTES),
                index_keys=self._by_label(listed.INDEX_KEYS),
                disk_free_bytes=self._metrics.value(listed.DISK_FREE),
                log_time=self._metrics.value(listed.LOG_TIME),
                oldest=self._metrics.value(listed.OLDEST),
                recall=self._by_label(listed.RECALL),
                recall_pairs=self._by_label(listed.RECALL_PAIRS),
                similarity=Histogram(
                    bounds=listed.SIMILARITY.bounds,
                    counts=self._metrics.counts(listed.SIMILARITY),
                ),
                matches=self._matches,
                latest=[_latest(*kept) for kept in reversed(self._latest)],
                growing=self._growth.largest(at),
                settings=self._settings,
            )

    def _look(self, at: float) -> _Slice:
        """Put what was counted since one looked last into the slice of this moment."""
        now = self._slice(int(at // SLICE_SECONDS))
        outcomes = Counter({name: int(n) for name, n in self._by_label(listed.DOCUMENTS).items()})
        latencies = Counter(dict(enumerate(self._metrics.counts(listed.LATENCY))))
        now.outcomes.update(outcomes - self._outcomes)
        now.latencies.update(latencies - self._latencies)
        self._outcomes, self._latencies = outcomes, latencies
        lags = self._by_role(listed.LAG_SECONDS, max).values()
        now.lag_seconds = max(lags, default=now.lag_seconds)
        return now

    def _slice(self, number: int) -> _Slice:
        """Return the newest slice; a clock that was set back begins no other."""
        if number > self._slices[-1].number:
            self._slices.append(_Slice(number))
            while self._slices[0].number < number - SLICES:
                self._slices.popleft()
        return self._slices[-1]

    def _since(self, number: int) -> list[_Slice]:
        return [kept for kept in self._slices if kept.number > number]

    def _tell(self, at: float) -> int:
        """Bring up to date what changes by time alone; return the number of the slice."""
        self._metrics.set(listed.CLUSTER_GROWTH, self._growth.most_in_a_minute(at))
        return self._look(at).number

    def _series(self, now: int) -> Series:
        known = {kept.number: kept for kept in self._slices}
        begun = int(self._started_at // SLICE_SECONDS)
        empty = _Slice(now)
        slices = [
            known.get(number, empty) if number >= begun else None
            for number in range(now - SLICES, now)
        ]
        quantiles = [_quantiles(kept.latencies) if kept else (None, None) for kept in slices]
        return Series(
            until=now * SLICE_SECONDS,
            slice_seconds=SLICE_SECONDS,
            documents=[kept.outcomes.total() if kept else None for kept in slices],
            duplicates=[kept.duplicates if kept else None for kept in slices],
            p50_seconds=[p50 for p50, _ in quantiles],
            p99_seconds=[p99 for _, p99 in quantiles],
            lag_seconds=[kept.lag_seconds if kept else None for kept in slices],
        )

    def _by_label(self, metric: Metric) -> dict[str, float]:
        """Return the values of a metric of one label."""
        return {label: value for (label,), value in self._metrics.values(metric).items()}

    def _by_role(
        self, metric: Metric, together: Callable[[Iterable[float]], float]
    ) -> dict[str, float]:
        """Return what the partitions of each role come to."""
        roles: dict[str, list[float]] = {}
        for (role, _), value in self._metrics.values(metric).items():
            roles.setdefault(role, []).append(value)
        return {role: together(values) for role, values in roles.items()}


def _joined(found: Sequence[Verdict]) -> list[tuple[Cluster, int]]:
    """Name the clusters that gained a document, and their sizes.

    A representative was always in its own, a revision may have been; a repeat matches nothing.
    """
    return [
        ((verdict.document.namespace, verdict.cluster.id), verdict.cluster.size)
        for verdict in found
        if verdict.cluster and not verdict.previous and verdict.cluster.id != verdict.document.id
    ]


def _quantiles(latencies: Counter[int]) -> tuple[float | None, float | None]:
    """Return the median and the 99th percentile, as far as the intervals tell.

    Within an interval the values are taken as evenly spread; beyond the last bound none is known,
    and that bound is named.
    """
    if not latencies.total():
        return None, None
    bounds = (0.0, *listed.LATENCY.bounds)
    counts = [latencies[interval] for interval in range(len(bounds))]
    reached = list(accumulate(counts, initial=0))

    def quantile(share: float) -> float:
        rank = share * reached[-1]
        interval = bisect_left(reached, rank, lo=1) - 1
        if interval == len(bounds) - 1:
            return bounds[-1]
        within = (rank - reached[interval]) / counts[interval]
        return bounds[interval] + within * (bounds[interval + 1] - bounds[interval])

    return quantile(0.5), quantile(0.99)


def _latest(number: int, at: float, verdict: Verdict) -> LatestMatch:
    document, best, cluster = verdict.document, verdict.matches[0], verdict.cluster
    return LatestMatch(
        number=number,
        decided_at=at,
        type=verdict.type,
        id=document.id,
        source=document.source,
        namespace=document.namespace,
        seen_at=document.seen_at,
        kind=best.kind,
        similarity=best.similarity,
        error=best.error,
        containment=best.containment,
        matched_id=best.id,
        matched_source=best.source,
        matched_seen_at=best.seen_at,
        match_count=verdict.match_count,
        cluster_id=cluster.id if cluster else None,
        cluster_size=cluster.size if cluster else None,
    )
