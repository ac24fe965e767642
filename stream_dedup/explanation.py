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
_WORD_CHARACTERS_MAX = 20  # on average; a text of longer ones is of a script without spaces

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
    in_both = [np.isin(hashes.row(row), hashes.row(1 - row)) for row in (0, 1)]
    spans = [_shingle_spans(rows.row(row), hashes.row(row).size, sketcher) for row in (0, 1)]
    alone = [_spans_alone(rows.row(row), spans[row][in_both[row]]) for row in (0, 1)]
    shared = _spans_shared(rows.row(0), spans[0], in_both[0])
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
        shared=_longest(rows.row(0), shared, passages_max),
    )


def _side(rows: Ragged, hashes: Ragged, row: int, alone: Spans, passages_max: int) -> Side:
    own, others = np.unique(hashes.row(row)), np.unique(hashes.row(1 - row))
    text = rows.row(row)
    return Side(
        characters=len(text),
        shingles=len(own),
        containment=float(np.isin(own, others).mean()) if len(own) else 0.0,
        only=_longest(text, alone, passages_max),
    )


def _shingle_spans(text: NDArray[np.uint32], shingles: int, sketcher: Sketcher) -> Spans:
    """Return where each shingle begins and ends."""
    starts, gap = np.arange(len(text) + 1), 0
    if sketcher.shingling.unit == "word":
        gap = 1
        starts = np.concatenate([[0], np.flatnonzero(text == _SPACE) + 1, [len(text) + gap]])
    width = len(starts) - shingles
    return np.column_stack([starts[:shingles], starts[width:] - gap])


def _spans_alone(text: NDArray[np.uint32], shared: Spans) -> Spans:
    """Return the runs of words in each of which some character lies in no shared shingle."""
    steps = np.zeros(len(text) + 1, np.int64)
    np.add.at(steps, shared[:, 0], 1)
    np.add.at(steps, shared[:, 1], -1)
    return _runs(_whole_words(text, np.cumsum(steps[:-1]) == 0))


def _spans_shared(text: NDArray[np.uint32], spans: Spans, in_both: NDArray[np.bool_]) -> Spans:
    """Return the runs of whole words all of whose shingles are shared, one after the other."""
    runs = _runs(in_both)
    begins, ends = spans[runs[:, 0], 0], spans[runs[:, 1] - 1, 1]
    if not _has_words(text):
        return np.column_stack([begins, ends])
    spaces = np.flatnonzero(text == _SPACE)
    word_begins = np.concatenate([[0], spaces + 1, [len(text)]])
    word_ends = np.concatenate([[0], spaces, [len(text)]])
    begins = word_begins[np.searchsorted(word_begins, begins)]
    ends = word_ends[np.searchsorted(word_ends, ends, side="right") - 1]
    passages: Spans = np.column_stack([begins, ends])[begins < ends]
    return passages


def _whole_words(text: NDArray[np.uint32], marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark a word in full where a part of it is marked, and no space by itself."""
    if not _has_words(text):
        return marked
    letters = text != _SPACE
    word = np.cumsum(~letters)
    touched = np.bincount(word[marked & letters], minlength=len(text) + 1) > 0
    inside: NDArray[np.bool_] = touched[word] & letters
    bridged = inside.copy()
    bridged[1:-1] |= inside[:-2] & inside[2:] & ~letters[1:-1]
    return bridged


def _has_words(text: NDArray[np.uint32]) -> bool:
    """Tell whether spaces stand between words, not only between sentences."""
    return len(text) <= _WORD_CHARACTERS_MAX * (1 + int((text == _SPACE).sum()))


def _runs(marked: NDArray[np.bool_]) -> Spans:
    """Return where each run of marks begins and ends."""
    edges = np.diff(marked.astype(np.int8), prepend=0, append=0)
    return np.column_stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)])


def _longest(text: NDArray[np.uint32], spans: Spans, passages_max: int) -> list[str]:
    """Return the longest passages, each once, in the order in which they stand."""
    passages: dict[str, tuple[int, int]] = {}
    for begin, end in spans[np.argsort(spans[:, 0] - spans[:, 1], kind="stable")].tolist():
        passages.setdefault(as_text(text[begin:end]), (begin, end))
        if len(passages) == passages_max:
            break
    return sorted(passages, key=passages.__getitem__)
