"""Words and tables of RESULTS.md out of numbers."""

import textwrap
from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.recall.records import Score
from benchmarks.records import Run


def run_notes(run: Run, noise: float | None = None) -> str:
    """Say when, where and, of rounds, how noisily it was measured; noise is a share."""
    machine = run.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    lines = [
        f"`{run.command}`, {run.date}.",
        f"{machine.cpu}, {machine.cores} cores, {machine.memory_gib:.0f} GiB; {machine.system}; "
        f"{machine.python}, {machine.python_build}.",
        f"{versions}.",
    ]
    load = f"load at the start {run.load:.1f}."
    if noise is not None:
        rounds = f"between our slowest and our fastest round lie {noise:.0%} of the median"
        load = f"{rounds}; {load}"
    return bullets([*lines, f"Noise: {load}"])


def ratio(values: Sequence[float], ours: Sequence[float]) -> str:
    """Write how many times ours: median, smallest and largest of the rounds."""
    ratios = [value / our for value, our in zip(values, ours, strict=True)]
    return f"**{digits(median(ratios))}** ({digits(min(ratios))}–{digits(max(ratios))})"


def number(values: Sequence[float]) -> str:
    """Write the median."""
    return digits(median(values))


def digits(value: float) -> str:
    """Write three digits of it, or two where it is small."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 3 else f"{value:.2f}"


def share(part: float, whole: int) -> str:
    """Write a share rounded down, so that nothing short of all reads 1."""
    return f"{int(part * 1000 / whole) / 1000:.3f}" if whole else "–"


def recall_and_precision(score: Score, pairs: int) -> str:
    """Write which share of the pairs was found, and which share of what was returned is one."""
    return f"{share(score.found, pairs)} / {share(score.found, score.returned)}"


def spread(values: Sequence[float]) -> float:
    """Return how far the rounds lie apart, as a share of the median."""
    return (max(values) - min(values)) / median(values)


def megabytes(values: Sequence[int]) -> str:
    """Write the largest."""
    return f"{max(values) / 1e6:,.0f}"


def in_phases(phases: dict[str, float]) -> str:
    """Write seconds by phase."""
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in phases.items())


def filled(template: str, **values: object) -> str:
    """Fill a template, and break its lines."""
    text = template.format(**values)
    return textwrap.fill(text, 100, break_on_hyphens=False, break_long_words=False) + "\n"


def bullets(lines: Iterable[str]) -> str:
    """Write a list."""
    return "".join(f"- {line}\n" for line in lines)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table whose first column is words."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
