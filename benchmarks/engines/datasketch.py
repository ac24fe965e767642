"""datasketch: `MinHash.bulk` a batch, then `MinHashLSH.query`, `jaccard` and `insert`."""

from collections.abc import Sequence
from functools import partial
from importlib import import_module

from datasketch import MinHash, MinHashLSH

from benchmarks import tokens
from benchmarks.engines.job import arguments, take_in
from benchmarks.joins.job import BANDS, HASHES, ROWS, SHINGLE_SIZE, THRESHOLD


def main() -> None:
    """Sign, look up, verify and insert."""
    texts, variant = arguments()
    sign = partial(MinHash.bulk, num_perm=HASHES)
    if variant == "xxhash":
        sign = partial(sign, hashfunc=import_module("xxhash").xxh32_intdigest)
    tokenise = tokens.distinct(tokens.characters(SHINGLE_SIZE))
    index = MinHashLSH(num_perm=HASHES, params=(BANDS, ROWS))
    known: list[MinHash] = []

    def count_duplicates(batch: Sequence[str]) -> int:
        duplicates = 0
        for sketch in sign(map(tokenise, batch)):
            candidates = index.query(sketch)
            duplicates += any(sketch.jaccard(known[key]) >= THRESHOLD for key in candidates)
            index.insert(len(known), sketch, check_duplication=False)
            known.append(sketch)
        return duplicates

    take_in(texts.normalised, count_duplicates)


if __name__ == "__main__":
    main()
