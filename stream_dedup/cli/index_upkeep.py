"""`stream-dedup index compact | snapshot | restore | rebuild`: refused while a service runs."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stream_dedup.cli import options
from stream_dedup.cli.index_options import OPENING, Directory, settings_of
from stream_dedup.cli.terminal import notice_if_slow, progress, stderr
from stream_dedup.cli.threads import usable_cores
from stream_dedup.config import Settings
from stream_dedup.errors import Refused, UsageError

if TYPE_CHECKING:
    from stream_dedup.index.rocksdb import RocksIndex

Discard = Annotated[
    bool,
    typer.Option("--discard", help="Remove the old index instead of keeping it in DIR/before-…"),
]


def compact(
    directory: Directory = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Merge the files of the index: fewer bytes and faster look-ups after a large import.

    Example: stream-dedup index compact
    """
    with _opened(settings_of(directory, config, override)) as opened:
        before = opened.disk_bytes()
        with progress("Compacting") as advance:
            done_before = 0

            def on_progress(done: int, total: int) -> None:
                nonlocal done_before
                advance(done - done_before)
                done_before = done

            opened.compact(on_progress)
    with _opened(settings_of(directory, config, override)) as opened:
        after = opened.disk_bytes()
    typer.echo(f"{before:,} bytes before, {after:,} after")


def snapshot(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory for the copy.")],
    directory: Directory = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Copy the index as it is, with its place in the input, by hard links on the same disk.

    A snapshot takes next to no room at first, and keeps what the index drops later. It is an index
    like any other: stat, get and verify read it. Copy it to another disk to outlive this one.

    Example: stream-dedup index snapshot /backup/monday
    """
    settings = settings_of(directory, config, override)
    if target.resolve().is_relative_to(Path(settings.index.directory).resolve()):
        raise UsageError(f"cannot write {target}: it lies in the directory of the index")
    from stream_dedup.upkeep.standing import standing

    with _opened(settings) as opened:
        state = standing(opened.meta())
        if state is None:
            raise Refused("nothing was written to the index yet: there is nothing to copy")
        opened.snapshot(target)
    typer.echo(f"{target}: a snapshot at next offset {state.next_offset:,}")


def restore(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="The snapshot.")],
    directory: Directory = None,
    discard: Discard = False,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Put a snapshot in the place of the index.

    It is opened first; `stream-dedup index verify --index DIR` checks it in full. Killed at any
    moment, the old index is there as it was, or the new one, or nobody can open what is there
    until the same command was given again. The old one is kept in DIR/before-…, unless --discard
    is given; remove it when it is not needed any more.

    Example: stream-dedup index restore /backup/monday --index /var/lib/stream-dedup
    """
    settings = settings_of(directory, config, override)
    from stream_dedup.upkeep.restoring import restore as put_back
    from stream_dedup.upkeep.restoring import snapshot_bytes

    place = Path(settings.index.directory)
    with progress("Copying", snapshot_bytes(source), in_bytes=True) as advance:
        done = put_back(source, place, settings.index, advance)
    typer.echo(f"{place}: the index of {source}, at next offset {done.standing.next_offset:,}")
    _tell_kept(done.kept, discard)


def rebuild(
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="Read this file instead of those that the index names; may be given repeatedly.",
        ),
    ] = None,
    directory: Directory = None,
    discard: Discard = False,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Make the index anew, under the settings as they are now, from the files it was fed from.

    For settings that signatures depend on, and for an index that is damaged. The files are read
    again in the order in which they were, as far as they were, and nothing is published. What came
    through a pipe is gone: keep it in a file, and name all files with --input. An index that
    cannot be opened names none either.

    \b
    Until the new index is complete the old one stays as it is; then it is kept in DIR/before-…,
    unless --discard is given.

    Example: stream-dedup index rebuild --set similarity.size=9
    """
    settings = settings_of(directory, config, override)
    from stream_dedup.cli.rebuild_report import RebuildReport
    from stream_dedup.upkeep.rebuilding import rebuild as make_anew

    place = Path(settings.index.directory)
    with RebuildReport() as report:
        done = make_anew(place, settings, sources or [], usable_cores(), report)
    typer.echo(f"{place}: made anew from {report.documents:,} documents")
    _tell_kept(done.kept, discard)


def _tell_kept(kept: Path | None, discard: bool) -> None:
    if kept is None:
        return
    if discard:
        import shutil

        shutil.rmtree(kept)
    else:
        stderr.print(f"the index that was there is kept in {kept}", markup=False)


@contextmanager
def _opened(settings: Settings) -> Iterator["RocksIndex"]:
    from stream_dedup.index.rocksdb import RocksIndex

    with notice_if_slow(OPENING):
        opened = RocksIndex.open(settings.index.directory, settings.index, create=False)
    with closing(opened):
        yield opened
