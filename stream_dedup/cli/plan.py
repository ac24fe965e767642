"""`stream-dedup plan`: how many bands and rows, and what they will find, miss and cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from stream_dedup.cli import options
from stream_dedup.cli.terminal import notice_if_slow, stderr
from stream_dedup.config import SimilaritySettings
from stream_dedup.errors import UsageError

if TYPE_CHECKING:
    from stream_dedup.config import Settings
    from stream_dedup.sample import Sample
    from stream_dedup.similarity.plan import Plan

_DEFAULTS = SimilaritySettings()
_REJECTED_SHOWN = 20


def plan(
    *,
    threshold: options.Threshold = None,
    recall: Annotated[
        float | None,
        typer.Option(
            help="Share of the pairs right at the threshold to be found.",
            show_default=str(_DEFAULTS.recall),
        ),
    ] = None,
    hashes: Annotated[
        int | None,
        typer.Option(
            help="Values of a signature; with the cosine measure, bits.",
            show_default=str(_DEFAULTS.hashes),
        ),
    ] = None,
    measure: options.Measure = None,
    bands: Annotated[
        int | None, typer.Option(help="Use so many bands, with --rows, instead of planning.")
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Use so many rows a band.")] = None,
    documents: Annotated[
        int | None, typer.Option(min=1, help="Documents remembered at a time.")
    ] = None,
    sample: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Documents like yours, one JSON object a line: shingles are recommended for them, "
            "and lookups counted on their similarities. .gz and .zst too; - is standard input.",
        ),
    ] = None,
    unit: Annotated[
        Literal["char", "word"] | None,
        typer.Option(help="Compare the sample in shingles of these, not in recommended ones."),
    ] = None,
    size: Annotated[int | None, typer.Option(help="Compare it in shingles of so many.")] = None,
    text_field: options.TextField = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw the curve into this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Choose bands and rows for a threshold and a recall, and show what they will do.

    Example: stream-dedup plan --threshold 0.8 --recall 0.99 --documents 10000000
    """
    from stream_dedup.cli.plan_report import plan_report, show

    settings = options.settings_from(
        config,
        override,
        {
            "similarity.threshold": ("--threshold", threshold),
            "similarity.recall": ("--recall", recall),
            "similarity.hashes": ("--hashes", hashes),
            "similarity.measure": ("--measure", measure),
            "similarity.bands": ("--bands", bands),
            "similarity.rows": ("--rows", rows),
            "similarity.unit": ("--unit", unit),
            "similarity.size": ("--size", size),
            "events.text_fields": ("--text-field", text_field),
        },
    )
    # Shingles that somebody chose are the ones to compare in.
    chosen = config is not None or unit is not None or size is not None
    taken = _take_sample(str(sample), settings, chosen) if sample else None
    made = _plan(settings.similarity, documents, taken)
    report = plan_report(made, settings.similarity.recall, documents, taken)
    if plot:
        _draw(plot, made, taken)
    if as_json:
        typer.echo(report.to_json())
    else:
        show(report)


def _plan(settings: SimilaritySettings, documents: int | None, sample: "Sample | None") -> "Plan":
    from stream_dedup.similarity.plan import Plan, plan_bands

    measure, threshold, hashes = settings.measure, settings.threshold, settings.hashes
    if settings.bands and settings.rows:
        return Plan(measure, threshold, hashes, settings.bands, settings.rows)
    unrelated = sample.unrelated(threshold) if sample else None
    return plan_bands(
        threshold, settings.recall, hashes, measure, documents=documents, background=unrelated
    )


def _take_sample(name: str, settings: "Settings", in_chosen_shingles: bool) -> "Sample":
    with notice_if_slow("Comparing the sample …"):
        from stream_dedup.sample import take_sample

        sample = take_sample(name, settings, in_chosen_shingles)
    for line in sample.rejected[:_REJECTED_SHOWN]:
        stderr.print(f"skipped {line.source}:{line.number}: {line.reason}", markup=False)
    if sample.rejected:
        stderr.print(f"lines skipped: {len(sample.rejected):,}")
    return sample


def _draw(path: Path, made: "Plan", sample: "Sample | None") -> None:
    from stream_dedup.plot import plan_svg

    svg = plan_svg([made], sample.similarities if sample else None)
    try:
        path.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
