"""`stream_dedup` on texts at hand: what the command `pairs` finds, and what it looks at."""

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from stream_dedup.config import EventsSettings, SimilaritySettings
from stream_dedup.corpus import Corpus
from stream_dedup.events import DocumentDecoder
from stream_dedup.files import Source
from stream_dedup.pairs import Pairs, PairSearch
from stream_dedup.similarity.join import Candidates
from stream_dedup.similarity.sketch import Sketcher

Positions = NDArray[np.int64]

# A pair that shares a band has a higher similarity, so that all such pairs are compared.
_NONE_IS_TOO_FAR = 1e-9


class Found(NamedTuple):
    """Pairs of texts by their positions, and how many documents had more than are listed."""

    earlier: Positions
    later: Positions
    cut: int


def report(texts: Sequence[str], similarity: SimilaritySettings) -> Found:
    """Return what the command reports."""
    with tempfile.TemporaryDirectory() as folder:
        search = _signed(texts, similarity, similarity.threshold, Path(folder))
        found = list(search.candidates(_ignore))
        if similarity.verify == "signature":
            return _of_texts(search, [search.estimate(candidates) for candidates in found])
        with search.elements(found, _ignore) as elements:
            return _of_texts(search, [search.compare(elements, one) for one in found])


def compared(texts: Sequence[str], similarity: SimilaritySettings) -> Found:
    """Return the pairs whose signatures agree well enough to be worth a comparison."""
    return _candidates(texts, similarity, similarity.threshold)


def sharing_a_band(texts: Sequence[str], similarity: SimilaritySettings) -> Found:
    """Return every pair that meets in a bucket: what would be reported without verification."""
    return _candidates(texts, similarity, _NONE_IS_TOO_FAR)


def _candidates(texts: Sequence[str], similarity: SimilaritySettings, reach: float) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        search = _signed(texts, similarity, reach, Path(folder))
        return _of_texts(search, list(search.candidates(_ignore)))


def _signed(
    texts: Sequence[str], similarity: SimilaritySettings, threshold: float, folder: Path
) -> PairSearch:
    """Write the texts as documents whose ids are their positions, and sign them."""
    path = folder / "documents.jsonl"
    with path.open("wb") as out:
        for position, text in enumerate(texts):
            out.write(msgspec.json.encode({"id": str(position), "text": text}) + b"\n")
    events = EventsSettings()
    corpus = Corpus(
        [Source(str(path), events.document_bytes_max)],
        DocumentDecoder(events, texts_only=True),
        Sketcher.planned(similarity),
        os.cpu_count() or 1,
    )
    return PairSearch(corpus, threshold, _ignore, _ignore)


def _of_texts(search: PairSearch, batches: Iterable[Pairs | Candidates]) -> Found:
    """Return the pairs by positions among all texts, those without words included."""
    positions = np.array(search.ids, np.int64)
    none = [np.zeros(0, np.int32)]
    columns = [(batch.earlier, batch.later) for batch in batches]
    earlier, later = (
        np.concatenate(none + [column[side] for column in columns]) for side in (0, 1)
    )
    return Found(positions[earlier], positions[later], search.cut)


def _ignore(_: object) -> None:
    pass
