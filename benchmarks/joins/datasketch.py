"""datasketch: `MinHash.bulk`, `MinHashLSH.query` and `insert` in turn, `jaccard`."""

from functools import partial
from importlib import import_module

from datasketch import MinHash, MinHashLSH

from benchmarks import tokens
from benchmarks.joins.job import (
    BANDS,
    HASHES,
    ROWS,
    SHINGLE_SIZE,
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
    sign = partial(MinHash.bulk, num_perm=HASHES)
    if variant == "xxhash":
        sign = partial(sign, hashfunc=import_module("xxhash").xxh32_intdigest)
    tokenise = tokens.distinct(tokens.characters(SHINGLE_SIZE))
    stopwatch = Stopwatch()
    ids: list[str] = []
    sketches: list[MinHash] = []
    for batch in batches(path, stopwatch):
        with stopwatch.phase("shingle and sign"):
            sketches += sign(tokenise(document.text) for document in batch)
            ids += [document.id for document in batch]
    index = MinHashLSH(num_perm=HASHES, params=(BANDS, ROWS))
    insert = partial(index.insert, check_duplication=False)
    with stopwatch.phase("search and write"):
        count = write(pairs_in_turn(sketches, index.query, insert), ids, output)
    report(count, stopwatch)


if __name__ == "__main__":
    main()
