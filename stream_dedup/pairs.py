"""Every similar pair of a corpus: sign, join, verify.

Held in memory for each document: its sketch, its place in the buckets, its id, and of candidates
no more than `PARTNERS_AVERAGE_MAX`. Texts are not: where exact similarities are asked for, those
documents that have candidates are read again, and their elements lie in a temporary file.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.corpus import Corpus, RejectedLine, map_ordered
from stream_dedup.decide import kinds
from stream_dedup.similarity.curve import agreement_from_similarity
from stream_dedup.similarity.join import (
    Candidates,
    Limits,
    fill_buckets,
    find_candidates,
    group_identical,
)
from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.sketch import Sketches, join_sketches
from stream_dedup.similarity.verify import Similarities, compare, containment, estimate

# In the corpora that were looked at no text has more than 221 earlier similar ones, but a bucket
# also holds texts that are not similar. A larger bucket is boilerplate, or one text many times.
BUCKET_SIZE_MAX = 1000
# A text that is there some hundred times still finds all its copies, ...
PARTNERS_MAX = 4000
# ... but if all documents were like that, nobody could read the pairs.
PARTNERS_AVERAGE_MAX = 100

_RANGE = 512  # documents joined at a time
_MARGIN = 4.0  # standard errors by which an estimate may fall short of what it estimates

Verify = Literal["signature", "exact"]
Advance = Callable[[int], None]


class Pairs(NamedTuple):
    """Similar pairs, ordered by the later document and then by the earlier one."""

    earlier: NDArray[np.int32]  # positions
    later: NDArray[np.int32]
    similarity: NDArray[np.float64]
    error: NDArray[np.float64]
    containment: NDArray[np.float64]  # of the later document in the earlier one
    kind: NDArray[np.int8]  # index in `decide.KINDS`


class Contents(NamedTuple):
    """What is remembered of the documents that have text, in order."""

    ids: list[str]
    lines: NDArray[np.int64]
    sketches: Sketches
    empty: int  # documents without text: they match nothing
    rejected: int


def read(
    corpus: Corpus, on_bytes: Advance, on_rejected: Callable[[RejectedLine], None]
) -> Contents:
    """Sign all documents; report each line rejected and the bytes read."""
    ids: list[str] = []
    pieces: list[tuple[NDArray[np.int64], Sketches]] = []
    empty = rejected = 0
    for signed in corpus.sign():
        on_bytes(signed.bytes_read)
        for line in signed.rejected:
            on_rejected(line)
        rejected += len(signed.rejected)
        kept = np.flatnonzero(signed.sketches.sizes)
        empty += len(signed.ids) - len(kept)
        ids += [signed.ids[index] for index in kept]
        pieces.append((signed.lines[kept], signed.sketches.rows(kept)))
    if not pieces:
        return Contents([], np.zeros(0, np.int64), corpus.sketcher.sketch([]), 0, 0)
    lines, sketches = zip(*pieces, strict=True)
    return Contents(ids, np.concatenate(lines), join_sketches(sketches), empty, rejected)


class PairSearch:
    """Finds the similar pairs of documents that were read."""

    def __init__(self, corpus: Corpus, contents: Contents, threshold: float) -> None:
        self._corpus = corpus
        self._lines = contents.lines
        self._groups = group_identical(contents.sketches.fingerprints)
        self._texts = contents.sketches.rows(self._groups.firsts)
        self._measure = corpus.sketcher.measure
        self._hashes = corpus.sketcher.hashes
        self._threshold = threshold
        self._budget = 0
        self.documents = len(contents.ids)
        self.cut = 0  # documents that have more similar ones before them than are listed
        self.hidden = 0  # entries passed over in buckets that are too large

    def by_signature(self, on_documents: Advance) -> Iterator[Pairs]:
        """Yield the pairs from the threshold up, estimated; short texts are compared exactly."""
        for candidates in self._candidates(on_documents):
            left, right = self._text_numbers(candidates)
            estimated = estimate(candidates.agreement, self._hashes, self._measure)
            kept = self._texts.short.lengths > 0
            exact = np.flatnonzero(kept[left] & kept[right])
            compared = compare(self._texts.short, left[exact], right[exact], self._measure)
            estimated.similarity[exact], estimated.error[exact] = compared
            identical = left == right
            estimated.similarity[identical], estimated.error[identical] = 1, 0
            yield self._pairs(candidates, estimated, self._texts.sizes)

    def exactly(self, on_documents: Advance) -> Iterator[Pairs]:
        """Yield the pairs whose true similarity reaches the threshold, once all were found."""
        found = list(self._candidates(on_documents))
        involved = np.zeros(len(self._groups.firsts), np.bool_)
        for candidates in found:
            left, right = self._text_numbers(candidates)
            different = left != right
            involved[left[different]] = involved[right[different]] = True
        numbers = np.cumsum(involved) - 1
        with tempfile.TemporaryFile() as file:
            lines = self._lines[self._groups.firsts[involved]]
            elements = _elements_on_disk(self._corpus.elements(lines), file)
            sizes = self._texts.sizes.copy()
            if self._measure == "jaccard":
                sizes[involved] = elements.lengths
            verified = map_ordered(
                lambda candidates: self._verify(candidates, elements, numbers),
                found,
                self._corpus.threads,
            )
            for candidates, compared in zip(found, verified, strict=True):
                yield self._pairs(candidates, compared, sizes)

    def _candidates(self, on_documents: Advance) -> Iterator[Candidates]:
        """Yield the candidates within reach of the threshold, no more than the budget allows."""
        limits = Limits(BUCKET_SIZE_MAX, PARTNERS_MAX, self._agreement_min())
        buckets = fill_buckets(self._texts.keys)
        find = partial(find_candidates, self._groups, self._texts.signatures, buckets, limits)
        starts = range(0, self.documents, _RANGE)
        ranges = [(start, min(start + _RANGE, self.documents)) for start in starts]
        for candidates in map_ordered(lambda bounds: find(*bounds), ranges, self._corpus.threads):
            self.hidden += candidates.hidden
            yield self._within_budget(candidates)
            on_documents(len(candidates.counts))

    def _agreement_min(self) -> int:
        """Return how many values agree at least, but for a freak, in a pair at the threshold."""
        expected = agreement_from_similarity(self._threshold, self._measure)
        error = np.sqrt(expected * (1 - expected) / self._hashes)
        return int(np.floor((expected - _MARGIN * error) * self._hashes))

    def _within_budget(self, candidates: Candidates) -> Candidates:
        """Keep the earliest partners of each document where all together have too many."""
        kept = []
        for count in candidates.counts.tolist():
            self._budget += PARTNERS_AVERAGE_MAX
            kept.append(min(count, self._budget))
            self._budget -= kept[-1]
        self.cut += int((candidates.cut | (kept < candidates.counts)).sum())
        return candidates.keep_first(np.array(kept, np.int64))

    def _text_numbers(self, candidates: Candidates) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        texts = self._groups.texts
        return texts[candidates.earlier], texts[candidates.later]

    def _verify(
        self, candidates: Candidates, elements: Ragged, numbers: NDArray[np.int64]
    ) -> Similarities:
        left, right = self._text_numbers(candidates)
        different = np.flatnonzero(left != right)
        similarity = np.ones(len(left))
        similarity[different], _ = compare(
            elements, numbers[left[different]], numbers[right[different]], self._measure
        )
        return Similarities(similarity, np.zeros_like(similarity))

    def _pairs(
        self, candidates: Candidates, verified: Similarities, sizes: NDArray[np.int64]
    ) -> Pairs:
        """Return what reaches the threshold, with its kind."""
        reached = np.flatnonzero(verified.similarity >= self._threshold)
        similarity, error = (column[reached] for column in verified)
        left, right = (texts[reached] for texts in self._text_numbers(candidates))
        contained = containment(similarity, sizes[right], sizes[left], self._measure)
        containing = containment(similarity, sizes[left], sizes[right], self._measure)
        return Pairs(
            candidates.earlier[reached],
            candidates.later[reached],
            similarity,
            error,
            contained,
            kinds(left == right, contained, containing, sizes[right], sizes[left]),
        )


def _elements_on_disk(rows: Iterator[Ragged], file: BinaryIO) -> Ragged:
    """Write all rows to the file and return them as they lie there."""
    lengths = [np.zeros(0, np.int64)]
    for piece in rows:
        file.write(piece.values.tobytes())
        lengths.append(piece.lengths)
    file.flush()
    bounds = bounds_of(np.concatenate(lengths))
    if not bounds[-1]:
        return Ragged(np.zeros(0, np.uint64), bounds)
    return Ragged(np.memmap(file, np.uint64, "r"), bounds)
