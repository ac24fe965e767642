"""Settings against what people call copies: every unit, size, measure and threshold of a grid.

Here all documents are compared with all others, without bands, so that the settings are judged and
not the search. The similarities are those of our own shingles; sparse matrices multiply them out.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.corpora.matches import mean_f1, setting_of
from benchmarks.corpora.records import HeldOut, Labels, Match, Setting
from benchmarks.corpora.texts import Labelled
from stream_dedup.config import SimilaritySettings
from stream_dedup.similarity.shingles import Shingling, Unit
from stream_dedup.similarity.text import normalise

Floats = NDArray[np.float64]
Matrix = Any  # of scipy, which has no types
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]  # reported, and right among them

THRESHOLDS = np.arange(30, 100, 5) / 100
SHINGLES: list[tuple[Unit, int]] = [
    *(("char", 3), ("char", 4), ("char", 5), ("char", 7), ("char", 9)),
    *(("word", 1), ("word", 2), ("word", 3)),
]
QUICK_SHINGLES: list[tuple[Unit, int]] = [("char", 5), ("char", 9), ("word", 1), ("word", 3)]
MEASURES = ("jaccard", "cosine")
_KEPT = 8  # units, sizes and measures
_BLOCK = 500  # documents that are compared with all others at a time
_SLACK = 1e-9  # sums of floating-point numbers may fall short of a threshold


def judge(corpus: str, sets: Sequence[Labelled], shingles: Iterable[tuple[Unit, int]]) -> Labels:
    """Try the grid; keep the best threshold of each unit, size and measure."""
    matches = [match for unit, size in shingles for match in _matches(sets, unit, size)]
    copies = [len(one.copies) for one in sets]
    ranked = _best_thresholds(matches, copies)
    default = next(match for match in matches if match.setting == _default())
    return Labels(
        corpus=corpus,
        sets=[one.name for one in sets],
        documents=[len(one.texts) for one in sets],
        copies=copies,
        best=ranked[:_KEPT],
        default=default,
        held_out=_held_out(matches, copies, [one.name for one in sets]),
    )


def _default() -> Setting:
    return setting_of(SimilaritySettings())


def _matches(sets: Sequence[Labelled], unit: Unit, size: int) -> Iterator[Match]:
    """Yield a match for each measure and threshold."""
    counts = [_shingle_counts(one.texts, Shingling(unit, size)) for one in sets]
    for measure in MEASURES:
        pairs = zip(sets, counts, strict=True)
        counted = [_count(one, _similarities(rows, measure)) for one, rows in pairs]
        for place, threshold in enumerate(THRESHOLDS.tolist()):
            reported, right = ([int(each[side][place]) for each in counted] for side in (0, 1))
            yield Match(Setting(unit, size, measure, threshold), reported, right)


def _best_thresholds(matches: Iterable[Match], copies: Sequence[int]) -> list[Match]:
    best: dict[Setting, Match] = {}
    for match in sorted(matches, key=lambda match: -mean_f1(match, copies)):
        best.setdefault(replace(match.setting, threshold=0.0), match)
    return list(best.values())


def _held_out(
    matches: Sequence[Match], copies: Sequence[int], names: Sequence[str]
) -> list[HeldOut]:
    """Choose by all sets but one, for each of them; a single set leaves none to choose by."""
    found = []
    for place, name in enumerate(names if len(names) > 1 else []):
        others = [count for other, count in enumerate(copies) if other != place]
        chosen = max(matches, key=lambda match: mean_f1(_without(match, place), others))
        found.append(HeldOut(name, chosen))
    return found


def _without(match: Match, place: int) -> Match:
    reported, right = (
        counts[:place] + counts[place + 1 :] for counts in (match.reported, match.right)
    )
    return Match(match.setting, reported, right)


def _count(labelled: Labelled, similarities: Iterable[tuple[int, Floats]]) -> Counts:
    """Count, for each threshold, the pairs that reach it, and the copies among them."""
    reported, right = np.zeros(len(THRESHOLDS), np.int64), np.zeros(len(THRESHOLDS), np.int64)
    copies = np.array(sorted(labelled.copies), np.int64).reshape(-1, 2)
    for start, block in similarities:
        end = start + len(block)
        counted = np.arange(block.shape[1]) > np.arange(start, end)[:, None]
        if labelled.judged is not None:
            counted &= labelled.judged[start:end]
        reported += _reaching(block[counted])
        own = copies[(copies[:, 0] >= start) & (copies[:, 0] < end)]
        right += _reaching(block[own[:, 0] - start, own[:, 1]])
    return reported, right


def _reaching(similarities: Floats) -> NDArray[np.int64]:
    """Count those at each threshold or above."""
    reached = np.searchsorted(THRESHOLDS, similarities + _SLACK, side="right")
    counts = np.bincount(reached, minlength=len(THRESHOLDS) + 1)
    return counts[:0:-1].cumsum()[::-1]


def _similarities(counts: Matrix, measure: str) -> Iterator[tuple[int, Floats]]:
    """Yield the similarities of some documents to all, with the position of the first of them."""
    if measure == "jaccard":
        counts = counts.sign()
    squares = counts.multiply(counts).sum(axis=1)
    columns = counts.T.tocsr()
    for start in range(0, counts.shape[0], _BLOCK):
        rows = slice(start, start + _BLOCK)
        products = (counts[rows] @ columns).toarray()
        if measure == "jaccard":
            whole = squares[rows, None] + squares[None, :] - products
        else:
            whole = np.sqrt(squares[rows, None] * squares[None, :])
        yield start, products / np.maximum(whole, 1)


def _shingle_counts(texts: Sequence[str], shingling: Shingling) -> Matrix:
    """Return a row for each text: how often it has each shingle."""
    ordered = shingling.elements(shingling.hashes(normalise(texts)), counts=True)
    fresh = np.ones(len(ordered.values), np.bool_)
    fresh[1:] = ordered.values[1:] != ordered.values[:-1]
    fresh[ordered.bounds[:-1][ordered.lengths > 0]] = True
    places = np.flatnonzero(fresh)
    counts = np.diff(places, append=len(fresh)).astype(np.float64)
    distinct, columns = np.unique(ordered.values[places], return_inverse=True)
    bounds = np.searchsorted(places, ordered.bounds)
    return csr_array((counts, columns, bounds), shape=(len(texts), max(1, len(distinct))))
