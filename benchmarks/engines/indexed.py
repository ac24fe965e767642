"""Make the index that `ours` and `steps` begin with, of synthetic documents."""

import sys
from contextlib import closing

from benchmarks.engines.ours import MIX, SETTINGS
from benchmarks.synthetic import Stream
from stream_dedup.engine import Matcher, Signer
from stream_dedup.index.rocksdb import RocksIndex

_BATCH = 2000


def main() -> None:
    """Take in that many documents."""
    _, directory, documents = sys.argv
    stream = Stream(Signer(SETTINGS).sketcher, MIX)
    with closing(RocksIndex.open(directory, SETTINGS.index)) as index:
        matcher = Matcher(index, SETTINGS)
        for _ in range(0, int(documents), _BATCH):
            matcher.remember(matcher.match(stream.batch(_BATCH)))
        index.compact()  # else it depends on chance whether files are merged while the clock runs


if __name__ == "__main__":
    main()
