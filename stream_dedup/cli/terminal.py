"""What people see on a terminal beside the results: all of it on stderr, none of it in a pipe."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

COMPILING = "Compiling, once on this machine …"

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def on_terminal() -> bool:
    """Tell whether somebody watches; a colour forced by the environment is not somebody."""
    return stderr.file.isatty()


class _Rate(ProgressColumn):
    """Documents, or whatever is counted, in a second."""

    def render(self, task: Task) -> Text:
        """Show nothing until a rate is known."""
        rate = task.finished_speed or task.speed
        return Text(f"{rate:,.0f}/s" if rate else "", style="progress.data.speed")


@contextmanager
def progress(
    description: str, total: int | None = None, in_bytes: bool = False, visible: bool = True
) -> Iterator[Callable[[int], None]]:
    """Yield `advance(count)`, which moves a bar with rate and time left while one is watched.

    A bar is to be made invisible while results go to the same terminal.
    """
    amounts: tuple[ProgressColumn, ...] = (MofNCompleteColumn(), _Rate())
    if in_bytes:
        amounts = (DownloadColumn(), TransferSpeedColumn())
    columns = (TextColumn("{task.description}"), BarColumn(), *amounts, TimeRemainingColumn())
    with Progress(
        *columns, console=stderr, transient=True, disable=not (visible and on_terminal())
    ) as bar:
        task = bar.add_task(description, total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def notice_if_slow(message: str, seconds: float = 1.0) -> Iterator[None]:
    """Print one line if the block takes longer than `seconds`, so that nobody thinks it hangs."""
    timer = Timer(seconds, stderr.print, (message,), {"markup": False, "style": "dim"})
    timer.daemon = True
    if on_terminal():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
