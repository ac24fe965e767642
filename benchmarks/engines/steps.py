"""What each step costs in processor time, and how much of that under the interpreter's lock.

Everything runs in one thread here; `lock` says how it is told whether the lock is held.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from time import thread_time
from typing import Any

import msgspec

from benchmarks.engines.job import arguments, batches
from benchmarks.engines.lock import Controls, Sampler
from benchmarks.engines.ours import SETTINGS, a_copy, records, warm_up
from stream_dedup.engine import Matcher, Record, Signer
from stream_dedup.events import Document, DocumentDecoder
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Keyspace
from stream_dedup.interpreter import attune
from stream_dedup.matching import piece
from stream_dedup.matching.overlay import Overlay
from stream_dedup.matching.shelving import Shelving
from stream_dedup.matching.walk import Walk
from stream_dedup.recall import RecallMeter

_DECODE, _ENCODE, _REST = "decode JSON", "encode verdicts", "the rest"
# Calls within others count for themselves only.
CALLS: list[tuple[Any, str, str]] = [
    (Signer, "sign", "sign"),
    (piece.Piece, "__init__", "foretell what is needed"),
    (piece, "fetch", "name and unpack buckets"),
    (piece, "read_known", "unpack signatures"),
    (piece, "meet", "meet and compare"),
    (piece, "Crowds", "meet and compare"),
    (piece, "compared", "meet and compare"),
    (Walk, "decide", "decide"),
    (Shelving, "rewrite", "pack buckets"),
    (Matcher, "_verdicts", "make verdicts"),
    (Overlay, "changes", "pack rows"),
    (RocksIndex, "write", "write"),
    (RecallMeter, "add", "measure recall"),
    (Matcher, "match", _REST),
    (Matcher, "remember", _REST),
]
STEPS = [
    _DECODE,
    "sign",
    "read ids and texts",
    "foretell what is needed",
    "name and unpack buckets",
    "read buckets",
    "unpack signatures",
    "meet and compare",
    "decide",
    "pack buckets",
    "make verdicts",
    _ENCODE,
    "pack rows",
    "write",
    "measure recall",
    _REST,
]


class Cost(msgspec.Struct):
    """Microseconds a document: of this thread's processor time, and of those under the lock."""

    step: str
    processor: float
    locked: float


class Costs(msgspec.Struct):
    """What the program prints: the steps, and what the sampler made of known shares."""

    steps: list[Cost]
    held: float
    free: float
    mixed: float
    mixed_expected: float


class _Spent:
    """What a step took so far."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.held = self.looks = 0


class Meter:
    """Adds up what each step takes, without the steps within it."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._spent: dict[str, _Spent] = defaultdict(_Spent)
        self._steps: list[str] = []
        self._last = (0.0, 0, 0)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what is done within, on this thread."""
        self._turn()
        self._steps.append(name)
        try:
            yield
        finally:
            self._turn()
            self._steps.pop()

    def watch(self, owner: Any, attribute: str, name: str) -> None:
        """Make each call of this function a step."""
        function = getattr(owner, attribute)

        @wraps(function)
        def watched(*given: Any, **named: Any) -> Any:
            with self.step(name):
                return function(*given, **named)

        setattr(owner, attribute, watched)

    def watch_reads(self) -> None:
        """Make reading from the index a step, buckets by themselves."""
        read = RocksIndex.read

        def watched(index: RocksIndex, keyspace: Keyspace, keys: Any) -> Any:
            is_bucket = keyspace is Keyspace.BUCKETS
            with self.step("read buckets" if is_bucket else "read ids and texts"):
                return read(index, keyspace, keys)

        setattr(RocksIndex, "read", watched)  # noqa: B010  # a method is not assigned to

    def costs(self, documents: int) -> list[Cost]:
        """Return what each step cost a document."""
        costs = []
        for name in STEPS:
            spent = self._spent[name]
            microseconds = spent.seconds / documents * 1e6
            costs.append(Cost(name, microseconds, microseconds * spent.held / spent.looks))
        return costs

    def _turn(self) -> None:
        now = (thread_time(), *self._sampler.counts())
        if self._steps:
            spent = self._spent[self._steps[-1]]
            spent.seconds += now[0] - self._last[0]
            spent.held += now[1] - self._last[1]
            spent.looks += now[2] - self._last[2]
        self._last = now


def main() -> None:
    """Take in the texts and measure each step."""
    texts, prepared = arguments()
    with a_copy(prepared) as index:
        matcher, signer = Matcher(index, SETTINGS), Signer(SETTINGS)
        warm_up(matcher, signer)
        portions = list(batches(records(texts.raw, matcher.next_offset)))
        attune()  # as `run` does
        controls = Controls()
        controls.check()
        with Sampler() as sampler:
            meter = Meter(sampler)
            _watch(meter)
            for portion in portions:
                _take_in(portion, meter, signer, matcher)
    costs = Costs(meter.costs(len(texts.raw)), **vars(controls))
    sys.stdout.write(msgspec.json.encode(costs).decode())


def _watch(meter: Meter) -> None:
    for call in CALLS:
        meter.watch(*call)
    meter.watch_reads()


def _take_in(portion: Sequence[Record], meter: Meter, signer: Signer, matcher: Matcher) -> None:
    decoder = DocumentDecoder(SETTINGS.events)
    lines = [_line(record.event) for record in portion]
    with meter.step(_DECODE):
        decoded = [
            record._replace(event=decoder.decode_event(line))
            for record, line in zip(portion, lines, strict=True)
        ]
    matched = matcher.match(signer.sign(decoded))
    with meter.step(_ENCODE):
        for verdict in matched.verdicts:
            verdict.encode()
    matcher.remember(matched)


def _line(event: Any) -> bytes:
    assert isinstance(event, Document)
    return msgspec.json.encode(event)


if __name__ == "__main__":
    main()
