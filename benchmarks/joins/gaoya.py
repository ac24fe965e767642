"""gaoya: `MinHashStringIndex.par_bulk_insert_docs` and `par_bulk_query` for each batch in turn."""

from collections.abc import Iterator
from pathlib import Path

from gaoya.minhash import MinHashStringIndex

from benchmarks.joins.job import (
    BANDS,
    ROWS,
    SHINGLE_SIZE,
    THRESHOLD,
    Pair,
    Stopwatch,
    arguments,
    batches,
    report,
    write,
)


def main() -> None:
    """Read and index a batch, and look its documents up among all that came before."""
    path, output, _ = arguments()
    stopwatch = Stopwatch()
    ids: list[str] = []
    report(write(_pairs(path, ids, stopwatch), ids, output), stopwatch)


def new_index() -> MinHashStringIndex:
    """Return an index with the settings of all contestants."""
    return MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=BANDS,
        band_size=ROWS,
        analyzer="char",
        ngram_range=(SHINGLE_SIZE, SHINGLE_SIZE),
        id_container="vec",
    )


def _pairs(path: Path, ids: list[str], stopwatch: Stopwatch) -> Iterator[Pair]:
    index = new_index()
    for batch in batches(path, stopwatch):
        first = len(ids)
        ids += [document.id for document in batch]
        texts = [document.text for document in batch]
        with stopwatch.phase("sign and index"):
            index.par_bulk_insert_docs(list(range(first, len(ids))), texts)
        with stopwatch.phase("sign again and search"):
            found = index.par_bulk_query(texts, return_similarity=True)
        for later, similar in enumerate(found, first):
            for earlier, similarity in similar:
                if earlier < later:
                    yield earlier, later, similarity


if __name__ == "__main__":
    main()
