"""gaoya: `MinHashStringIndex`, a document or a batch at a time.

A batch is inserted before it is looked up, or its documents would not see one another.
"""

from collections.abc import Sequence

from benchmarks.engines.job import arguments, take_in
from benchmarks.joins.gaoya import new_index


def main() -> None:
    """Sign and look up, then sign again and insert."""
    texts, variant = arguments()
    index = new_index()

    def one_by_one(batch: Sequence[str]) -> int:
        duplicates = 0
        for number, text in enumerate(batch, index.size()):
            duplicates += bool(index.query(text))
            index.insert_document(number, text)
        return duplicates

    def in_bulk(batch: Sequence[str]) -> int:
        first, plain = index.size(), list(batch)
        index.par_bulk_insert_docs(list(range(first, first + len(plain))), plain)
        found = index.par_bulk_query(plain, return_similarity=True)
        return sum(
            any(earlier < later for earlier, _ in similar)
            for later, similar in enumerate(found, first)
        )

    take_in(texts.normalised, in_bulk if variant == "bulk" else one_by_one)


if __name__ == "__main__":
    main()
