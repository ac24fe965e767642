"""The state of the index as metrics: looked at from time to time, for it costs a little."""

import shutil
from collections.abc import Callable

from stream_dedup.engine import Matcher
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.metrics import (
    DISK_FREE,
    INDEX_BYTES,
    INDEX_KEYS,
    INDEX_MEMORY,
    LOG_TIME,
    OLDEST,
    RECALL,
    RECALL_PAIRS,
    Metrics,
)


class IndexGauges:
    """Looks at an index and who decides upon it."""

    def __init__(
        self, index: RocksIndex, directory: str, matcher: Callable[[], Matcher], metrics: Metrics
    ) -> None:
        self._index, self._directory = index, directory
        self._matcher, self._metrics = matcher, metrics

    def sample(self) -> None:
        """Look once."""
        put = self._metrics.set
        put(INDEX_BYTES, self._index.disk_bytes())
        put(DISK_FREE, shutil.disk_usage(self._directory).free)
        for keyspace, size in self._index.sizes().items():
            put(INDEX_KEYS, size.rows_estimated, keyspace)
        for part, held in self._index.memory_bytes().items():
            put(INDEX_MEMORY, held, part)
        self._sample_matcher(self._matcher())

    def _sample_matcher(self, matcher: Matcher) -> None:
        put, log_time = self._metrics.set, matcher.log_time
        if log_time.now != UNDATED:
            put(LOG_TIME, log_time.now / 1000)
            put(OLDEST, max(log_time.horizon, log_time.first) / 1000)
        recall = matcher.recall.recall()
        put(RECALL_PAIRS, recall.hits, "met")
        put(RECALL_PAIRS, recall.misses, "missed")
        if recall.estimate is None:
            for name in ("share", "low", "high", "expected"):
                self._metrics.forget(RECALL, name)
        else:
            for name, value in recall.estimate._asdict().items():
                put(RECALL, value, name)
