"""A sample of a corpus: some of its documents drawn at random, and how similar they are."""

import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stream_dedup.config import Settings
from stream_dedup.corpus import RejectedLine
from stream_dedup.errors import DocumentRejected, InputError
from stream_dedup.events import DocumentDecoder
from stream_dedup.files import Source
from stream_dedup.similarity.curve import FloatArray, Measure
from stream_dedup.similarity.html import strip_tags
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.recommendation import Recommendation, recommend
from stream_dedup.similarity.shingles import Shingling
from stream_dedup.similarity.text import normalise
from stream_dedup.similarity.verify import compare

# Enough to know lengths and scripts, and with short texts half a million pairs.
_DOCUMENTS = 1000
# All pairs cost documents times characters: some seconds.
_DOCUMENTS_TIMES_CHARACTERS_MAX = 10**9
_SEED = 0  # the same file gives the same sample


class Sample(NamedTuple):
    """What was learned from documents like the user's."""

    similarities: FloatArray  # exact ones, of all pairs of drawn documents
    shingling: Shingling  # in which they were compared
    recommendation: Recommendation
    rejected: list[RejectedLine]

    def unrelated(self, threshold: float) -> FloatArray:
        """Return the similarities of the pairs that are no duplicates."""
        return self.similarities[self.similarities < threshold]


def take_sample(name: str, settings: Settings, in_chosen_shingles: bool) -> Sample:
    """Draw documents and compare them in the shingles of the settings, or in recommended ones."""
    source = Source(name, settings.events.document_bytes_max)
    texts, rejected = _draw_texts(source, DocumentDecoder(settings.events, texts_only=True))
    similarity = settings.similarity
    rows = normalise([strip_tags(text) for text in texts] if similarity.html == "strip" else texts)
    rows = Ragged(rows.values, np.unique(rows.bounds))  # without empty texts, which match nothing
    if rows.rows < 2:
        why = f"; line {rejected[0].number}: {rejected[0].reason}" if rejected else ""
        raise InputError(f"{source.name}: a sample takes at least two documents with text{why}")
    found = recommend(rows)
    shingling = Shingling(found.unit, found.size, similarity.multiset)
    if in_chosen_shingles:
        shingling = Shingling(similarity.unit, similarity.size, similarity.multiset)
    return Sample(_similarities(rows, shingling, similarity.measure), shingling, found, rejected)


def _similarities(rows: Ragged, shingling: Shingling, measure: Measure) -> FloatArray:
    costs = np.arange(1, rows.rows + 1) * rows.bounds[1:]
    count = max(2, int(np.searchsorted(costs, _DOCUMENTS_TIMES_CHARACTERS_MAX)))
    bounds = rows.bounds[: count + 1]
    hashes = shingling.hashes(Ragged(rows.values[: bounds[-1]], bounds))
    elements = shingling.elements(hashes, counts=measure == "cosine")
    return compare(elements, *np.triu_indices(count, 1), measure).similarity


def _draw_texts(source: Source, decoder: DocumentDecoder) -> tuple[list[str], list[RejectedLine]]:
    texts, rejected = [], []
    for number, line in _draw(_lines(source)):
        try:
            texts.append(decoder.decode(line, key=b"-").text)  # ids do not matter here
        except DocumentRejected as error:
            rejected.append(RejectedLine(source.name, number, error.reason))
    return texts, sorted(rejected)


def _draw(lines: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Return lines drawn with equal chances, in random order, in one pass."""
    rng = random.Random(_SEED)
    drawn: list[tuple[int, bytes]] = []
    for seen, line in enumerate(lines):
        if seen < _DOCUMENTS:
            drawn.append(line)
        elif (place := rng.randrange(seen + 1)) < _DOCUMENTS:
            drawn[place] = line
    rng.shuffle(drawn)
    return drawn


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    for block in source.blocks():
        for number, line in enumerate(block.lines, start=block.first_line):
            if line.strip():
                yield number, line
