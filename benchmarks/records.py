"""What is measured, as it lies in results/: raw values of every round, so that render can judge."""

import os
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

COMMITTED = Path(__file__).parent / "results"
FOLDER_VARIABLE = "STREAM_DEDUP_BENCH_RESULTS"  # another folder, for a run that is not committed
RESULTS = Path(os.environ.get(FOLDER_VARIABLE) or COMMITTED)

# Shares of documents that wait no longer than the times of a `Delay` say.
QUANTILES = [*(percent / 100 for percent in range(100)), 0.995, 0.999]

Record = TypeVar("Record", bound=Struct)


class Machine(Struct, frozen=True):
    """Where it was measured."""

    cpu: str
    cores: int  # that the benchmark may use
    memory_gib: float
    system: str
    python: str
    python_build: str  # it moves what runs in the interpreter by 15 %
    versions: dict[str, str]


class Run(Struct, frozen=True):
    """When and how it was measured."""

    date: str
    command: str
    load: float  # processes that wanted a core during the minute before the start
    machine: Machine


class Timing(Struct, frozen=True):
    """A contestant, and what a document cost it in each round."""

    name: str
    note: str
    microseconds: list[float]


class Comparison(Struct, frozen=True):
    """Contestants that took turns on the same texts; ours comes first."""

    texts: str
    documents: int
    shingles: str
    timings: list[Timing]


class SignResults(Struct, frozen=True):
    """Results of `benchmarks.sign`."""

    run: Run
    rounds: int
    characters: int
    hashes: int
    bands: int
    rows: int
    peers: list[Comparison]
    variants: list[Comparison]
    stages: list[Comparison]


class Join(Struct, frozen=True):
    """A system that found the pairs of a file, in a process of its own in each round."""

    name: str
    note: str
    seconds: list[float]
    cpu_seconds: list[float]  # of all cores
    peak_bytes: list[int]
    pairs: int
    phases: dict[str, float]  # seconds, of the median round


class Dense(Struct, frozen=True):
    """The same on near copies of one text."""

    documents: int
    file_bytes: int
    seconds: list[float]
    peak_bytes: list[int]
    pairs: int
    cut: int  # documents with more similar ones before them than are listed
    phases: dict[str, float]


class PairsResults(Struct, frozen=True):
    """Results of `benchmarks.pairs`."""

    run: Run
    rounds: int
    corpus: str
    documents: int
    file_bytes: int
    threshold: float
    joins: list[Join]
    dense: Dense


class Intake(Struct, frozen=True):
    """A system that took in a stream of texts, in a process of its own in each round."""

    name: str
    note: str
    cores: int  # that it could use
    documents: int
    duplicates: int
    microseconds: list[float]  # a document
    processor: list[float]  # microseconds a document, of all threads
    peak_bytes: int


class Step(Struct, frozen=True):
    """Microseconds a document, in each round: of processor time, and of those under the lock."""

    name: str
    processor: list[float]
    locked: list[float]


class LockControl(Struct, frozen=True):
    """Shares of time under the lock that are known, as they were measured beside the steps."""

    held: float  # of a loop in Python: 1
    free: float  # of zlib: 0
    mixed: float  # of both in turn
    mixed_expected: float


class EngineResults(Struct, frozen=True):
    """Results of `benchmarks.engine`."""

    run: Run
    rounds: int
    characters: int
    documents: int
    indexed: int  # documents that our index held before
    batch: int
    intakes: list[Intake]
    steps: list[Step]
    controls: list[LockControl]


class MemoryPoint(Struct, frozen=True):
    """What a process holds after so many documents."""

    documents: int
    resident_bytes: int


class Held(Struct, frozen=True):
    """The memory of a system as its index grows."""

    name: str
    note: str
    points: list[MemoryPoint]  # the first with nearly nothing in the index


class MemoryResults(Struct, frozen=True):
    """Results of `benchmarks.memory`."""

    run: Run
    corpus: str
    held: list[Held]


class ScalePoint(Struct, frozen=True):
    """An index after so many documents; the rate is that of those since the point before."""

    documents: int
    documents_per_second: float
    disk_bytes: int
    memory_bytes: int
    read_bytes: int  # from the disk since the point before, as they were in no cache


class ScaleResults(Struct, frozen=True):
    """Results of `benchmarks.scale`."""

    run: Run
    batch: int
    near: float  # share of near copies
    exact: float
    points: list[ScalePoint]
    closed_bytes: int  # on disk, after the last batch and a close
    compacted_bytes: int
    free_seconds: float  # between the batches, in which only RocksDB worked
    seconds: float  # in all


class WindowPoint(Struct, frozen=True):
    """An index at so many windows of log time; times are those since the point before."""

    windows: float
    disk_bytes: int
    rows: int  # in all keyspaces, as RocksDB estimates them
    lookup_microseconds: float  # a document: to match
    write_microseconds: float  # a document: to remember


class WindowResults(Struct, frozen=True):
    """Results of `benchmarks.window`."""

    run: Run
    batch: int
    documents: int  # in a window
    copies: float  # share of copies that renew an old group
    near: float
    points: list[WindowPoint]


class Delay(Struct, frozen=True):
    """Milliseconds from writing a document until what follows from it can be read: quantiles."""

    rate: int  # documents a second
    bare: list[float]
    service: list[float]

    @property
    def bare_median(self) -> float:
        """Half of the documents wait no longer in two bare copies."""
        return self.bare[QUANTILES.index(0.5)]

    @property
    def bare_99(self) -> float:
        """99 in 100 wait no longer."""
        return self.bare[QUANTILES.index(0.99)]

    @property
    def median(self) -> float:
        """Half of the documents wait no longer for the service."""
        return self.service[QUANTILES.index(0.5)]

    @property
    def worst_99(self) -> float:
        """99 in 100 wait no longer."""
        return self.service[QUANTILES.index(0.99)]


class Questions(Struct, frozen=True):
    """Milliseconds from asking to the answer, the connection included."""

    rate: int  # documents a second that stream in meanwhile
    asked: int
    median: float
    worst_99: float


class ServiceResults(Struct, frozen=True):
    """Results of `benchmarks.service`."""

    run: Run
    documents: int
    batch: int  # of the best bare copy
    copies_per_second: list[float]  # of that copy and of the service, which took turns
    documents_per_second: list[float]
    signed: int  # documents in the log of which an index was restored
    restored_per_second: float
    matched_per_second: float  # the same documents out of memory
    delays: list[Delay]
    questions: Questions


def save(name: str, record: Struct) -> None:
    """Write results/NAME.json."""
    text = msgspec.json.format(msgspec.json.encode(_rounded(record)), indent=1)
    (RESULTS / f"{name}.json").write_bytes(text + b"\n")


def load(name: str, kind: type[Record], folder: Path | None = None) -> Record:
    """Read results/NAME.json, or the file of that name in another folder."""
    return msgspec.json.decode(((folder or RESULTS) / f"{name}.json").read_bytes(), type=kind)


def _rounded(value: object) -> object:
    """Return the same with numbers of five digits, as no clock here is better than that."""
    if isinstance(value, Struct):
        return _rounded(msgspec.to_builtins(value))
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value
