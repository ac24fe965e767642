"""What `plan` prints: all figures of a plan, for people or as JSON."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.bar import Bar
from rich.console import Console
from rich.table import Table

from stream_dedup.similarity import curve
from stream_dedup.similarity.plan import BACKGROUND, CANDIDATES_MAX, IndexBytes, Plan, index_bytes
from stream_dedup.similarity.recommendation import Recommendation

if TYPE_CHECKING:
    from stream_dedup.sample import Sample

_DOCUMENTS_SUPPOSED = 1_000_000
_STEPS = 20  # of the curve, from similarity 0 to 1
_PIPE_WIDTH = 200  # no line is longer, so none is folded
_NAMES = {"jaccard": "Jaccard similarity", "cosine": "cosine similarity"}


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one lookup among so many documents has to verify."""

    per_lookup: float
    duplicates: float | None  # those at or above the threshold, known from a sample only
    documents: int
    background: float | None  # the similarity supposed of all documents, without a sample
    pairs: int | None  # in the sample
    shingles: str | None  # in which the sample was compared


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What happens to pairs of one similarity."""

    similarity: float
    found: float
    missed: float
    missed_estimate: float  # e^(-b·s^r)


@dataclass(frozen=True, slots=True)
class Report:
    """All that is printed, in either form."""

    measure: str
    threshold: float
    recall_wanted: float
    hashes: int
    bands: int
    rows: int
    recall: float
    half_point: float
    half_point_estimate: float
    standard_error: float
    candidates: Candidates
    bytes_per_document: IndexBytes
    bytes_in_all: int
    curve: list[CurvePoint]
    recommendation: Recommendation | None
    words_changeable: int | None

    def to_json(self) -> str:
        """Return the report for machines."""
        fields = asdict(self)
        fields["bytes_per_document"] = {
            **self.bytes_per_document._asdict(),
            "total": self.bytes_per_document.total,
        }
        return json.dumps(fields, indent=2)


def plan_report(
    chosen: Plan,
    recall: float,
    documents: int | None = None,
    sample: "Sample | None" = None,
) -> Report:
    """Gather what there is to say of a plan, about documents like the sample if there is one."""
    size, supposed = index_bytes(chosen), documents or _DOCUMENTS_SUPPOSED
    found = sample.recommendation if sample else None
    grid = {step / _STEPS for step in range(_STEPS + 1)}
    return Report(
        measure=chosen.measure,
        threshold=chosen.threshold,
        recall_wanted=recall,
        hashes=chosen.hashes,
        bands=chosen.bands,
        rows=chosen.rows,
        recall=chosen.recall,
        half_point=chosen.half_point,
        half_point_estimate=chosen.half_point_estimate,
        standard_error=chosen.standard_error,
        candidates=_candidates(chosen, supposed, sample),
        bytes_per_document=size,
        bytes_in_all=size.total * supposed,
        curve=[_curve_point(chosen, similarity) for similarity in sorted(grid)],
        recommendation=found,
        words_changeable=(
            found.words_changeable(chosen.threshold, chosen.measure) if found else None
        ),
    )


def _candidates(chosen: Plan, documents: int, sample: "Sample | None") -> Candidates:
    if sample is None:
        background = BACKGROUND[chosen.measure]
        return Candidates(chosen.candidates(documents), None, documents, background, None, None)
    pairs = sample.similarities.size
    duplicates = sample.similarities[sample.similarities >= chosen.threshold]
    return Candidates(
        per_lookup=chosen.candidates(documents, sample.similarities),
        duplicates=chosen.candidates(documents, duplicates) * duplicates.size / pairs,
        documents=documents,
        background=None,
        pairs=pairs,
        shingles=f"{sample.shingling.unit} {sample.shingling.size}",
    )


def _curve_point(chosen: Plan, similarity: float) -> CurvePoint:
    agreement = curve.agreement_from_similarity(similarity, chosen.measure)
    layout = chosen.bands, chosen.rows
    return CurvePoint(
        similarity=similarity,
        found=float(curve.candidate_probability(agreement, *layout)),
        missed=float(curve.miss_probability(agreement, *layout)),
        missed_estimate=float(curve.miss_probability_small(agreement, *layout)),
    )


def show(report: Report) -> None:
    """Print for people: with colours and bars on a terminal, as plain columns in a pipe."""
    watched = sys.stdout.isatty()
    console = Console(highlight=False, width=None if watched else _PIPE_WIDTH)
    with console.capture() as printed:
        console.print(
            f"[bold]{report.bands} bands of {report.rows} rows[/], from {report.hashes} hashes, "
            f"for {_NAMES[report.measure]} {report.threshold:g} and above\n"
        )
        console.print(_facts_table(report))
        if not watched:
            console.print()
        console.print(_curve_table(report, watched))
    typer.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _facts_table(report: Report) -> Table:
    table = Table.grid(padding=(0, 3, 0, 0))
    for label, value, remark in _facts(report):
        table.add_row(label, f"[bold]{value}[/]", remark)
    return table


def _facts(report: Report) -> Iterator[tuple[str, str, str]]:
    wanted = f"wanted: {report.recall_wanted:g}"
    yield "recall at the threshold", f"{report.recall:.5f}", wanted
    yield "half point", f"{report.half_point:.3f}", "every second pair is found"
    yield "  estimated", f"{report.half_point_estimate:.3f}", "(1/b)^(1/r)"
    error = f"one standard error of similarities near {report.threshold:g}"
    yield "error of estimates", f"{report.standard_error:.3f}", error
    yield from _candidate_facts(report.candidates)
    size = report.bytes_per_document
    parts = ", ".join(f"{name} {count}" for name, count in size._asdict().items())
    yield "index bytes per document", f"{size.total:,}", parts
    documents = f"{report.candidates.documents:,} documents"
    yield "  in all", _bytes(report.bytes_in_all), documents
    if report.recommendation:
        yield from _sample_facts(report.recommendation, report.words_changeable)


def _candidate_facts(candidates: Candidates) -> Iterator[tuple[str, str, str]]:
    remark = f"among {candidates.documents:,} documents"
    if candidates.background is None:
        pairs = f"pairs compared in {candidates.shingles}: {candidates.pairs:,}"
        remark += f" like the sample; {pairs}"
    else:
        remark += f", unrelated: as if all were {candidates.background:g} similar"
    yield "candidates per lookup", _number(candidates.per_lookup), remark
    if candidates.duplicates is not None:
        yield "  duplicates", _number(candidates.duplicates), "at or above the threshold"
    unrelated = candidates.per_lookup - (candidates.duplicates or 0)
    if unrelated > CANDIDATES_MAX:
        remark = "larger shingles, more hashes or a higher threshold make fewer"
        yield "  unrelated", _number(unrelated), remark


def _sample_facts(
    found: Recommendation, words_changeable: int | None
) -> Iterator[tuple[str, str, str]]:
    yield "recommended shingles", f"{found.unit} {found.size}", found.reason
    if found.also_good:
        yield "  also good", found.also_good, "quicker to sign"
    spread = f"a tenth have under {found.length_p10:,}, a tenth over {found.length_p90:,}"
    yield "characters", f"{found.length_median:,}", f"in the median text; {spread}"
    yield "changeable words", f"{words_changeable}", "of the median text, which still matches"


def _curve_table(report: Report, watched: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD if watched else None, pad_edge=False)
    for heading in ("similarity", "found", "missed", "e^(-b*s^r)"):
        table.add_column(heading, justify="right")
    if watched:
        table.add_column("")
    for point in report.curve:
        met = abs(point.similarity - report.threshold) < 1e-9
        bars = [Bar(1, 0, point.found, width=30, color="blue")] if watched else []
        table.add_row(
            f"{point.similarity:.2f}",
            f"{point.found:.5f}",
            _number(point.missed),
            _number(point.missed_estimate),
            *bars,
            style="bold" if met else "",
        )
    return table


def _number(amount: float) -> str:
    """Write three digits of what is small, and all before the point of what is large."""
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"


def _bytes(count: int) -> str:
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB")):
        if count >= 1000**power:
            return f"{count / 1000**power:,.1f} {unit}"
    return f"{count:,} B"
