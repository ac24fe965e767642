"""What the programs have in common: documents in, pairs out, and the time of each phase.

The other libraries read a copy of the corpus that is normalised already, by the decoder that we
use too, and are so measured at what they do themselves.
"""

import gzip
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Protocol, Self, TypeVar

import msgspec

HASHES, BANDS, ROWS = 128, 21, 6
SHINGLE_SIZE = 5
THRESHOLD = 0.8
SEED = 42
BATCH = 1000

Pair = tuple[int, int, float]  # the earlier and the later position, and their similarity


class Document(msgspec.Struct):
    """A line of the file."""

    id: str
    text: str


class Report(msgspec.Struct):
    """What a program prints when it is done."""

    pairs: int
    phases: dict[str, float]
    cut: int = 0


class Sketch(Protocol):
    """A signature of one of the other libraries."""

    def jaccard(self, other: Self) -> float: ...


Signature = TypeVar("Signature", bound=Sketch)


class Stopwatch:
    """Adds up what each phase takes."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is done within."""
        start = perf_counter()
        yield
        self.phases[name] = self.phases.get(name, 0.0) + perf_counter() - start


def arguments() -> tuple[Path, Path, str]:
    """Return the file to read, the file to write, and which variant is meant, if any."""
    _, documents, pairs, *variant = sys.argv
    return Path(documents), Path(pairs), "".join(variant)


def batches(path: Path, stopwatch: Stopwatch) -> Iterator[list[Document]]:
    """Read the documents in order."""
    decoder = msgspec.json.Decoder(Document)
    with gzip.open(path) as lines:
        while True:
            with stopwatch.phase("read"):
                batch = [decoder.decode(line) for line in islice(lines, BATCH)]
            if not batch:
                return
            yield batch


def pairs_in_turn(
    sketches: Sequence[Signature],
    query: Callable[[Signature], Iterable[int]],
    insert: Callable[[int, Signature], object],
) -> Iterator[Pair]:
    """Look each document up and index it after that, so that each pair is met once."""
    for later, sketch in enumerate(sketches):
        for earlier in query(sketch):
            similarity = sketch.jaccard(sketches[earlier])
            if similarity >= THRESHOLD:
                yield earlier, later, similarity
        insert(later, sketch)


def write(pairs: Iterable[Pair], ids: Sequence[str], output: Path) -> int:
    """Write a line for each pair; return their number."""
    count = 0
    with output.open("wb") as out:
        for earlier, later, similarity in pairs:
            line = {"a": ids[earlier], "b": ids[later], "similarity": similarity}
            out.write(msgspec.json.encode(line) + b"\n")
            count += 1
    return count


def report(pairs: int, stopwatch: Stopwatch, cut: int = 0) -> None:
    """Print the report."""
    found = Report(pairs, stopwatch.phases, cut)
    sys.stdout.write(msgspec.json.encode(found).decode())
