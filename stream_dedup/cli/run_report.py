"""What `run` shows beside its results: how far it is, and what it has done, on a terminal only."""

import time
from collections import Counter

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from stream_dedup.cli.rejected import Rejections
from stream_dedup.cli.terminal import on_terminal, stderr
from stream_dedup.filerun import Done, FileRun

_WORDS = {  # of one, of several
    "duplicate": ("duplicate", "duplicates"),
    "unique": ("unique", "unique"),
    "repeat": ("repeat", "repeats"),
    "skipped": ("without text", "without text"),
    "deleted": ("deleted", "deleted"),
}


class RunReport:
    """Counts what was done and shows it."""

    def __init__(
        self, run: FileRun, source: str, size: int | None, directory: str, visible: bool
    ) -> None:
        self._run = run
        self._source = source
        self._directory = directory
        self._types: Counter[str] = Counter()
        self._rejections = Rejections()
        self._started = time.monotonic()
        self._bar = Progress(
            TextColumn("Matching"),
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[done]}"),
            TimeRemainingColumn(),
            console=stderr,
            transient=True,
            disable=not (visible and on_terminal()),
        )
        self._task = self._bar.add_task("", total=size, done="")

    def follow(self) -> None:
        """Run to the end under a bar, and tell, however that comes, what was done."""
        try:
            with self._bar:
                for done in self._run.run():
                    self._add(done)
        finally:
            self._rejections.summarise()
            if on_terminal():
                self._summarise()

    def _add(self, done: Done) -> None:
        """Count, show, and tell of rejected lines."""
        self._types.update(done.types)
        for rejection in done.rejections:
            self._rejections.add(self._source, rejection.record.offset + 1, rejection.reason)
        duplicates = self._types["duplicate"]
        self._bar.update(
            self._task,
            completed=done.bytes_read,
            done=f"{self._rate():,.0f} documents/s, {duplicates:,} duplicates",
        )

    def _rate(self) -> float:
        return self._types.total() / max(time.monotonic() - self._started, 1e-3)

    def _summarise(self) -> None:
        counts = [(self._types[kind], words) for kind, words in _WORDS.items()]
        kinds = [f"{count:,} {words[count > 1]}" for count, words in counts if count]
        stderr.print(f"{self._types.total():,} documents: {', '.join(kinds) or 'nothing new'}")
        seconds = time.monotonic() - self._started
        stderr.print(
            f"{seconds:,.1f} s, {self._rate():,.0f} documents/s; the index is in {self._directory}",
            markup=False,
        )
        recall = self._run.recall()
        if recall.estimate is not None:
            stderr.print(f"recall, measured on a sample: {recall}", markup=False)
