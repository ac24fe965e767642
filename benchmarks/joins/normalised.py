"""Not measured: copy the first documents that have text, as they are and normalised by us."""

import gzip
import sys
from pathlib import Path

import msgspec

from benchmarks.joins.job import Document, Stopwatch, batches
from benchmarks.signers import normalised


def main() -> None:
    """Write both copies and print how many documents they have."""
    path, as_is, ready, count_max = sys.argv[1:]
    left = int(count_max)
    with gzip.open(as_is, "wb", 6) as plain, gzip.open(ready, "wb", 6) as compared:
        for batch in batches(Path(path), Stopwatch()):
            texts = normalised([document.text for document in batch])
            both = [pair for pair in zip(batch, texts, strict=True) if pair[1]][:left]
            for document, text in both:
                plain.write(msgspec.json.encode(document) + b"\n")
                compared.write(msgspec.json.encode(Document(document.id, text)) + b"\n")
            left -= len(both)
    sys.stdout.write(str(int(count_max) - left))


if __name__ == "__main__":
    main()
