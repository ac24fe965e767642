"""What the engine asks of the world."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol


class Keyspace(StrEnum):
    """What is remembered, by what it is asked for; `index/layout.py` draws keys and values."""

    BUCKETS = "buckets"
    TEXTS = "texts"
    EXACT = "exact"
    IDS = "ids"
    CLUSTERS = "clusters"
    ORIGINALS = "originals"


class Puts(NamedTuple):
    """Rows to write, in ascending order of their keys, each key once."""

    keys: Sequence[bytes]
    values: Sequence[bytes]


class Changes(NamedTuple):
    """All that one batch changes: applied as a whole or not at all."""

    puts: Mapping[Keyspace, Puts]
    deletes: Mapping[Keyspace, Sequence[bytes]]
    meta: Mapping[str, bytes]


class Index(Protocol):
    """What is remembered: rows of two generations, of which the current one shadows the previous.

    One writer; any number of threads may read beside it. A batch is visible as a whole once
    `write` returns, and survives the end of the process at any moment after that.
    """

    def read(self, keyspace: Keyspace, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, or None; ascending keys are read fastest."""
        ...

    def scan(self, keyspace: Keyspace) -> Iterator[tuple[bytes, bytes]]:
        """Yield all rows in the order of their keys, as they were when the scan began."""
        ...

    def meta(self) -> dict[str, bytes]:
        """Return all entries of the keyspace that has no generations."""
        ...

    def write(self, changes: Changes) -> None:
        """Put rows into the current generation, delete rows in both, set entries of meta."""
        ...

    def rotate(self, meta: Mapping[str, bytes]) -> None:
        """Forget the previous generation; the current one takes its place, an empty one its own."""
        ...

    def close(self) -> None:
        """Release everything; a second call does nothing."""
        ...
