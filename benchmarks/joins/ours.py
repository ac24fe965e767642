"""`stream_dedup`: what the command `pairs` does, with the time of each phase."""

import os

from benchmarks.joins.job import THRESHOLD, Stopwatch, arguments, report
from stream_dedup.config import Settings
from stream_dedup.corpus import Corpus
from stream_dedup.events import DocumentDecoder
from stream_dedup.files import Source
from stream_dedup.pairs import PairSearch
from stream_dedup.results import write_pairs
from stream_dedup.similarity.sketch import Sketcher


def main() -> None:
    """Read, search and write."""
    path, output, _ = arguments()
    settings = Settings()
    stopwatch = Stopwatch()
    with stopwatch.phase("prepare"):
        corpus = Corpus(
            [Source(str(path), settings.events.document_bytes_max)],
            DocumentDecoder(settings.events),
            Sketcher.planned(settings.similarity),
            threads=os.cpu_count() or 1,
        )
        corpus.sketcher.sketch(["Load the kernels"])
    with stopwatch.phase("read and sign"):
        search = PairSearch(corpus, THRESHOLD, _ignore, _ignore)
    with stopwatch.phase("search and write"), output.open("wb") as out:
        found = map(search.estimate, search.candidates(_ignore))
        count = write_pairs(found, search.ids, out)
    report(count, stopwatch, search.cut)


def _ignore(_: object) -> None:
    pass


if __name__ == "__main__":
    main()
