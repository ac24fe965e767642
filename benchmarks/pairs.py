"""What finding all pairs of a corpus costs, from file to file, beside the other libraries.

Each run is a process of its own, so that start-up counts and memory is its own. This process stays
small, as a child inherits the peak of its parent.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from importlib import util
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import msgspec

from benchmarks.joins.job import THRESHOLD, Report
from benchmarks.machine import this_run
from benchmarks.near_copies import write_near_copies
from benchmarks.recall.peers.text_dedup import PYTHON
from benchmarks.records import Dense, Join, PairsResults, save
from benchmarks.texts import corpus

_CORPUS = "civil_procedure_codes"
_ALL = 1 << 40
_THRESHOLD = ["--threshold", str(THRESHOLD)]
_PRODUCT = [sys.executable, "-m", "stream_dedup", "pairs", *_THRESHOLD, "--output"]


class System(NamedTuple):
    """A contestant: a program of `benchmarks.joins`, or the product's own command."""

    name: str
    note: str
    program: str = ""
    variant: str = ""
    cores: int | None = None  # that it may use, if not all


_WITH_PHASES = System("stream_dedup, in phases", "", "ours")


class Process(NamedTuple):
    """What a process took, and what it printed."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    report: Report


class Files(NamedTuple):
    """The corpus as it is, the same normalised, and where pairs go."""

    raw: Path
    normalised: Path
    pairs: Path


def main() -> None:
    """Measure and write results/pairs.json."""
    arguments = _arguments()
    run = this_run("benchmarks.pairs")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        files = Files(folder / "raw.gz", folder / "normalised.gz", folder / "pairs.jsonl")
        documents = _prepare(files, arguments.documents)
        joins = _measure(_systems(arguments.quick), files, arguments.rounds)
        save(
            "pairs",
            PairsResults(
                run=run,
                rounds=arguments.rounds,
                corpus=_CORPUS,
                documents=documents,
                file_bytes=files.raw.stat().st_size,
                threshold=THRESHOLD,
                joins=joins,
                dense=_dense(folder, files.pairs, arguments.dense, arguments.rounds),
            ),
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("--documents", type=int, default=_ALL, help="the first ones only [all]")
    parser.add_argument("--dense", type=int, default=30_000, help="near copies [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="[%(default)s]")
    parser.add_argument(
        "--quick", action="store_true", help="two rounds, without the slowest: a minute and a half"
    )
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.dense, arguments.rounds = 3_000, 2
    return arguments


def _systems(quick: bool) -> list[System]:
    rensa = "`RMinHash.from_token_sets`, `RMinHashLSH.query` and `insert`, `jaccard`"
    datasketch = "`MinHash.bulk`, `MinHashLSH.query` and `insert`, `jaccard`"
    gaoya = "`MinHashStringIndex.par_bulk_insert_docs` and `par_bulk_query`"
    systems = [
        System("stream_dedup", "`stream-dedup pairs`"),
        System("stream_dedup, one core", "the same, held to one core", cores=1),
        System("rensa", rensa, "rensa"),
        System("gaoya", gaoya, "gaoya"),
    ]
    if quick:  # on fewer documents all would be start-up, and ratios others
        return systems
    note = "the same on windows of UTF-32 bytes"
    systems.insert(-1, System("rensa, quick tokens", note, "rensa", "quick-tokens"))
    systems.append(System("datasketch", datasketch, "datasketch"))
    if util.find_spec("xxhash"):
        note = "the same with `hashfunc=xxhash.xxh32_intdigest`"
        systems.append(System("datasketch + xxhash", note, "datasketch", "xxhash"))
    if PYTHON.exists():
        note = (
            "`python -m text_dedup.minhash`: 5 words a shingle, clusters in place of pairs; of its "
            "processes only the first is in the figures of cores and memory"
        )
        systems.append(System("text-dedup", note, "text_dedup"))
    return systems


def _prepare(files: Files, count: int) -> int:
    """Copy the corpus, and have the kernels compiled before any clock runs."""
    paths = [str(corpus(_CORPUS)), str(files.raw), str(files.normalised)]
    command = _module("benchmarks.joins.normalised", *paths, str(count))
    copied = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    _run(System("", ""), files)
    return int(copied.stdout)


def _measure(systems: list[System], files: Files, rounds: int) -> list[Join]:
    """Let all take turns."""
    processes: dict[str, list[Process]] = {system.name: [] for system in systems}
    for number in range(rounds):
        first = number % len(systems)
        for system in systems[first:] + systems[:first]:
            sys.stderr.write(f"round {number + 1} of {rounds}: {system.name}\n")
            processes[system.name].append(_run(system, files))
    phases = _run(_WITH_PHASES, files).report.phases
    return [_join(system, processes[system.name], phases) for system in systems]


def _join(system: System, processes: list[Process], our_phases: dict[str, float]) -> Join:
    middle = sorted(processes, key=lambda process: process.seconds)[len(processes) // 2]
    return Join(
        name=system.name,
        note=system.note,
        seconds=[process.seconds for process in processes],
        cpu_seconds=[process.cpu_seconds for process in processes],
        peak_bytes=[process.peak_bytes for process in processes],
        pairs=middle.report.pairs,
        phases=middle.report.phases or ({} if system.cores else our_phases),
    )


def _dense(folder: Path, pairs: Path, documents: int, rounds: int) -> Dense:
    path = folder / "near_copies.jsonl"
    write_near_copies(path, documents)
    sys.stderr.write(f"{documents} near copies\n")
    processes = [_run(_WITH_PHASES, Files(path, path, pairs)) for _ in range(rounds)]
    last = processes[-1].report
    return Dense(
        documents=documents,
        file_bytes=path.stat().st_size,
        seconds=[process.seconds for process in processes],
        peak_bytes=[process.peak_bytes for process in processes],
        pairs=last.pairs,
        cut=last.cut,
        phases=last.phases,
    )


def _run(system: System, files: Files) -> Process:
    """Run to the end, all from the start of the interpreter counted."""
    available = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(available)[: system.cores])
    try:
        start = perf_counter()
        with subprocess.Popen(_command(system, files), stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            printed = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            seconds = perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        os.sched_setaffinity(0, available)
    if process.returncode:
        raise SystemExit(f"error: {system.name or 'stream_dedup'} ended with {process.returncode}")
    report = msgspec.json.decode(printed, type=Report) if printed else _counted(files.pairs)
    return Process(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, report)


def _command(system: System, files: Files) -> list[str]:
    if not system.program:
        return [*_PRODUCT, str(files.pairs), str(files.raw)]
    source = files.raw if system is _WITH_PHASES else files.normalised
    variant = [system.variant] if system.variant else []
    program = f"benchmarks.joins.{system.program}"
    return _module(program, str(source), str(files.pairs), *variant)


def _module(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", name, *arguments]


def _counted(pairs: Path) -> Report:
    with pairs.open("rb") as lines:
        return Report(sum(1 for _ in lines), {})


if __name__ == "__main__":
    main()
