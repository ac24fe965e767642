"""What `index rebuild` shows while it reads, on a terminal only."""

from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from stream_dedup.cli.rejected import Rejections
from stream_dedup.cli.terminal import on_terminal, stderr

if TYPE_CHECKING:
    from stream_dedup.filerun import Done


class RebuildReport:
    """A bar for the bytes of all inputs, and the lines that are no documents."""

    def __init__(self) -> None:
        self.documents = 0
        self._read: Counter[str] = Counter()
        self._rejections = Rejections()
        self._bar = Progress(
            TextColumn("Reading again"),
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[documents]:,} documents"),
            TimeRemainingColumn(),
            console=stderr,
            transient=True,
            disable=not on_terminal(),
        )
        self._task = self._bar.add_task("", total=None, documents=0)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take it away."""
        self._bar.stop()
        self._rejections.summarise()

    def expect(self, size: int) -> None:
        """Say how many bytes there are to be read."""
        self._bar.update(self._task, total=size)

    def add(self, name: str, done: "Done") -> None:
        """Count, show, and tell of rejected lines."""
        self.documents += sum(done.types.values())
        self._read[name] = done.bytes_read
        for rejection in done.rejections:
            self._rejections.add(name, rejection.record.offset + 1, rejection.reason)
        self._bar.update(self._task, completed=self._read.total(), documents=self.documents)
