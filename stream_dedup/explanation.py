"""Why two texts are duplicates or are not: all figures, and the passages that tell most."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.curve import agreement_from_similarity, candidate_probability
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.sketch import Sketcher
from stream_dedup.similarity.text import as_text
from stream_dedup.similarity.verify import compare, estimate

_A, _B = np.array([0]), np.array([1])
_SPACE = 32

Spans = NDArray[np.int64]  # [passage, 2]: where it begins and ends in the normalised text


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two texts, normalised."""

    characters: int
    shingles: int  # distinct ones
    containment: float  # the share of them found in the other text
    only: list[str]  # the longest passages that the other lacks


@dataclass(frozen=True, slots=True)
class Explanation:
    """The two texts compared."""

    duplicate: bool  # by the exact similarity
    threshold: float
    measure: str
    similarity: float  # exact
    estimate: float  # from the signatures
    error: float  # one standard error of the estimate
    bands_shared: int
    bands: int
    rows: int
    candidate_probability: float  # that two texts so similar share a band
    a: Side
    b: Side
    shared: list[str]  # the longest passages found in both


def explain_pair(
    texts: tuple[str, str], sketcher: Sketcher, threshold: float, passages_max: int
) -> Explanation:
    """Compare two texts, and list up to so many passages of each sort."""
    sketches = sketcher.sketch(texts)
    rows = sketcher.normalise(texts)
    hashes = sketcher.shingling.hashes(rows)
    similarity = float(compare(sketcher.ordered(hashes), _A, _B, sketcher.measure).similarity[0])
    agreement = (sketches.signatures[:1] == sketches.signatures[1:]).sum(axis=1)
    estimated = estimate(agreement, sketcher.hashes, sketcher.measure)
    expected = agreement_from_similarity(similarity, sketcher.measure)
    in_both = [_in_both(hashes, row, 1 - row) for row in (0, 1)]
    alone = [
        _whole_words(rows.row(row), ~_covered(rows.row(row), in_both[row], sketcher))
        for row in (0, 1)
    ]
    has_text = bool(rows.lengths.all())
    return Explanation(
        duplicate=has_text and similarity >= threshold,
        threshold=threshold,
        measure=sketcher.measure,
        similarity=similarity,
        estimate=float(estimated.similarity[0]) if has_text else 0.0,
        error=float(estimated.error[0]) if has_text else 0.0,
        bands_shared=int((sketches.keys[0] == sketches.keys[1]).sum()) if has_text else 0,
        bands=sketcher.bands,
        rows=sketcher.rows,
        candidate_probability=float(candidate_probability(expected, sketcher.bands, sketcher.rows)),
        a=_side(rows, hashes, 0, alone[0], passages_max),
        b=_side(rows, hashes, 1, alone[1], passages_max),
        shared=_longest_passages(rows.row(0), ~alone[0], passages_max),
    )


def _side(
    rows: Ragged, hashes: Ragged, row: int, alone: NDArray[np.bool_], passages_max: int
) -> Side:
    own, others = np.unique(hashes.row(row)), np.unique(hashes.row(1 - row))
    text = rows.row(row)
    return Side(
        characters=len(text),
        shingles=len(own),
        containment=float(np.isin(own, others).mean()) if len(own) else 0.0,
        only=_longest_passages(text, alone, passages_max),
    )


def _in_both(hashes: Ragged, row: int, other: int) -> NDArray[np.bool_]:
    return np.isin(hashes.row(row), hashes.row(other))


def _covered(
    text: NDArray[np.uint32], in_both: NDArray[np.bool_], sketcher: Sketcher
) -> NDArray[np.bool_]:
    """Mark the characters that lie in a shingle which the other text has too."""
    starts = np.arange(len(text) + 1)
    if sketcher.shingling.unit == "word":
        starts = np.concatenate([[0], np.flatnonzero(text == _SPACE) + 1, [len(text) + 1]])
    width = len(starts) - len(in_both)
    begins, ends = starts[: len(in_both)][in_both], starts[width:][in_both]
    steps = np.zeros(len(text) + 2, np.int64)
    np.add.at(steps, begins, 1)
    np.add.at(steps, ends, -1)
    covered: NDArray[np.bool_] = np.cumsum(steps[: len(text)]) > 0
    return covered


def _whole_words(text: NDArray[np.uint32], marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark a word in full where a part of it is marked, and no space by itself."""
    letters = text != _SPACE
    word = np.cumsum(~letters)
    touched = np.bincount(word[marked & letters], minlength=len(text) + 1) > 0
    inside: NDArray[np.bool_] = touched[word] & letters
    bridged = inside.copy()
    bridged[1:-1] |= inside[:-2] & inside[2:] & ~letters[1:-1]
    return bridged


def _longest_passages(
    text: NDArray[np.uint32], marked: NDArray[np.bool_], passages_max: int
) -> list[str]:
    """Return the longest marked runs, in the order in which they stand."""
    edges = np.diff(marked.astype(np.int8), prepend=0, append=0)
    spans = np.column_stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)])
    longest = np.argsort(spans[:, 0] - spans[:, 1], kind="stable")[:passages_max]
    passages = [as_text(text[start:end]).strip() for start, end in spans[np.sort(longest)]]
    return [passage for passage in passages if passage]
