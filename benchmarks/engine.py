"""What a document costs from text to durable row, beside libraries that keep all in memory.

Each run is a process of its own. Ours writes into an index that holds other documents already, the
others begin with an empty one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.engines.job import BATCH, Report, Texts
from benchmarks.engines.steps import Costs
from benchmarks.feed import feed
from benchmarks.machine import this_run
from benchmarks.records import EngineResults, Intake, LockControl, Step, save
from benchmarks.signers import normalised
from benchmarks.texts import CHARACTERS

_CORES = (2, 1)


class System(NamedTuple):
    """A contestant: a program of `benchmarks.engines`."""

    name: str
    note: str
    program: str
    variant: str = ""
    share: float = 1  # of the documents, the first ones: a slow system would take all the time


class Trial(NamedTuple):
    """The stream, the index that ours begins with, and how many documents and rounds there are."""

    texts: Path
    prepared: Path
    documents: int
    rounds: int


def main() -> None:
    """Measure and write results/engine.json."""
    arguments = _arguments()
    run = this_run("benchmarks.engine")
    with tempfile.TemporaryDirectory() as directory:
        trial = _prepared(Path(directory), arguments)
        costs = _costs(trial)
        save(
            "engine",
            EngineResults(
                run=run,
                rounds=trial.rounds,
                characters=CHARACTERS,
                documents=trial.documents,
                indexed=arguments.indexed,
                batch=BATCH,
                intakes=[intake for cores in _CORES for intake in _intakes(trial, cores)],
                steps=_steps(costs),
                controls=[
                    LockControl(cost.held, cost.free, cost.mixed, cost.mixed_expected)
                    for cost in costs
                ],
            ),
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--documents", type=int, default=48_000, help="[%(default)s]")
    parser.add_argument(
        "--indexed", type=int, default=400_000, help="before them in our index [%(default)s]"
    )
    parser.add_argument("--rounds", type=int, default=5, help="[%(default)s]")
    return parser.parse_args()


def _prepared(directory: Path, arguments: argparse.Namespace) -> Trial:
    """Write the texts, make the index, and have the kernels compiled before any clock runs."""
    raw = feed(arguments.documents)
    texts, prepared = directory / "texts", directory / "index"
    texts.write_bytes(msgspec.msgpack.encode(Texts(raw, normalised(raw))))
    sys.stderr.write(f"an index of {arguments.indexed} documents\n")
    subprocess.run(_program("indexed", prepared, arguments.indexed), check=True)
    return Trial(texts, prepared, len(raw), arguments.rounds)


def _systems(trial: Trial) -> list[System]:
    rensa = "`RMinHash.from_token_sets`, `RMinHashLSH.query`, `jaccard`, `insert`"
    datasketch = "`MinHash.bulk`, `MinHashLSH.query`, `jaccard`, `insert`"
    gaoya = "`MinHashStringIndex.query`, `insert_document`; both sign"
    bulk = "`MinHashStringIndex.par_bulk_insert_docs`, then `par_bulk_query`; both sign"
    systems = [
        System("stream_dedup", "`Signer`, `Matcher`, RocksDB", "ours", str(trial.prepared)),
        System("rensa", rensa, "rensa", share=0.5),
        System(
            "rensa, quick tokens",
            "the same on windows of UTF-32 bytes",
            "rensa",
            "quick",
            share=0.5,
        ),
        System("gaoya", gaoya, "gaoya", share=0.125),
        System("gaoya, in bulk", bulk, "gaoya", "bulk", share=0.125),
        System("datasketch", datasketch, "datasketch", share=0.025),
    ]
    if util.find_spec("xxhash"):
        note = "the same with `hashfunc=xxhash.xxh32_intdigest`"
        systems.append(System("datasketch + xxhash", note, "datasketch", "xxhash", share=0.025))
    return systems


def _intakes(trial: Trial, cores: int) -> list[Intake]:
    """Let all take turns on so many cores."""
    systems = _systems(trial)
    reports: dict[str, list[Report]] = {system.name: [] for system in systems}
    for number in range(trial.rounds):
        first = number % len(systems)
        for system in systems[first:] + systems[:first]:
            sys.stderr.write(
                f"{cores} cores, round {number + 1} of {trial.rounds}: {system.name}\n"
            )
            documents = int(trial.documents * system.share)
            command = _program(system.program, trial.texts, documents, system.variant)
            reports[system.name].append(msgspec.json.decode(_output(command, cores), type=Report))
    return [_intake(system, cores, reports[system.name]) for system in systems]


def _intake(system: System, cores: int, reports: Sequence[Report]) -> Intake:
    return Intake(
        name=system.name,
        note=system.note,
        cores=cores,
        documents=reports[0].documents,
        duplicates=reports[0].duplicates,
        microseconds=[report.seconds / report.documents * 1e6 for report in reports],
        processor=[report.processor_seconds / report.documents * 1e6 for report in reports],
        peak_bytes=max(report.peak_bytes for report in reports),
    )


def _costs(trial: Trial) -> list[Costs]:
    """Measure the steps of ours in each round."""
    command = _program("steps", trial.texts, trial.documents, trial.prepared)
    costs = []
    for number in range(trial.rounds):
        sys.stderr.write(f"steps, round {number + 1} of {trial.rounds}\n")
        costs.append(msgspec.json.decode(_output(command, max(_CORES)), type=Costs))
    return costs


def _steps(costs: Sequence[Costs]) -> list[Step]:
    rounds = [cost.steps for cost in costs]
    return [
        Step(same[0].step, [cost.processor for cost in same], [cost.locked for cost in same])
        for same in zip(*rounds, strict=True)
    ]


def _program(name: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", f"benchmarks.engines.{name}", *map(str, arguments)]


def _output(command: Sequence[str], cores: int) -> bytes:
    with _held_to(cores):
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


@contextmanager
def _held_to(cores: int) -> Iterator[None]:
    """Let children begin on so many cores."""
    available = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(available)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, available)


if __name__ == "__main__":
    main()
