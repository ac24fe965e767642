"""The part of RESULTS.md on the search for all pairs of a corpus."""

from collections.abc import Iterable
from statistics import median

from benchmarks.records import Dense, Join, PairsResults, load
from benchmarks.writing import (
    bullets,
    filled,
    in_phases,
    megabytes,
    number,
    ratio,
    run_notes,
    spread,
    table,
)

_PAIRS = """\
The first {documents:,} documents of `{corpus}` ({megabytes:.0f} MB of gzip), char-5, threshold
{threshold:g}, 21 bands of 6 rows, candidates verified by their signatures; rounds: {rounds}. A run
is a process, start-up included. We use all cores and read the raw texts. The others read a copy
that is normalised already, by the JSON decoder that we use, and run as documented, with the threads
they start by themselves. rensa and datasketch sign all documents, then look up and insert each,
which is faster than to insert all first; gaoya takes a thousand at a time. rensa and gaoya sign
with 126 functions, where the others have 128.
"""

_DENSE = """\
{documents:,} near copies of one text ({megabytes:.0f} MB), all similar to one another:
{all_pairs:,} pairs. What is listed of them is bounded, and so are time and memory: {pairs:,} pairs
in {seconds:.1f} s ({phases}), at most {peak:,.0f} MB; {cut:,} documents have more than are listed.
"""


def section() -> Iterable[str]:
    """Return the paragraphs."""
    results = load("pairs", PairsResults)
    yield "## Pairs: from file to file\n"
    yield filled(
        _PAIRS,
        documents=results.documents,
        corpus=results.corpus,
        megabytes=results.file_bytes / 1e6,
        threshold=results.threshold,
        rounds=results.rounds,
    )
    ours = results.joins[0]
    yield table(
        ["system", "times our time", "seconds", "of all cores", "peak MB", "pairs", "phases"],
        [_join_row(join, ours) for join in results.joins],
    )
    yield bullets(f"{join.name}: {join.note}" for join in results.joins)
    yield "### A dense corpus\n"
    yield _dense(results.dense)
    yield run_notes(results.run, spread(ours.seconds))


def _join_row(join: Join, ours: Join) -> list[str]:
    return [
        join.name,
        "" if join is ours else ratio(join.seconds, ours.seconds),
        number(join.seconds),
        number(join.cpu_seconds),
        megabytes(join.peak_bytes),
        f"{join.pairs:,}" if join.pairs else "–",
        in_phases(join.phases),
    ]


def _dense(dense: Dense) -> str:
    return filled(
        _DENSE,
        documents=dense.documents,
        megabytes=dense.file_bytes / 1e6,
        all_pairs=dense.documents * (dense.documents - 1) // 2,
        pairs=dense.pairs,
        seconds=median(dense.seconds),
        phases=in_phases(dense.phases),
        peak=max(dense.peak_bytes) / 1e6,
        cut=dense.cut,
    )
