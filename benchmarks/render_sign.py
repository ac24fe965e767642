"""The part of RESULTS.md on signing: beside other libraries, by setting and by step."""

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.records import Comparison, SignResults, Timing, load
from benchmarks.writing import bullets, filled, number, ratio, run_notes, spread, table

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


def section() -> Iterable[str]:
    """Return the paragraphs."""
    results = load("sign", SignResults)
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
