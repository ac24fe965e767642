"""Every metric of the service: one list, and the numbers behind it.

What is counted comes in batches, as arrays, so the numbers are kept here, and Prometheus' own
library only writes them out. No metric enters a decision, and none has an id of a document in its
labels.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from time import perf_counter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from prometheus_client import (
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    CollectorRegistry,
    exposition,
)
from prometheus_client import Metric as Family
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

PREFIX = "stream_dedup_"
CONTENT_TYPE = exposition.CONTENT_TYPE_LATEST


class Metric(NamedTuple):
    """What is measured, under which name and labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()  # upper ones, of a histogram


def _counter(name: str, meaning: str, *labels: str) -> Metric:
    return _listed(Metric(PREFIX + name, "counter", meaning, labels))


def _gauge(name: str, meaning: str, *labels: str) -> Metric:
    return _listed(Metric(PREFIX + name, "gauge", meaning, labels))


def _histogram(name: str, meaning: str, bounds: Sequence[float], *labels: str) -> Metric:
    return _listed(Metric(PREFIX + name, "histogram", meaning, labels, tuple(map(float, bounds))))


def _listed(metric: Metric) -> Metric:
    METRICS.append(metric)
    return metric


METRICS: list[Metric] = []

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LATENCY = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600)
_SIZES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
# Below 0.5 no threshold is sensible; each hundredth above is one to read duplicates off.
_SIMILARITIES = (0.1, 0.2, 0.3, 0.4, *(hundredths / 100 for hundredths in range(50, 101)))

# What came, and what became of it.
DOCUMENTS = _counter(
    "documents",
    "Records decided or rejected: unique, exact, near, excerpt or extension (a duplicate, by its "
    "best match), repeat, skipped, deleted, rejected",
    "outcome",
)
REJECTED = _counter("rejected", "Records that are no documents, by the kind of reason", "reason")
PASSED_OVER = _counter(
    "passed_over", "Records of the log that were seen before or are named in skip_positions"
)
MATCHES = _counter("matches", "Matches of the documents decided, published or not", "kind")

# How it was found.
CANDIDATES = _histogram(
    "candidates", "Groups of texts that a document met in the buckets and was compared with", _SIZES
)
COMPARED = _counter(
    "compared", "Comparisons: `matched` at the threshold or above, `below`", "result"
)
SIMILARITY = _histogram(
    "similarity",
    "The highest similarity of a document to what it met, 1 for an exact copy: what lies above a "
    "bound would be duplicates with that threshold",
    _SIMILARITIES,
)
BUCKET_SIZE = _histogram("bucket_size", "Entries of the buckets looked into", _SIZES)
CAPPED = _counter("capped", "Documents that met a full bucket of which a part was hidden")
EVICTED = _counter("evicted", "Entries of full buckets that had to go for newer ones")
RECALL = _gauge(
    "recall_ratio",
    "Of similar pairs the share that the buckets showed, on a sample, low and high end of its 95 % "
    "interval, and what is expected by theory; absent while too little was seen",
    "value",
)
RECALL_PAIRS = _gauge("recall_pairs", "Pairs of the sample behind the estimate", "result")
CLUSTER_SIZE = _histogram(
    "cluster_size", "Size of the cluster that a duplicate joined or is in", _SIZES[1:]
)
CLUSTER_GROWTH = _gauge(
    "cluster_growth",
    "Most documents that any one cluster gained within the last minute, by verdicts published",
)

# How fast.
BATCH = _histogram(
    "batch_documents",
    "Records in a batch",
    (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000),
    "role",
)
STEP = _histogram(
    "step_seconds",
    "Time of a step of a batch: sign has decode, sign, publish, commit; match has decide, of which "
    "look_up and verify are parts, publish, commit, remember",
    _SECONDS,
    "role",
    "step",
)
LATENCY = _histogram(
    "latency_seconds",
    "From the timestamp of a document's record to its verdict being readable",
    _LATENCY,
)
LAG_RECORDS = _gauge(
    "lag_records", "Records that a role has not committed yet", "role", "partition"
)
LAG_SECONDS = _gauge(
    "lag_seconds",
    "Age of the first record that a role has not committed, 0 if none",
    "role",
    "partition",
)
LAG_BYTES = _gauge("lag_bytes", "Bytes of the log that match has not read yet, about")
HELD_BACK = _gauge("held_back", "1 while sign waits for match to catch up")

# Kafka.
TRANSACTIONS = _counter(
    "transactions",
    "Transactions by their end: committed, aborted, or unknown and then asked for",
    "role",
    "result",
)
LAST_COMMIT = _gauge("last_commit_timestamp_seconds", "When a role committed last", "role")
PRODUCERS = _counter("producers_rebuilt", "Producers that were given up for another", "role")
FENCED = _counter(
    "fenced", "Times that the transactional id was taken over, or its transaction timed out", "role"
)
REBALANCES = _counter(
    "rebalances", "Changes of partitions: assigned, revoked or lost", "role", "event"
)
PARTITIONS = _gauge("partitions", "Partitions that a role owns", "role")
WAITING = _gauge("waiting", "1 while a role waits for the broker", "role")
OPEN_RECORDS = _gauge(
    "log_open_records",
    "Records of the log behind its last stable offset: what transactions that have not ended hold "
    "back",
)

# The index.
BEHIND = _gauge("index_behind_records", "Records of the log that the index has not taken in yet")
RESTORES = _counter(
    "restores", "Times that the index was led along the log up to the group's offset"
)
RESTORE_REMAINING = _gauge("restore_remaining_records", "Records still to take in, 0 when restored")
RESTORE_SECONDS = _gauge("restore_seconds", "How long the restore under way, or the last one, took")
INDEX_BYTES = _gauge("index_bytes", "Bytes of the index on disk")
INDEX_KEYS = _gauge("index_keys", "Keys, estimated by RocksDB", "keyspace")
INDEX_MEMORY = _gauge(
    "index_memory_bytes", "Memory of the index: cache, buffers, tables, sieves", "part"
)
DISK_FREE = _gauge("disk_free_bytes", "Free bytes of the disk that the index is on")
OLDEST = _gauge("index_oldest_timestamp_seconds", "Time of the log from which on all is remembered")
LOG_TIME = _gauge("log_time_timestamp_seconds", "Time of the log's newest record")
PURGED = _gauge("log_purged_offset", "Offset below which the log was deleted")

# Queries.
REQUESTS = _counter("http_requests", "Requests by path and status", "path", "status")
REQUEST_SECONDS = _histogram("http_request_seconds", "Time of a request", _SECONDS, "path")

# What runs.
READY = _gauge(
    "ready",
    "1 if all roles do their work",
)
SETTINGS_INFO = _gauge(
    "settings_info",
    "1, with the settings in force as labels",
    *("fingerprint", "measure", "unit", "size", "threshold", "bands", "rows", "verify", "window"),
)
BUILD_INFO = _gauge("build_info", "1, with the versions as labels", "version", "python")


class Metrics(Collector):
    """The numbers of one service; any thread may write and read."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: dict[Metric, dict[tuple[str, ...], float]] = {}
        # Of each histogram: how many fell in each interval, the last beyond all bounds; their sum.
        self._counts: dict[Metric, dict[tuple[str, ...], NDArray[np.float64]]] = {}

    def add(self, metric: Metric, amount: float = 1, *labels: str) -> None:
        """Count."""
        with self._lock:
            values = self._values.setdefault(metric, {})
            values[labels] = values.get(labels, 0) + amount

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Say how it is now."""
        with self._lock:
            self._values.setdefault(metric, {})[labels] = value

    def forget(self, metric: Metric, *labels: str) -> None:
        """Say nothing of it any more."""
        with self._lock:
            self._values.get(metric, {}).pop(labels, None)

    def observe(self, metric: Metric, values: ArrayLike, *labels: str) -> None:
        """Put values into a histogram."""
        numbers = np.atleast_1d(np.asarray(values, np.float64))
        places = np.searchsorted(metric.bounds, numbers)
        counts = np.append(np.bincount(places, minlength=len(metric.bounds) + 1), numbers.sum())
        with self._lock:
            kept = self._counts.setdefault(metric, {})
            kept[labels] = kept[labels] + counts if labels in kept else counts

    @contextmanager
    def timed(self, role: str, step: str) -> Iterator[None]:
        """Time a step of a batch, if it comes to its end."""
        started = perf_counter()
        yield
        self.observe(STEP, perf_counter() - started, role, step)

    def value(self, metric: Metric, *labels: str) -> float | None:
        """Return a number as it is now, for who shows it; None if nothing was said of it."""
        with self._lock:
            return self._values.get(metric, {}).get(labels)

    def values(self, metric: Metric) -> dict[tuple[str, ...], float]:
        """Return the numbers of all labels."""
        with self._lock:
            return dict(self._values.get(metric, {}))

    def counts(self, metric: Metric, *labels: str) -> list[int]:
        """Return how many values fell between each two bounds, and beyond the last."""
        with self._lock:
            found = self._counts.get(metric, {}).get(labels)
            return (
                [0] * (len(metric.bounds) + 1) if found is None else found[:-1].astype(int).tolist()
            )

    def collect(self) -> Iterator[Family]:
        """Give all that was said to Prometheus' library."""
        with self._lock:
            values = {metric: dict(kept) for metric, kept in self._values.items()}
            counts = {metric: dict(kept) for metric, kept in self._counts.items()}
        for metric in METRICS:
            if metric.kind == "histogram":
                yield _histogram_family(metric, counts.get(metric, {}))
            else:
                yield _family(metric, values.get(metric, {}))

    def exposition(self) -> bytes:
        """Write all metrics as Prometheus reads them, those of the process too."""
        registry = CollectorRegistry()
        for collector in (self, PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
            registry.register(collector)
        return exposition.generate_latest(registry)


def _family(metric: Metric, values: dict[tuple[str, ...], float]) -> Family:
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = kind(metric.name, metric.meaning, labels=metric.labels)
    if not metric.labels and metric.kind == "counter":
        values = values or {(): 0}
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _histogram_family(metric: Metric, kept: dict[tuple[str, ...], NDArray[np.float64]]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.meaning, labels=metric.labels)
    names = [*map(str, metric.bounds), "+Inf"]
    for labels, counts in sorted(kept.items()):
        buckets = list(zip(names, np.cumsum(counts[:-1]).tolist(), strict=True))
        family.add_metric(labels, buckets, counts[-1])
    return family
