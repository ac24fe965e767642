"""Signed documents without texts: new ones, near copies and exact copies, as the engine gets them.

A story is what copies have in common. All of it follows from its number, so that the millions of
stories that a copy may go back to need no memory.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.events import RecordReference
from stream_dedup.signing import SignedBatch
from stream_dedup.similarity.bands import band_keys
from stream_dedup.similarity.minhash import shortened
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.sketch import Sketcher, Sketches

Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]

_SEED = 7
_START = 1_767_225_600_000  # milliseconds: a time of today's length
_OUTLETS = 400
_PARTITIONS = 8
_CHANGED = 0.1  # of a near copy's signature: its similarity is about 0.9
_TEXTS_OF_NEAR_COPIES = 1 << 40  # numbers of texts above it; those of stories lie below


class Mix(NamedTuple):
    """Which share of the documents are copies, and of which stories."""

    near: float
    exact: float
    reach: int | None = None  # copies go back to the stories of so many documents, or to all
    evergreens: int = 0  # half the exact copies are of so many first stories, again and again

    @property
    def new(self) -> float:
        return 1 - self.near - self.exact


class Stream:
    """Documents without end from a position on, `INTERVAL` milliseconds apart."""

    INTERVAL = 10

    def __init__(self, sketcher: Sketcher, mix: Mix, position: int = 0) -> None:
        self._sketcher, self._mix, self._position = sketcher, mix, position
        self._stories = int(position * mix.new)
        self._random = np.random.default_rng([_SEED, position])
        self._outlets = list(_outlets())

    def batch(self, count: int) -> SignedBatch:
        """Return the next documents."""
        positions = np.arange(self._position, self._position + count)
        stories, is_near = self._draw(count)
        self._position += count
        places = positions.tolist()
        sources = [self._outlets[at] for at in self._random.integers(_OUTLETS, size=count)]
        return SignedBatch(
            positions=places,
            times=(_START + positions * self.INTERVAL).tolist(),
            references=[_reference(position) for position in places],
            ids=[_url(*pair) for pair in zip(sources, places, strict=True)],
            namespaces=[""] * count,
            sources=sources,
            deleted=[False] * count,
            sketches=self._sketches(positions, stories, is_near),
            originals=None,
        )

    def _draw(self, count: int) -> tuple[Numbers, Flags]:
        """Return the story of each document, and whether it tells it with other words."""
        mix = self._mix
        kind = self._random.random(count) if self._stories else np.ones(count)
        is_near = kind < mix.near
        is_exact = ~is_near & (kind < mix.near + mix.exact)
        is_new = ~is_near & ~is_exact
        reach = self._stories if mix.reach is None else int(mix.reach * mix.new)
        first = max(0, self._stories - reach)
        stories = self._random.integers(first, max(1, self._stories), size=count)
        if mix.evergreens:
            again = is_exact & (self._random.random(count) < 0.5)
            stories[again] = self._random.integers(mix.evergreens, size=int(again.sum()))
        stories[is_new] = np.arange(self._stories, self._stories + is_new.sum())
        self._stories += int(is_new.sum())
        return stories, is_near

    def _sketches(self, positions: Numbers, stories: Numbers, is_near: Flags) -> Sketches:
        sketcher, count = self._sketcher, len(positions)
        values = _mixed(stories, 4, sketcher.hashes).astype(np.uint32)
        changed = self._random.random(values.shape) < _CHANGED
        changed &= is_near[:, None]
        values[changed] = self._random.integers(2**32, size=int(changed.sum()), dtype=np.uint32)
        texts = np.where(is_near, positions + _TEXTS_OF_NEAR_COPIES, stories)
        sizes = 300 + _mixed(stories, 2, 1)[:, 0] % np.uint64(6000)
        return Sketches(
            signatures=shortened(values),
            keys=band_keys(values, sketcher.bands, sketcher.rows),
            fingerprints=_mixed(texts, 0, 2),
            sizes=sizes.astype(np.int64),
            short=Ragged(np.empty(0, np.uint64), np.zeros(count + 1, np.int64)),
        )


def _mixed(numbers: Numbers, first: int, count: int) -> Words:
    """Return `count` pseudo-random words for each number, from its word `first` on."""
    columns = np.arange(first, first + count, dtype=np.uint64)
    words = (numbers.astype(np.uint64)[:, None] << np.uint64(12)) + columns + np.uint64(_SEED)
    words *= np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


def _outlets() -> Iterator[str]:
    names = ("daily-herald", "gazette", "evening-post", "wire", "il-mattino", "morning-chronicle")
    return (f"{names[number % len(names)]}-{number}" for number in range(_OUTLETS))


def _url(source: str, position: int) -> str:
    return f"https://{source}.example/2026/{position:010d}"


def _reference(position: int) -> RecordReference:
    return RecordReference(
        topic="documents", partition=position % _PARTITIONS, offset=position // _PARTITIONS
    )
