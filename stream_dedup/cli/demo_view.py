"""The demo while it runs: a picture on a terminal, lines in a pipe."""

import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from types import TracebackType
from typing import Self

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from stream_dedup.cli.demo_pairing import Pairing, side_by_side
from stream_dedup.decide import KINDS
from stream_dedup.events import Document, Verdict
from stream_dedup.feed.newsroom import START
from stream_dedup.feed.planting import Planted
from stream_dedup.feed.score import Score

_LINE_EVERY = timedelta(hours=6)  # of the feed's time
_PAIRING_SECONDS = 1.4  # long enough to see the marked words
_PAIRINGS_MAX = 3
_PAIRING_LINES = 4
_HEAD_HEIGHT = 4
_GROUP_WIDTH = 20  # of a column of counts
_WIDTH_MAX = 140
_MOMENT = "%a %H:%M"


class View:
    """What both ways of showing it count."""

    def __init__(self, events: int, seed: int, score: Score) -> None:
        self.title = f"A made-up news feed: {events:,} events, seed {seed}"
        self.events = events
        self.score = score
        self.seen = 0
        self.now = START
        self.types: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.newest: dict[str, Pairing] = {}  # of each kind, until it is shown
        self.example: Pairing | None = None  # worth an explanation

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was."""

    def add(self, planted: Planted, verdict: Verdict, standing: Mapping[str, Document]) -> None:
        """Count a verdict; `standing` holds by id all documents as they were before it."""
        self.seen += 1
        self.now = planted.event.published_at or self.now
        self.types[verdict.type] += 1
        if not verdict.matches or not isinstance(planted.event, Document):
            return
        match = verdict.matches[0]
        self.kinds[match.kind] += 1
        pairing = Pairing(
            planted.role, planted.event, standing[match.id], match, match.id in planted.copies
        )
        self.newest[match.kind] = pairing
        if match.kind == "near" and pairing.planted:
            self.example = pairing

    def show(self, busy_seconds: float) -> None:
        """Show how things stand, the engine having been at work for so long."""


class Lines(View):
    """A line for each quarter of a day, the same in every run."""

    def __init__(self, events: int, seed: int, score: Score) -> None:
        super().__init__(events, seed, score)
        self._next = START + _LINE_EVERY
        typer.echo(self.title)

    def add(self, planted: Planted, verdict: Verdict, standing: Mapping[str, Document]) -> None:
        """Print a line when a quarter of a day is over, before counting on."""
        time_of_feed = planted.event.published_at or self.now
        while time_of_feed >= self._next:
            self._print(self._next)
            self._next += _LINE_EVERY
        super().add(planted, verdict, standing)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._print(self.now)

    def _print(self, moment: datetime) -> None:
        kinds = ", ".join(f"{self.kinds[kind]:,} {kind}" for kind in KINDS)
        typer.echo(
            f"{moment:{_MOMENT}}  {self.seen:>7,} events  {self.types['unique']:>7,} unique  "
            f"{self.types['duplicate']:>6,} duplicates ({kinds})"
        )


class Picture(View):
    """A picture that is drawn over, and wiped away at the end."""

    def __init__(self, events: int, seed: int, score: Score) -> None:
        super().__init__(events, seed, score)
        self._console = Console(highlight=False)
        self._live = Live(
            console=self._console, auto_refresh=False, transient=True, vertical_overflow="crop"
        )
        self._started = time.monotonic()
        self._changed = self._started
        self._shown: deque[Pairing] = deque(maxlen=_PAIRINGS_MAX)

    def __enter__(self) -> Self:
        self._live.start()
        self._started = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.update(Text())  # the last picture is not cropped, so it has to be a small one
        self._live.stop()

    def show(self, busy_seconds: float) -> None:
        """Draw it anew."""
        self._choose()
        width = min(self._console.width, _WIDTH_MAX) - 1
        counts = self._counts(width)
        parts = [*self._head(width, busy_seconds), *counts]
        room = self._console.height - _HEAD_HEIGHT - sum(table.row_count for table in counts)
        for pairing in list(self._shown)[: max(0, room // (_PAIRING_LINES + 3))]:
            parts += [Text(), side_by_side(pairing, self._console, width, _PAIRING_LINES)]
        self._live.update(Group(*parts), refresh=True)

    def _choose(self) -> None:
        """Put the newest match on top now and then, of a kind that is not to be seen already."""
        now = time.monotonic()
        if not self.newest or (self._shown and now - self._changed < _PAIRING_SECONDS):
            return
        visible: list[str] = [pairing.match.kind for pairing in self._shown]
        kind = min(self.newest, key=visible.count)
        self._shown.appendleft(self.newest.pop(kind))
        self._changed = now

    def _head(self, width: int, busy_seconds: float) -> list[RenderableType]:
        elapsed = max(time.monotonic() - self._started, 1e-3)
        bar = Table.grid(padding=(0, 1, 0, 0))
        share = f"{self.seen / self.events:.0%}"
        bar.add_row(ProgressBar(self.events, self.seen, width=min(width - 5, 60)), share)
        pace = f"{elapsed:.0f} s · {self.seen:,} events · {self.seen / elapsed:,.0f}/s"
        work = f"engine at work {min(1.0, busy_seconds / elapsed):.0%} of the time"
        lines = Text.assemble(
            (f"{self.now:{_MOMENT}} · ", "bold"), (self.title, "bold"), f"\n{pace} · {work}\n"
        )
        lines.no_wrap, lines.overflow = True, "ellipsis"
        return [bar, lines]

    def _counts(self, width: int) -> list[Table]:
        """Count in columns, as many beside each other as there is room for."""
        score = self.score
        groups: list[list[tuple[str, int]]] = [
            [(name, self.types[name]) for name in ("unique", "duplicate", "repeat", "deleted")],
            [(kind, self.kinds[kind]) for kind in KINDS],
            [
                ("planted copies", score.copies),
                ("of these missed", len(score.missed)),
                ("wrongly reported", len(score.wrong)),
            ],
        ]
        beside = max(1, min(len(groups), width // _GROUP_WIDTH))
        return [_grid(groups[first : first + beside]) for first in range(0, len(groups), beside)]


def _grid(groups: Sequence[Sequence[tuple[str, int]]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in groups:
        grid.add_column(no_wrap=True)
        grid.add_column(justify="right", no_wrap=True)
    for row in zip_longest(*groups):
        cells = [(pair[0], f"{pair[1]:,}") if pair else ("", "") for pair in row]
        grid.add_row(*(cell for pair in cells for cell in pair))
    return grid
