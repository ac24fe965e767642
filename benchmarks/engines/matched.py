"""Match the documents of `signed_log` out of memory, into an index of its own that begins empty."""

import sys
from contextlib import closing

from benchmarks.engines.job import Instant, report
from benchmarks.signed_log import signed_batches
from stream_dedup.config import EventsSettings, IndexSettings, Settings
from stream_dedup.engine import Matcher
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interpreter import attune
from stream_dedup.quantities import Duration

SETTINGS = Settings(
    events=EventsSettings(emit="none"),  # as in a replay
    index=IndexSettings(window=Duration("inf")),
)


def main() -> None:
    """Look up, verify and insert that many."""
    _, directory, documents = sys.argv
    waiting = list(signed_batches(SETTINGS, int(documents)))
    Matcher(MemoryIndex(), SETTINGS).match(waiting[0])  # loads the kernels
    duplicates = 0
    with closing(RocksIndex.open(directory, SETTINGS.index)) as index:
        matcher = Matcher(index, SETTINGS)
        attune()  # as `run` does
        start = Instant.now()
        for batch in waiting:
            matched = matcher.match(batch)
            matcher.remember(matched)
            duplicates += matched.types["duplicate"]
        report(int(documents), start, duplicates)


if __name__ == "__main__":
    main()
