"""The ratios to other libraries, measured briefly, beside those that are committed.

A ratio is that of the fastest rounds here, where RESULTS.md has the median of all.

Nothing that is committed is changed. What takes long is left out: other languages, large indexes,
windows that pass, the service on Kafka, the quality on all corpora.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from benchmarks.recall.records import RecallResults
from benchmarks.records import (
    COMMITTED,
    FOLDER_VARIABLE,
    EngineResults,
    PairsResults,
    SignResults,
    load,
)
from benchmarks.texts import require
from benchmarks.writing import digits

_TOLERANCE = 0.25

# The programs and how they are run. A smaller index than the committed one is looked up somewhat
# faster; fewer pairs would leave start-up alone to be measured.
_PROGRAMS = {
    "sign": ["--quick"],
    "engine": ["--documents=6000", "--indexed=100000", "--rounds=2"],
    "pairs": ["--quick"],
    "recall": ["--quick"],
}
_CORPORA = ("civil_procedure_codes", "debian_desc_multi", "mccormick_minhash", "rfc_revisions")


class Compared(NamedTuple):
    """A ratio as it is committed, and as it came out here."""

    name: str
    committed: float
    here: float

    @property
    def is_near(self) -> bool:
        """Whether it lies within the tolerance."""
        return abs(self.here / self.committed - 1) <= _TOLERANCE


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quick", description=__doc__)
    parser.add_argument("--results", type=Path, help="a folder to keep the results in [none]")
    folder = parser.parse_args().results
    require(_CORPORA)
    start, load_before = perf_counter(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as directory:
        here = folder or Path(directory)
        here.mkdir(parents=True, exist_ok=True)
        for program, options in _PROGRAMS.items():
            _run(program, options, here)
        found = compared(ratios(COMMITTED), ratios(here))
    minutes = (perf_counter() - start) / 60
    sys.stdout.write(
        f"{told(found)}Measured in {minutes:.1f} minutes; load at the start {load_before:.1f}.\n"
    )


def _run(program: str, options: list[str], folder: Path) -> None:
    sys.stderr.write(f"benchmarks.{program} …\n")
    command = [sys.executable, "-m", f"benchmarks.{program}", *options]
    done = subprocess.run(command, env={**os.environ, FOLDER_VARIABLE: str(folder)}, check=False)
    if done.returncode:
        raise SystemExit(f"error: benchmarks.{program} ended with {done.returncode}, see above")


def compared(committed: Mapping[str, float], here: Mapping[str, float]) -> list[Compared]:
    """Put together what was measured here with what is committed under the same name."""
    return [
        Compared(name, committed[name], ratio) for name, ratio in here.items() if name in committed
    ]


def told(ratios: list[Compared]) -> str:
    """Return the table, and in words which ratios are not as committed."""
    width = max(len(ratio.name) for ratio in ratios)
    lines = [f"{'':{width}}  committed    here"]
    for ratio in ratios:
        mark = "" if ratio.is_near else f"  {ratio.here / ratio.committed - 1:+.0%}"
        lines.append(
            f"{ratio.name:{width}}  {digits(ratio.committed):>9}  {digits(ratio.here):>6}{mark}"
        )
    far = sum(not ratio.is_near for ratio in ratios)
    verdict = f"{len(ratios) - far} of {len(ratios)} lie within ±{_TOLERANCE:.0%} of the committed."
    if far:
        verdict += " A machine that others use, or one without AVX-512, may be the reason."
    return "\n".join([*lines, verdict, ""])


def ratios(folder: Path) -> dict[str, float]:
    """Return what other libraries take as multiples of ours, and the recall of all."""
    return dict([*_speeds(folder), *_recalls(folder)])


def _speeds(folder: Path) -> Iterator[tuple[str, float]]:
    for comparison in load("sign", SignResults, folder).peers:
        if comparison.texts == "mix":
            ours, *others = comparison.timings
            for timing in others:
                name = f"sign, {comparison.shingles}: {timing.name}"
                yield name, _ratio(timing.microseconds, ours.microseconds)
    intakes = load("engine", EngineResults, folder).intakes
    for intake in intakes:
        us = next(one for one in intakes if one.cores == intake.cores)
        if intake is not us:
            name = f"sign, look up, insert, cores {intake.cores}: {intake.name}"
            yield name, _ratio(intake.microseconds, us.microseconds)
    first, *joins = load("pairs", PairsResults, folder).joins
    for join in joins:
        yield f"pairs: {join.name}", _ratio(join.seconds, first.seconds)


def _recalls(folder: Path) -> Iterator[tuple[str, float]]:
    results = load("recall", RecallResults, folder)
    trial, place = results.trials[0], results.thresholds.index(results.curve_threshold)
    for answers in trial.answers:
        name = f"recall at {results.curve_threshold:g}: {answers.name}"
        yield name, answers.scores[place].found / trial.pairs[place]


def _ratio(values: list[float], ours: list[float]) -> float:
    """Compare the fastest rounds: what others do to a machine only makes rounds slower."""
    return min(values) / min(ours)


if __name__ == "__main__":
    main()
