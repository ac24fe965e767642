"""The first table of RESULTS.md: a row a library, each in its fastest documented form."""

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks import render_memory
from benchmarks.recall.records import RecallResults
from benchmarks.records import EngineResults, PairsResults, ScaleResults, SignResults, load
from benchmarks.writing import digits, filled, recall_and_precision, table

_WORDS = """\
Times are multiples of ours, each library in its fastest documented form: signing of {texts} in
{shingles}; signing, looking up and inserting on two cores, ours onto a disk; all pairs of
{documents:,} documents, from file to file. Memory is that of an index of many documents, ours
measured, the others in proportion to fewer. Recall and precision are those at the nominal threshold
{threshold:g} in {corpus}, each library with the bands that it chooses, as it is documented; a pair
is right if its exact Jaccard similarity is {threshold:g} or above. Durable is what survives `kill
-9` by itself. – was not measured: text-dedup is a command in an environment of its own, which
splits texts into words itself, and is timed as such and asked in words; simhash, which knows no
threshold, is compared by its answers, its signing and its memory. Each column has its section
below, with all variants, with noise, and with what was done to be fair.
"""

# The system whose answers stand for the library, and what is kept if the process is killed.
_LIBRARIES = {
    "stream_dedup": ("stream_dedup", "yes, on disk"),
    'stream_dedup, `verify = "exact"`': ("stream_dedup, exact", "yes, on disk"),
    "rensa": ("rensa", "no"),
    "gaoya": ("gaoya", "no"),
    "datasketch": ("datasketch", "no; may use Redis or Cassandra"),
    "text-dedup": ("text-dedup", "no"),
    "simhash": ("simhash", "no"),
}
_NOT_MEASURED = "–"

Timed = Sequence[tuple[str, Sequence[float]]]  # of each contestant, ours first


def section() -> Iterable[str]:
    """Return the paragraphs."""
    sign, pairs = load("sign", SignResults), load("pairs", PairsResults)
    engine, recall = load("engine", EngineResults), load("recall", RecallResults)
    first = sign.peers[0]
    large = f"{load('scale', ScaleResults).points[-1].documents:,}"
    yield "## Summary\n"
    yield filled(
        _WORDS,
        texts="a mix of languages" if first.texts == "mix" else first.texts,
        shingles=first.shingles,
        documents=pairs.documents,
        threshold=recall.curve_threshold,
        corpus=f"`{recall.trials[0].corpus}`",
    )
    columns = [
        [(timing.name, timing.microseconds) for timing in first.timings],
        [(one.name, one.microseconds) for one in engine.intakes if one.cores == 2],
        [(join.name, join.seconds) for join in pairs.joins],
    ]
    yield table(
        [
            "",
            "sign",
            "sign, look up, insert",
            "pairs",
            f"GB for {large}",
            "recall / precision",
            "durable",
        ],
        [
            [
                library,
                *(_times(library, timed, columns[0][0][0]) for timed in columns),
                _memory(library),
                _quality(answers, recall),
                durable,
            ]
            for library, (answers, durable) in _LIBRARIES.items()
        ],
    )


def _times(library: str, timed: Timed, ours: str) -> str:
    """Return how many times our time the fastest form of a library took."""
    if library == ours:
        return "1"
    first = timed[0][1]
    ratios = [
        median(value / our for value, our in zip(values, first, strict=True))
        for name, values in timed
        if _is_form_of(name, library)
    ]
    return f"**{digits(min(ratios))}**" if ratios else _NOT_MEASURED


def _memory(library: str) -> str:
    gigabytes = render_memory.gigabytes()
    return digits(gigabytes[library]) if library in gigabytes else _NOT_MEASURED


def _is_form_of(name: str, library: str) -> bool:
    return name == library or name.startswith((f"{library},", f"{library} +"))


def _quality(name: str, results: RecallResults) -> str:
    """Return what a system finds in the first collection in which it was asked."""
    place = results.thresholds.index(results.curve_threshold)
    for trial in results.trials:
        for answers in trial.answers:
            if answers.name == name:
                return recall_and_precision(answers.scores[place], trial.pairs[place])
    return _NOT_MEASURED
