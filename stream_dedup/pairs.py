"""Every similar pair of a corpus: sign, join, verify.

Held in memory for each document: its sketch, its place in the buckets, its id, and of candidates
no more than `PARTNERS_AVERAGE_MAX`. Texts are not: where exact similarities are asked for, those
documents that have candidates are read again, and their elements lie in a temporary file.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.corpus import Corpus, RejectedLine, map_ordered
from stream_dedup.decide import kinds
from stream_dedup.similarity.join import (
    Candidates,
    Limits,
    fill_buckets,
    find_candidates,
    group_identical,
)
from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.sketch import Sketches, join_sketches
from stream_dedup.similarity.verify import (
    Similarities,
    agreement_within_reach,
    compare,
    containment,
    estimate,
)

# In the corpora that were looked at no text has more than 221 earlier similar ones, but a bucket
# also holds texts that are not similar. A larger bucket is boilerplate, or one text many times.
BUCKET_SIZE_MAX = 1000
# A text that is there some hundred times still finds all its copies, ...
PARTNERS_MAX = 4000
# ... but if all documents were like that, nobody could read the pairs.
PARTNERS_AVERAGE_MAX = 100

_RANGE = 512  # documents joined at a time

Advance = Callable[[int], None]


class Pairs(NamedTuple):
    """Similar pairs, ordered by the later document and then by the earlier one."""

    earlier: NDArray[np.int32]  # positions
    later: NDArray[np.int32]
    similarity: NDArray[np.float64]
    error: NDArray[np.float64]
    containment: NDArray[np.float64]  # of the later document in the earlier one
    kind: NDArray[np.int8]  # index in `decide.KINDS`


class PairSearch:
    """Finds the similar pairs among the documents of a corpus.

    The steps in their order: `candidates`, and for each batch of them `estimate`; or, when all are
    found, `elements` and for each batch `compare`.
    """

    def __init__(
        self,
        corpus: Corpus,
        threshold: float,
        on_bytes: Advance,
        on_rejected: Callable[[RejectedLine], None],
    ) -> None:
        """Sign all documents; report the bytes read and each line rejected."""
        self.ids: list[str] = []
        self.cut = 0  # documents that may have more similar ones before them than are kept
        self.hidden = 0  # entries passed over in buckets that are too large
        self.corpus = corpus
        self._threshold = threshold
        self._measure = corpus.sketcher.measure
        self._hashes = corpus.sketcher.hashes
        self._budget = 0
        lines, sketches = self._read(on_bytes, on_rejected)
        kept = np.flatnonzero(sketches.sizes)
        self.empty = len(self.ids) - len(kept)  # documents without text: they match nothing
        if self.empty:
            self.ids = [self.ids[index] for index in kept.tolist()]
        self._lines = lines[kept]
        self._groups = group_identical(sketches.fingerprints[kept])
        self._texts = sketches.rows(kept[self._groups.firsts])

    def _read(
        self, on_bytes: Advance, on_rejected: Callable[[RejectedLine], None]
    ) -> tuple[NDArray[np.int64], Sketches]:
        lines = [np.zeros(0, np.int64)]
        sketches = [self.corpus.sketcher.sketch([])]
        for signed in self.corpus.sign():
            on_bytes(signed.bytes_read)
            for line in signed.rejected:
                on_rejected(line)
            self.ids += signed.ids
            lines.append(signed.lines)
            sketches.append(signed.sketches)
        return np.concatenate(lines), join_sketches(sketches)

    def candidates(self, on_documents: Advance) -> Iterator[Candidates]:
        """Yield the candidates within reach of the threshold, no more than the budget allows."""
        agreement_min = agreement_within_reach(self._threshold, self._hashes, self._measure)
        limits = Limits(BUCKET_SIZE_MAX, PARTNERS_MAX, agreement_min)
        threads = self.corpus.threads
        buckets = fill_buckets(self._texts.keys, partial(map_ordered, threads=threads))
        find = partial(find_candidates, self._groups, self._texts.signatures, buckets, limits)
        starts = range(0, len(self.ids), _RANGE)
        ranges = [(start, min(start + _RANGE, len(self.ids))) for start in starts]
        for candidates in map_ordered(lambda bounds: find(*bounds), ranges, threads):
            self.hidden += candidates.hidden
            yield self._within_budget(candidates)
            on_documents(len(candidates.counts))

    def estimate(self, candidates: Candidates) -> Pairs:
        """Return the pairs from the threshold up, estimated; short texts are compared exactly."""
        left, right = self._text_numbers(candidates)
        estimated = estimate(candidates.agreement, self._hashes, self._measure)
        short = self._texts.short
        exact = np.flatnonzero((short.lengths[left] > 0) & (short.lengths[right] > 0))
        compared = compare(short, left[exact], right[exact], self._measure)
        estimated.similarity[exact], estimated.error[exact] = compared
        identical = left == right
        estimated.similarity[identical], estimated.error[identical] = 1, 0
        return self._pairs(candidates, estimated, self._texts.sizes)

    @contextmanager
    def elements(self, found: Sequence[Candidates], on_bytes: Advance) -> Iterator["Elements"]:
        """Read the documents that have candidates again, and keep their elements in a file."""
        involved = np.zeros(len(self._groups.firsts), np.bool_)
        for candidates in found:
            left, right = self._text_numbers(candidates)
            different = left != right
            involved[left[different]] = involved[right[different]] = True
        with tempfile.TemporaryFile() as file:
            lines = self._lines[self._groups.firsts[involved]]
            rows = _write_elements(self.corpus.elements(lines), file, on_bytes)
            sizes = self._texts.sizes.copy()
            if self._measure == "jaccard":
                sizes[involved] = rows.lengths
            yield Elements(rows, np.cumsum(involved) - 1, sizes)

    def compare(self, elements: "Elements", candidates: Candidates) -> Pairs:
        """Return the pairs whose true similarity reaches the threshold."""
        left, right = self._text_numbers(candidates)
        different = np.flatnonzero(left != right)
        similarity, error = np.ones(len(left)), np.zeros(len(left))
        left_rows, right_rows = (
            elements.numbers[left[different]],
            elements.numbers[right[different]],
        )
        similarity[different], _ = compare(elements.rows, left_rows, right_rows, self._measure)
        return self._pairs(candidates, Similarities(similarity, error), elements.sizes)

    def _within_budget(self, candidates: Candidates) -> Candidates:
        """Keep the earliest partners of each document where all together have too many."""
        if candidates.counts.max(initial=0) <= PARTNERS_AVERAGE_MAX:  # nobody has too many
            self._budget += int((PARTNERS_AVERAGE_MAX - candidates.counts).sum())
            self.cut += int(candidates.cut.sum())
            return candidates
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


class Elements(NamedTuple):
    """The elements of the texts that have candidates."""

    rows: Ragged
    numbers: NDArray[np.int64]  # of each text that has a row: which one
    sizes: NDArray[np.int64]  # of all texts, exact for those


def _write_elements(
    blocks: Iterator[tuple[Ragged, int]], file: BinaryIO, on_bytes: Advance
) -> Ragged:
    """Write all rows to the file and return them as they lie there."""
    lengths = [np.zeros(0, np.int64)]
    for rows, bytes_read in blocks:
        file.write(rows.values.tobytes())
        lengths.append(rows.lengths)
        on_bytes(bytes_read)
    file.flush()
    bounds = bounds_of(np.concatenate(lengths))
    if not bounds[-1]:
        return Ragged(np.zeros(0, np.uint64), bounds)
    return Ragged(np.memmap(file, np.uint64, "r"), bounds)
