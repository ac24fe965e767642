"""rensa: `RMinHash.from_token_sets` a batch, then `RMinHashLSH.query`, `jaccard` and `insert`."""

from collections.abc import Sequence

from rensa import RMinHash, RMinHashLSH

from benchmarks import tokens
from benchmarks.engines.job import arguments, take_in
from benchmarks.joins.job import BANDS, ROWS, SEED, SHINGLE_SIZE, THRESHOLD


def main() -> None:
    """Sign, look up, verify and insert."""
    texts, variant = arguments()
    quick = variant == "quick"
    tokenise = (tokens.character_bytes if quick else tokens.characters)(SHINGLE_SIZE)
    index = RMinHashLSH(THRESHOLD, BANDS * ROWS, BANDS)
    known: list[RMinHash] = []

    def count_duplicates(batch: Sequence[str]) -> int:
        duplicates = 0
        for sketch in RMinHash.from_token_sets(map(tokenise, batch), BANDS * ROWS, SEED):
            candidates = index.query(sketch)
            duplicates += any(sketch.jaccard(known[key]) >= THRESHOLD for key in candidates)
            index.insert(len(known), sketch)
            known.append(sketch)
        return duplicates

    take_in(texts.normalised, count_duplicates)


if __name__ == "__main__":
    main()
