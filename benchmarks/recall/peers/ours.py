"""`stream_dedup`: what the command `pairs` does, verified in both ways, and not verified."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.recall.counts import Numbers
from benchmarks.recall.peers.question import HASHES, Answer, Question, banded
from stream_dedup.config import EventsSettings, SimilaritySettings
from stream_dedup.corpus import Corpus
from stream_dedup.events import DocumentDecoder
from stream_dedup.files import Source
from stream_dedup.pairs import Pairs, PairSearch
from stream_dedup.similarity.join import Candidates
from stream_dedup.similarity.sketch import Sketcher

OURS = "stream_dedup"

_NOTE = "`stream-dedup pairs --threshold`, bands as `plan` chooses them, verified by signatures"
_EXACT = "the same with `--verify exact`"
_UNVERIFIED = "all pairs of which a band meets: no setting of ours, as what is found is verified"


def answers(question: Question) -> Iterator[Answer]:
    """Return what is found and estimated at the threshold, or truly at it, and all candidates."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "documents.jsonl"
        path.write_bytes(b"".join(_lines(question.texts)))
        for threshold in question.thresholds:
            settings = SimilaritySettings(
                unit=question.unit, size=question.size, threshold=threshold, hashes=HASHES
            )
            corpus = _corpus(path, Sketcher.planned(settings))
            yield from _answers(corpus, threshold)


def _answers(corpus: Corpus, threshold: float) -> Iterator[Answer]:
    setting = banded(corpus.sketcher.bands, corpus.sketcher.rows)
    unverified = PairSearch(corpus, 0, _ignore, _ignore).candidates(_ignore)
    yield Answer(f"{OURS}, unverified", _UNVERIFIED, threshold, setting, _rows(unverified))
    search = PairSearch(corpus, threshold, _ignore, _ignore)
    candidates = list(search.candidates(_ignore))
    estimated = map(search.estimate, candidates)
    yield Answer(OURS, _NOTE, threshold, setting, _rows(estimated))
    with search.elements(candidates, _ignore) as elements:
        compared = (search.compare(elements, batch) for batch in candidates)
        yield Answer(f"{OURS}, exact", _EXACT, threshold, setting, _rows(compared))


def _corpus(path: Path, sketcher: Sketcher) -> Corpus:
    events = EventsSettings()
    source = Source(str(path), events.document_bytes_max)
    return Corpus([source], DocumentDecoder(events), sketcher, len(os.sched_getaffinity(0)))


def _lines(texts: Iterable[str]) -> Iterator[bytes]:
    for place, text in enumerate(texts):
        yield msgspec.json.encode({"id": str(place), "text": text}) + b"\n"


def _rows(batches: Iterable[Pairs | Candidates]) -> Numbers:
    columns = [np.stack([batch.earlier, batch.later], axis=1) for batch in batches]
    return np.concatenate(columns).astype(np.int64)


def _ignore(_: object) -> None:
    pass
