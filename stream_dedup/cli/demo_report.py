"""What the demo ends with: the score by how texts were made, why it is not perfect, what to try."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stream_dedup.config import SimilaritySettings

if TYPE_CHECKING:
    from stream_dedup.cli.demo_pairing import Pairing
    from stream_dedup.feed.score import Mistake, Score

_EXAMPLE_FILE = "feed.jsonl"
_EXPLAINED_MAX = 500  # mistakes; one takes a millisecond


class Run(NamedTuple):
    """How the feed was streamed."""

    events: int
    busy_seconds: float  # the engine's
    paced_seconds: float  # 0: as fast as it went
    seed: int
    saved: Path | None


def show(score: "Score", settings: SimilaritySettings, run: Run, example: "Pairing | None") -> None:
    """Print the score, its reasons, the speed and the next commands."""
    out = Console(highlight=False, soft_wrap=True)
    out.print()
    _show_table(out, "made as a copy", "found", score.rows(copies=True))
    _show_table(out, "no copy", "reported", score.rows(copies=False))
    _show_score(out, score)
    for line in _reasons(score, settings):
        out.print(line)
    paced = f", paced to {run.paced_seconds:g} s to be watched" if run.paced_seconds else ""
    out.print(
        f"\nThe engine took {run.busy_seconds:.1f} s for {run.events:,} events, "
        f"{run.events / max(run.busy_seconds, 1e-3):,.0f}/s, with its index on disk{paced}."
    )
    _show_next(out, run, example)


def _show_table(out: Console, title: str, found: str, rows: Sequence[tuple[str, int, int]]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(title, min_width=24)
    table.add_column("planted", justify="right")
    table.add_column(found, justify="right", min_width=8)
    for role, planted, count in rows:
        table.add_row(str(role), f"{planted:,}", f"{count:,}")
    out.print(table)
    out.print()


def _show_score(out: Console, score: "Score") -> None:
    copies, reported = score.copies, score.reported.total()
    found, right = copies - len(score.missed), reported - len(score.wrong)
    lines = (
        ("recall", score.recall, f"{found:,} of {copies:,} copies were found"),
        ("precision", score.precision, f"{right:,} of {reported:,} reported are copies as said"),
    )
    for name, share, words in lines:
        figure = "none" if share is None else f"{share:.4f}"
        out.print(Text.assemble((f"{name:<10} {figure}", "bold"), f"  {words}"))


def _reasons(score: "Score", settings: SimilaritySettings) -> list[str]:
    """Say of the mistakes on which side of the threshold the true similarities lie."""
    threshold = settings.threshold
    lines = []
    if similarities := _similarities(score.missed, settings):
        below = sum(similarity < threshold for similarity in similarities)
        lines.append(
            f"Missed: changed so much that they fell below {threshold:g}: {below}; "
            f"above it, but estimated too low or not looked up: {len(similarities) - below}."
        )
    if similarities := _similarities(score.wrong, settings):
        above = sum(similarity >= threshold for similarity in similarities)
        lines.append(
            f"Wrong: made apart and yet {threshold:g} similar or more: {above}; "
            f"below it, but estimated too high: {len(similarities) - above}."
        )
    if lines and settings.verify == "signature":
        lines.append(
            "With --set similarity.verify=exact nothing is estimated, at the price of disk."
        )
    return lines


def _similarities(mistakes: Sequence["Mistake"], settings: SimilaritySettings) -> list[float]:
    """Compute the true similarity of each text to the most similar of the others."""
    from stream_dedup.explanation import explain_pair
    from stream_dedup.similarity.sketch import Sketcher

    sketcher = Sketcher.planned(settings)
    return [
        max(
            explain_pair((mistake.text, other), sketcher, settings.threshold, 0).similarity
            for other in mistake.others
        )
        for mistake in mistakes[:_EXPLAINED_MAX]
    ]


def _show_next(out: Console, run: Run, example: "Pairing | None") -> None:
    feed = run.saved or Path(_EXAMPLE_FILE)
    keep = f"stream-dedup demo --documents {run.events} --seed {run.seed} --save {feed}"
    commands = [] if run.saved else [(keep, "keep the feed")]
    commands.append((f"stream-dedup run --input {feed} --output matches.jsonl", "match a file"))
    if example:
        pair = f"{example.other.id} {example.document.id}"
        commands.append((f"stream-dedup explain {pair} --input {feed}", "why two texts match"))
    commands += [
        (f"stream-dedup plan --sample {feed}", "settings that suit your documents"),
        ("stream-dedup demo --threshold 0.6", "what a lower threshold brings"),
    ]
    width = max(len(command) for command, _ in commands)
    out.print("\n[bold]Try next[/]")
    for command, purpose in commands:
        out.print(Text.assemble("  ", (command.ljust(width), "cyan"), (f"  # {purpose}", "dim")))
