"""What the programs have in common: texts in, a report out."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple, Self, TypeVar

import msgspec

from benchmarks.machine import peak_bytes
from stream_dedup.config import KafkaSettings

BATCH = KafkaSettings().batch_size_max  # as many as the product takes at a time

Item = TypeVar("Item")


class Texts(msgspec.Struct):
    """The stream: as it comes for us, normalised already for the others."""

    raw: list[str]
    normalised: list[str]


class Report(msgspec.Struct):
    """What a program prints when it is done."""

    documents: int
    seconds: float
    processor_seconds: float  # of all threads
    duplicates: int  # documents with an earlier one at the threshold or above
    peak_bytes: int


class Instant(NamedTuple):
    """Seconds on the wall, and of processor time of all threads."""

    wall: float
    processor: float

    @classmethod
    def now(cls) -> Self:
        """Read both clocks."""
        return cls(perf_counter(), process_time())


def arguments() -> tuple[Texts, str]:
    """Return as many texts as are to be taken in, and which variant is meant, if any."""
    _, path, count, *variant = sys.argv
    texts = msgspec.msgpack.decode(Path(path).read_bytes(), type=Texts)
    kept = slice(int(count))
    return Texts(texts.raw[kept], texts.normalised[kept]), "".join(variant)


def batches(stream: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Cut the stream."""
    return (stream[start : start + BATCH] for start in range(0, len(stream), BATCH))


def take_in(texts: Sequence[str], count_duplicates: Callable[[Sequence[str]], int]) -> None:
    """Hand over the stream a batch at a time, and print what that took."""
    start = Instant.now()
    duplicates = sum(map(count_duplicates, batches(texts)))
    report(len(texts), start, duplicates)


def report(documents: int, start: Instant, duplicates: int) -> None:
    """Print the report of what ends now."""
    end = Instant.now()
    seconds, processor_seconds = end.wall - start.wall, end.processor - start.processor
    printed = Report(documents, seconds, processor_seconds, duplicates, peak_bytes())
    sys.stdout.write(msgspec.json.encode(printed).decode())
