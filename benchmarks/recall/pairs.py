"""Made-up pairs of texts of a known similarity, as many of each: a corpus has few of some."""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.recall.counts import BIN_WIDTH, Floats, bins_of
from tests.oracles.text import jaccard, windows

_LETTERS = "etaoinshrdlucmfwypvbgk"
_VOCABULARY = 5000
_WORDS = (50, 180)  # in a text: the shortest and the longest
_TRIES = 6  # for each pair that is wanted

# By how much shingles survive worse than words, of which one is replaced.
_REACH = {"char": 1.42, "word": 3.0}


class MadeUpPairs(NamedTuple):
    """Pair p is the texts 2·p and 2·p + 1; a pair resembles no other."""

    texts: list[str]
    jaccard: Floats


def made_up_pairs(unit: str, size: int, per_bin: int, lowest: float, seed: int) -> MadeUpPairs:
    """Replace words of random texts until each bin has its pairs, or there were enough tries."""
    source = random.Random(seed)
    write = _writer(source)
    wanted = {int(at): per_bin for at in bins_of(np.arange(lowest, 1, BIN_WIDTH) + 1e-6)}
    texts: list[str] = []
    similarities: list[float] = []
    for target in _targets(wanted, per_bin, source):
        first, second = _pair(target, unit, write, source)
        similarity = jaccard(set(windows(first, unit, size)), set(windows(second, unit, size)))
        place = int(bins_of(np.array([similarity]))[0])
        if similarity < 1 and wanted.get(place):
            wanted[place] -= 1
            texts += [first, second]
            similarities.append(similarity)
    return MadeUpPairs(texts, np.array(similarities))


def _writer(source: random.Random) -> Callable[[int], list[str]]:
    """Return what writes so many words."""
    vocabulary = [
        "".join(source.choices(_LETTERS, k=source.randint(2, 9))) for _ in range(_VOCABULARY)
    ]
    return lambda count: source.choices(vocabulary, k=count)


def _targets(wanted: dict[int, int], per_bin: int, source: random.Random) -> Iterator[float]:
    """Yield similarities within the bins that lack pairs."""
    for _ in range(_TRIES * per_bin):
        for place in list(wanted):
            if wanted[place]:
                yield (place + source.random()) * BIN_WIDTH


def _pair(
    target: float, unit: str, write: Callable[[int], list[str]], source: random.Random
) -> tuple[str, str]:
    words = write(source.randint(*_WORDS))
    surviving = (2 * target / (1 + target)) ** (1 / _REACH[unit])
    replaced = max(1, round(len(words) * (1 - surviving)))
    copy = words.copy()
    for place, word in zip(
        source.sample(range(len(words)), replaced), write(replaced), strict=True
    ):
        copy[place] = word
    return " ".join(words), " ".join(copy)
