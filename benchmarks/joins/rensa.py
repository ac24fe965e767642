"""rensa: `RMinHash.from_token_sets`, `RMinHashLSH.query` and `insert` in turn, `jaccard`.

Its number of functions must be a multiple of that of bands: 126, where we have 128.
"""

from rensa import RMinHash, RMinHashLSH

from benchmarks import tokens
from benchmarks.joins.job import (
    BANDS,
    ROWS,
    SEED,
    SHINGLE_SIZE,
    THRESHOLD,
    Stopwatch,
    arguments,
    batches,
    pairs_in_turn,
    report,
    write,
)


def main() -> None:
    """Read and sign all documents, then look each of them up and index it."""
    path, output, variant = arguments()
    quick = variant == "quick-tokens"
    tokenise = (tokens.character_bytes if quick else tokens.characters)(SHINGLE_SIZE)
    stopwatch = Stopwatch()
    ids: list[str] = []
    sketches: list[RMinHash] = []
    for batch in batches(path, stopwatch):
        with stopwatch.phase("shingle and sign"):
            shingles = (tokenise(document.text) for document in batch)
            sketches += RMinHash.from_token_sets(shingles, BANDS * ROWS, SEED)
            ids += [document.id for document in batch]
    index = RMinHashLSH(THRESHOLD, BANDS * ROWS, BANDS)
    with stopwatch.phase("search and write"):
        count = write(pairs_in_turn(sketches, index.query, index.insert), ids, output)
    report(count, stopwatch)


if __name__ == "__main__":
    main()
