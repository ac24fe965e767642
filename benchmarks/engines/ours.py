"""`stream_dedup`: into a copy of an index on disk that holds other documents already.

Signing runs ahead in a second thread, where there is a second core.
"""

import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.engines.job import BATCH, Instant, arguments, batches, report
from benchmarks.synthetic import Mix, Stream
from stream_dedup.config import IndexSettings, Settings
from stream_dedup.engine import Matcher, Record, SignedBatch, Signer
from stream_dedup.events import Document, RecordReference
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes
from stream_dedup.interpreter import attune, give_way
from stream_dedup.quantities import Duration

MIX = Mix(near=0.1, exact=0.05)
SETTINGS = Settings(index=IndexSettings(window=Duration("inf")))

_AHEAD = 2  # batches that are signed or wait while one is matched
_WARM_UP = 40_000  # documents: write buffers and caches are then about as they mostly are


def main() -> None:
    """Sign, look up, verify and insert."""
    texts, prepared = arguments()
    with a_copy(prepared) as index:
        matcher, signer = Matcher(index, SETTINGS), Signer(SETTINGS)
        warm_up(matcher, signer)
        portions = list(batches(records(texts.raw, matcher.next_offset)))
        sign = signed_ahead if len(os.sched_getaffinity(0)) > 1 else signed_in_turn
        attune()  # as `run` does
        start = Instant.now()
        duplicates = 0
        for signed in sign(signer, portions):
            matched = matcher.match(signed)
            matcher.remember(matched)
            duplicates += matched.types["duplicate"]
        report(len(texts.raw), start, duplicates)


@contextmanager
def a_copy(prepared: str) -> Iterator[RocksIndex]:
    """Open a copy of the index, so that each run finds the same."""
    with tempfile.TemporaryDirectory(dir=Path(prepared).parent) as directory:
        target = Path(directory) / "index"
        with closing(RocksIndex.open(prepared, SETTINGS.index)) as index:
            index.snapshot(target)
        with closing(RocksIndex.open(target, SETTINGS.index)) as index:
            while not index.has_whole_sieves():  # as it is soon after a start
                index.write(Changes({}, {}, {}))
            yield index


def warm_up(matcher: Matcher, signer: Signer) -> None:
    """Take in synthetic documents, and have the kernels compiled."""
    signer.sign(records(["Load the kernels"], 0))
    stream = Stream(signer.sketcher, MIX, matcher.next_offset)
    for _ in range(0, _WARM_UP, BATCH):
        matcher.remember(matcher.match(stream.batch(BATCH)))


def records(texts: Sequence[str], position: int) -> list[Record]:
    """Make a document of each text."""
    return [
        Record(
            Document(id=f"https://daily.example/{at:012d}", text=text, source=f"outlet-{at % 400}"),
            at,
            1_800_000_000_000 + at,
            RecordReference(topic="documents", partition=0, offset=at),
        )
        for at, text in enumerate(texts, position)
    ]


def signed_in_turn(signer: Signer, portions: Sequence[Sequence[Record]]) -> Iterator[SignedBatch]:
    """Sign each batch when it is asked for."""
    return map(signer.sign, portions)


def signed_ahead(signer: Signer, portions: Sequence[Sequence[Record]]) -> Iterator[SignedBatch]:
    """Sign in a thread of its own."""
    with ThreadPoolExecutor(1, "sign", give_way) as thread:
        waiting = deque(thread.submit(signer.sign, portion) for portion in portions[:_AHEAD])
        for portion in portions[_AHEAD:]:
            signed = waiting.popleft().result()
            waiting.append(thread.submit(signer.sign, portion))
            yield signed
        yield from (signing.result() for signing in waiting)


if __name__ == "__main__":
    main()
