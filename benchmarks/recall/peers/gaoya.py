"""gaoya: `MinHashStringIndex` with its default bands, and with those it calculates.

Its index checks what it finds by its own estimate.
"""

from collections.abc import Iterator

from gaoya.minhash import MinHashStringIndex

from benchmarks.recall.counts import as_rows
from benchmarks.recall.peers.question import HASHES, Answer, Question

_BATCH = 1000
_DEFAULTS = "`MinHashStringIndex(jaccard_threshold=threshold)`, bulk insert and query"
_CALCULATED = (
    f"the same with `num_bands=None, band_size=None, num_hashes={HASHES}`: it then calculates bands"
)


def answers(question: Question) -> Iterator[Answer]:
    """Return what each index returns."""
    calculated = {"num_bands": None, "band_size": None, "num_hashes": HASHES}
    for threshold in question.thresholds:
        for name, note, options in (
            ("gaoya", _DEFAULTS, {}),
            ("gaoya, calculated", _CALCULATED, calculated),
        ):
            index = MinHashStringIndex(
                jaccard_threshold=threshold, analyzer=question.tokenise, **options
            )
            pairs = as_rows(_pairs(index, question.texts))
            yield Answer(name, note, threshold, _setting(index), pairs)


def _pairs(index: MinHashStringIndex, texts: list[str]) -> Iterator[tuple[int, int]]:
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        index.par_bulk_insert_docs(list(range(start, start + len(batch))), batch)
        for later, similar in enumerate(index.par_bulk_query(batch), start):
            yield from ((earlier, later) for earlier in similar if earlier < later)


def _setting(index: MinHashStringIndex) -> str:
    """Read bands and rows off what the index prints of itself."""
    words = str(index).replace(",", "").split()
    bands, rows = (words[words.index(name) + 2] for name in ("bands", "rows_per_band"))
    return f"{bands} × {rows}"
