"""The part of RESULTS.md on the engine: beside other libraries, and step by step."""

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.feed import EXACT, NEAR
from benchmarks.records import EngineResults, Intake, Step, load
from benchmarks.writing import bullets, digits, filled, number, ratio, run_notes, spread, table

_INTAKE = """\
Sign, look up, verify, insert: {documents:,} texts of {characters:,} characters, char-5, 128
functions, threshold 0.8; a near copy of an earlier text are {near:.0%} of them and an exact one
{exact:.0%}, made by us. Rounds: {rounds}. We start at the raw texts, take {batch} at a time and
write to an index on disk that holds {indexed:,} other documents already; what a batch wrote
survives `kill -9`. The others get the texts normalised, begin with an empty index and keep it in
memory. A run is a process; the clock starts when it has its texts.
"""

_CORES = """\
On two cores our second thread signs ahead and RocksDB works in the background; of the others only
gaoya has a use for a second core, in bulk. On one core we have one thread. The index was compacted
before: that its files are merged from time to time counts in the rates of a large index, below. The
slow take in only the first documents:
`documents` says how many, and `duplicates` how many of these had an earlier one at the threshold or
above. Tokens are made as for signing, above; all have 21 bands of 6 rows, rensa and gaoya 126
functions.
"""

_SHARED = """\
A machine that others use as well would blur this, so how much of it there was is measured too: on
one core the systems had {one:.2f} cores, in the median of all runs; on two, the one that uses both
most had {two:.2f}. Where that is near 1, the figures for two cores are those of one.
"""

_STEPS = """\
Microseconds a document of the same texts, at {batch} a batch. Only one thread at a time can hold
the interpreter's lock, so what is under the lock limits what a process can do. A native thread,
which never wants the lock, looks thousands of times a second whether it is held: the share of these
looks is the share of a step's time. As a check, it finds the lock held {held:.0%} of the time in a
loop of Python, {free:.0%} in zlib, which releases it, and {mixed:.0%} in both in turn, where
{expected:.0%} is right.
"""


def section() -> Iterable[str]:
    """Return the paragraphs."""
    results = load("engine", EngineResults)
    yield "## The engine: from text to durable row\n"
    yield filled(
        _INTAKE,
        documents=results.documents,
        characters=results.characters,
        near=NEAR,
        exact=EXACT,
        rounds=results.rounds,
        batch=results.batch,
        indexed=results.indexed,
    )
    yield _intake_table(results.intakes)
    yield filled(_CORES)
    yield bullets(dict.fromkeys(f"{intake.name}: {intake.note}" for intake in results.intakes))
    yield "### Step by step\n"
    yield filled(
        _STEPS,
        batch=results.batch,
        held=median(control.held for control in results.controls),
        free=median(control.free for control in results.controls),
        mixed=median(control.mixed for control in results.controls),
        expected=median(control.mixed_expected for control in results.controls),
    )
    yield _step_table(results.steps)
    yield filled(
        _SHARED, one=median(_cores_had(results.intakes, 1)), two=max(_cores_had(results.intakes, 2))
    )
    yield run_notes(results.run, spread(results.intakes[0].microseconds))


def _intake_table(intakes: Sequence[Intake]) -> str:
    by_cores = {
        cores: [intake for intake in intakes if intake.cores == cores]
        for cores in dict.fromkeys(intake.cores for intake in intakes)
    }
    two, one = by_cores[2], by_cores[1]
    header = ["system", "times ours, two cores", "times ours, one core"]
    header += ["µs, two cores", "µs, one core", "documents", "duplicates", "peak MB"]
    rows = [
        [
            first.name,
            "" if first is two[0] else ratio(first.microseconds, two[0].microseconds),
            "" if first is two[0] else ratio(second.microseconds, one[0].microseconds),
            number(first.microseconds),
            number(second.microseconds),
            f"{first.documents:,}",
            f"{first.duplicates:,}",
            f"{first.peak_bytes / 1e6:,.0f}",
        ]
        for first, second in zip(two, one, strict=True)
    ]
    return table(header, rows)


def _cores_had(intakes: Sequence[Intake], cores: int) -> list[float]:
    """Return how many cores each system kept busy, in its median round."""
    return [
        median(
            processor / seconds
            for processor, seconds in zip(intake.processor, intake.microseconds, strict=True)
        )
        for intake in intakes
        if intake.cores == cores
    ]


def _step_table(steps: Sequence[Step]) -> str:
    rows = [[step.name, number(step.processor), number(step.locked)] for step in steps]
    processor = sum(median(step.processor) for step in steps)
    locked = sum(median(step.locked) for step in steps)
    rows.append(["**all**", f"**{digits(processor)}**", f"**{digits(locked)}**"])
    return table(["step", "processor time", "under the lock"], rows)
