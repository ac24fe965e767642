"""What a system is asked, and what it answers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

from benchmarks import tokens
from benchmarks.recall.counts import Numbers

HASHES = 128
SEED = 42

Signature = TypeVar("Signature")


class Question(NamedTuple):
    """Which of these texts are similar, at each of the thresholds?"""

    texts: list[str]
    unit: Literal["char", "word"]
    size: int
    thresholds: Sequence[float]

    @property
    def tokenise(self) -> Callable[[str], list[str]]:
        """What cuts a text into shingles."""
        return (tokens.characters if self.unit == "char" else tokens.words)(self.size)


class Answer(NamedTuple):
    """The pairs that a system returned for one threshold, a row each: two places in the texts."""

    name: str
    note: str
    threshold: float
    setting: str
    pairs: Numbers


def banded(bands: int, rows: int) -> str:
    """Write how many bands of how many rows."""
    return f"{bands} × {rows}"


def pairs_in_turn(
    signatures: Sequence[Signature],
    query: Callable[[Signature], Iterable[int]],
    insert: Callable[[int, Signature], object],
) -> Iterator[tuple[int, int]]:
    """Look each document up and index it after that, so that each pair is met once."""
    for later, signature in enumerate(signatures):
        for earlier in query(signature):
            yield earlier, later
        insert(later, signature)
