"""How fast the engine stays as the index grows: rate, bytes on disk and memory, point by point.

Signatures are synthetic; making them is not counted.
"""

import argparse
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter

from benchmarks.machine import read_bytes, resident_bytes, this_run
from benchmarks.records import ScalePoint, ScaleResults, save
from benchmarks.synthetic import Mix, Stream
from stream_dedup.config import IndexSettings, Settings
from stream_dedup.engine import Matcher, Signer
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interpreter import attune
from stream_dedup.quantities import Duration

_BATCH = 2000
_EVERY = 200_000  # documents: a point
_MIX = Mix(near=0.1, exact=0.05)
_SETTINGS = Settings(index=IndexSettings(window=Duration("inf")))


def main() -> None:
    """Measure and write results/scale.json."""
    arguments = _arguments()
    run = this_run("benchmarks.scale")
    start = perf_counter()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        points, busy = _grow(Path(directory), arguments.documents)
        seconds = perf_counter() - start
        with closing(RocksIndex.open(directory, _SETTINGS.index)) as index:
            closed_bytes = index.disk_bytes()
            index.compact()
            compacted_bytes = index.disk_bytes()
    save(
        "scale",
        ScaleResults(
            run=run,
            batch=_BATCH,
            near=_MIX.near,
            exact=_MIX.exact,
            points=points,
            closed_bytes=closed_bytes,
            compacted_bytes=compacted_bytes,
            free_seconds=seconds - busy,
            seconds=seconds,
        ),
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000_000, help="[%(default)s]")
    parser.add_argument("--directory", help="where the index lies: 8 GB [that of the system]")
    arguments = parser.parse_args()
    if arguments.documents < 3 * _EVERY:
        parser.error(f"give {3 * _EVERY} or more: the rate around {2 * _EVERY} is compared")
    return arguments


def _grow(directory: Path, documents: int) -> tuple[list[ScalePoint], float]:
    """Take in the documents; return the points and the seconds that matching took."""
    points: list[ScalePoint] = []
    stream = Stream(Signer(_SETTINGS).sketcher, _MIX)
    busy = 0.0
    with closing(RocksIndex.open(directory, _SETTINGS.index)) as index:
        matcher = Matcher(index, _SETTINGS)
        attune()  # as `run` does
        while len(points) < documents // _EVERY:
            read_before = read_bytes()
            seconds = _take_in(matcher, stream, _EVERY)
            busy += seconds
            point = ScalePoint(
                documents=_EVERY * (1 + len(points)),
                documents_per_second=_EVERY / seconds,
                disk_bytes=index.disk_bytes(),
                memory_bytes=resident_bytes(),
                read_bytes=read_bytes() - read_before,
            )
            points.append(point)
            sys.stderr.write(f"{point}\n")
    return points, busy


def _take_in(matcher: Matcher, stream: Stream, documents: int) -> float:
    seconds = 0.0
    for _ in range(0, documents, _BATCH):
        batch = stream.batch(_BATCH)
        start = perf_counter()
        matcher.remember(matcher.match(batch))
        seconds += perf_counter() - start
    return seconds


if __name__ == "__main__":
    main()
