"""RESULTS.md from results/*.json: ratios first, as the times belong to one machine."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from benchmarks import render_engine, render_growth, render_service
from benchmarks.records import (
    Comparison,
    Dense,
    Join,
    PairsResults,
    SignResults,
    Timing,
    load,
)
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

FOLDER = Path(__file__).parent

_INTRODUCTION = """\
Made by `make bench` from `benchmarks/results/*.json`; not edited by hand. The ratios are what
counts: the times belong to one machine. All contestants take turns in each round, a ratio is taken
within a round, and a cell shows the median, smallest and largest of the rounds: 13.1 (12–14).
"""

_SIGNING = """\
One thread, {characters:,} characters a text, {hashes} functions, {bands} bands of {rows} rows;
{rounds} rounds. We start at the raw text: our time holds normalising, shingling, signature and band
keys. The others get the text normalised; their time holds making the shingles and the signature,
and only gaoya's the bands.
"""

_CONTESTANTS = """\
Each library's fastest documented call for a batch, on tokens of the kind it is documented with:
distinct encoded ones for datasketch, which hashes in Python, and a list of strings for rensa, for
which a set takes longer to make. Shingles are slices in a list comprehension, as users write them;
`quick tokens` are the fastest we could make in Python.
"""

_NOT_COMPARED = """\
rensa's `rho` calls are left out, as they sample the tokens. rensa runs with `RAYON_NUM_THREADS=1`
and `RENSA_PIPELINE_QUEUE_CAP=0`, as in its own benchmark of one thread.
"""

_PAIRS = """\
The first {documents:,} documents of `{corpus}` ({megabytes:.0f} MB of gzip), char-5, threshold
{threshold:g}, 21 bands of 6 rows, candidates verified by their signatures; rounds: {rounds}. A run
is a process, start-up included. We use all cores and read the raw texts. The others read a copy
that is normalised already, by the JSON decoder that we use, and run as documented, with the threads
they start by themselves. rensa and datasketch sign all documents, then look up and insert each,
which is faster than to insert all first; gaoya takes a thousand at a time. rensa and gaoya sign
with 126 functions, where we and datasketch have 128.
"""

_DENSE = """\
{documents:,} near copies of one text ({megabytes:.0f} MB), all similar to one another:
{all_pairs:,} pairs. What is listed of them is bounded, and so are time and memory: {pairs:,} pairs
in {seconds:.1f} s ({phases}), at most {peak:,.0f} MB; {cut:,} documents have more than are listed.
"""


def main() -> None:
    """Write the page and its pictures."""
    for name, content in render().items():
        (FOLDER / name).write_text(content, encoding="utf-8")


def render() -> dict[str, str]:
    """Return the page and its pictures by the names of their files."""
    parts = [
        "# Speed\n",
        filled(_INTRODUCTION),
        *_signing(load("sign", SignResults)),
        *_joining(load("pairs", PairsResults)),
        *render_engine.section(),
        *render_growth.section(),
        *render_service.section(),
    ]
    return {"RESULTS.md": "\n".join(parts), **render_growth.pictures()}


def _signing(results: SignResults) -> Iterable[str]:
    yield "## Signing: how many times as fast\n"
    yield filled(
        _SIGNING,
        characters=results.characters,
        hashes=results.hashes,
        bands=results.bands,
        rows=results.rows,
        rounds=results.rounds,
    )
    for shingles in dict.fromkeys(comparison.shingles for comparison in results.peers):
        chosen = [comparison for comparison in results.peers if comparison.shingles == shingles]
        yield _ratio_table(f"{shingles}: texts", chosen, "µs, ours")
    yield filled(_CONTESTANTS)
    yield bullets(f"{timing.name}: {timing.note}" for timing in results.peers[0].timings[1:])
    yield filled(_NOT_COMPARED)
    yield "### What settings cost\n\nTimes that of char-5; below 1 is faster.\n"
    yield _ratio_table("texts", results.variants, "µs, char-5")
    yield bullets(_notes(results.variants[0].timings))
    yield "### Where the time goes\n\nMicroseconds a text of the mix, each step by itself.\n"
    yield _stage_table(results.stages)
    ours = [comparison.timings[0] for comparison in results.peers]
    yield run_notes(results.run, median(spread(timing.microseconds) for timing in ours))


def _ratio_table(title: str, comparisons: Sequence[Comparison], unit: str) -> str:
    names = [timing.name for timing in comparisons[0].timings[1:]]
    rows = []
    for comparison in comparisons:
        first, *others = (timing.microseconds for timing in comparison.timings)
        ratios = [ratio(other, first) for other in others]
        rows.append([f"{comparison.texts} ({comparison.documents:,})", *ratios, number(first)])
    return table([title, *names, unit], rows)


def _stage_table(stages: Sequence[Comparison]) -> str:
    names = [timing.name for timing in stages[0].timings]
    rows = [
        [stage.shingles, *(number(timing.microseconds) for timing in stage.timings)]
        for stage in stages
    ]
    return table(["shingles", *names], rows)


def _notes(timings: Sequence[Timing]) -> Iterable[str]:
    return (f"{timing.name}: {timing.note}" for timing in timings if timing.note)


def _joining(results: PairsResults) -> Iterable[str]:
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
        f"{join.pairs:,}",
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


if __name__ == "__main__":
    main()
