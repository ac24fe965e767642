"""That disk and look-up stay flat while a window passes over a steady input, many times.

A fifth of the documents are exact copies that renew an old group: half of them one of the last
nine tenths of a window, half one of a few that are renewed again and again, and so never end.
"""

import argparse
import sys
import tempfile
from contextlib import closing
from time import perf_counter

from benchmarks.machine import this_run
from benchmarks.records import WindowPoint, WindowResults, save
from benchmarks.synthetic import Mix, Stream
from stream_dedup.config import IndexSettings, Settings
from stream_dedup.engine import Matcher, Signer
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.quantities import Duration, Size

_BATCH = 2000
_POINTS = 4  # a window
_COPIES, _NEAR = 0.2, 0.05
_REACH = 0.9  # of a window, back to what a copy may renew
_EVERGREENS = 1000
# So little that most of the index lies in files, as it does when it is large.
_MEMORY = Size(64 << 20)


def main() -> None:
    """Measure and write results/window.json."""
    arguments = _arguments()
    run = this_run("benchmarks.window")
    results = WindowResults(
        run=run,
        batch=_BATCH,
        documents=arguments.documents,
        copies=_COPIES,
        near=_NEAR,
        points=_points(arguments.documents, arguments.windows),
    )
    save("window", results)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.window", description=__doc__)
    parser.add_argument("--documents", type=int, default=200_000, help="a window [%(default)s]")
    parser.add_argument("--windows", type=int, default=12, help="[%(default)s]")
    return parser.parse_args()


def _points(documents: int, windows: int) -> list[WindowPoint]:
    seconds = documents * Stream.INTERVAL / 1000
    settings = Settings(index=IndexSettings(window=Duration(seconds), memory_bytes_max=_MEMORY))
    mix = Mix(_NEAR, _COPIES, reach=int(documents * _REACH), evergreens=_EVERGREENS)
    stream = Stream(Signer(settings).sketcher, mix)
    points: list[WindowPoint] = []
    with (
        tempfile.TemporaryDirectory() as directory,
        closing(RocksIndex.open(directory, settings.index)) as index,
    ):
        matcher = Matcher(index, settings)
        while len(points) < windows * _POINTS:
            lookup, write = _take_in(matcher, stream, documents // _POINTS)
            point = WindowPoint(
                windows=(1 + len(points)) / _POINTS,
                disk_bytes=index.disk_bytes(),
                rows=sum(size.rows_estimated for size in index.sizes().values()),
                lookup_microseconds=lookup,
                write_microseconds=write,
            )
            points.append(point)
            sys.stderr.write(f"{point}\n")
    return points


def _take_in(matcher: Matcher, stream: Stream, documents: int) -> tuple[float, float]:
    """Return the microseconds a document that matching and remembering took."""
    lookup = write = 0.0
    for _ in range(0, documents, _BATCH):
        batch = stream.batch(_BATCH)
        start = perf_counter()
        matched = matcher.match(batch)
        middle = perf_counter()
        matcher.remember(matched)
        lookup += middle - start
        write += perf_counter() - middle
    return lookup / documents * 1e6, write / documents * 1e6


if __name__ == "__main__":
    main()
