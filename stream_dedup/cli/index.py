"""`stream-dedup index`: look at an index and check it; how to care for it is in the next room."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from stream_dedup.cli import options
from stream_dedup.cli.index_options import OPENING, Directory, settings_of
from stream_dedup.cli.index_upkeep import compact, rebuild, restore, snapshot
from stream_dedup.cli.terminal import notice_if_slow, progress
from stream_dedup.config import Settings
from stream_dedup.errors import StreamDedupError

if TYPE_CHECKING:
    from stream_dedup.upkeep.view import View

_PROBLEMS_SHOWN = 20

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

index = typer.Typer()


@index.callback(invoke_without_command=True)
def index_commands(context: typer.Context) -> None:
    """Look at an index, check it, copy it, or make it anew.

    stat, get and verify work beside a running service, and say how old their view is. The others
    refuse while it runs.

    \b
    Examples: stream-dedup index stat
              stream-dedup index get a1 --index /var/lib/stream-dedup
              stream-dedup index snapshot /backup/monday
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@index.command()
def stat(
    directory: Directory = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Count all rows and buckets, where RocksDB only estimates."),
    ] = False,
    as_json: AsJson = False,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Show what the index holds: rows, bytes, buckets, window, settings, verdicts.

    Rows are estimated and buckets sampled, which takes seconds at any size; --exact reads all.

    Example: stream-dedup index stat --index /var/lib/stream-dedup --json
    """
    settings = settings_of(directory, config, override)
    with _viewed(settings) as view:
        from stream_dedup.cli.index_report import show_statistics, to_json
        from stream_dedup.upkeep.statistics import statistics

        rows = sum(size.rows_estimated for size in view.index.sizes().values())
        with progress("Counting", rows, visible=exact) as advance:
            found = statistics(view, settings, exact, advance)
    if as_json:
        typer.echo(to_json(found))
    else:
        show_statistics(found)


@index.command()
def get(
    document_id: Annotated[str, typer.Argument(metavar="ID", help="The document's id.")],
    namespace: Annotated[str, typer.Option(metavar="NAME", help="The namespace it is in.")] = "",
    text: Annotated[
        bool, typer.Option("--text", help="Print the text alone, if it is kept.")
    ] = False,
    directory: Directory = None,
    as_json: AsJson = False,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Show what is remembered of a document: its record, its copies, its cluster.

    Ends with 1 if nothing is. Texts are kept with similarity.verify=exact only.

    Example: stream-dedup index get a1 --namespace news
    """
    settings = settings_of(directory, config, override)
    with _viewed(settings) as view:
        from stream_dedup.cli.index_report import age, remembered_to_json, show_remembered
        from stream_dedup.upkeep.lookup import remembered
        from stream_dedup.upkeep.standing import standing

        state = standing(view.index.meta())
        found = remembered(view.index, state, document_id, namespace) if state else None
        if found is None or state is None:
            where = f" of namespace {namespace!r}" if namespace else ""
            seen = age(view, state) if state else "nothing was written yet"
            raise StreamDedupError(f"no document {document_id!r}{where} is remembered ({seen})")
        if text:
            _print_text(found.text)
            typer.echo(age(view, state), err=True)
        elif as_json:
            typer.echo(remembered_to_json(found, view, state))
        else:
            show_remembered(found, age(view, state))


def _print_text(text: str | None) -> None:
    if text is None:
        raise StreamDedupError(
            "its text is not kept: with --set similarity.verify=exact, texts are from then on"
        )
    typer.echo(text)


@index.command()
def verify(
    directory: Directory = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Check every reference between rows, every number, and that all rows can be read.

    Prints what is wrong, one problem a line, and ends with 1 if anything is. Takes some thirty
    bytes of memory a text. Where texts are kept they are signed again; elsewhere it cannot be known
    in which buckets a document belongs, but only in how many it lies.

    Example: stream-dedup index verify --index /backup/monday
    """
    settings = settings_of(directory, config, override)
    with _viewed(settings) as view:
        from stream_dedup.cli.index_report import age
        from stream_dedup.upkeep.standing import standing
        from stream_dedup.upkeep.verification import problems

        state = standing(view.index.meta())
        rows = sum(size.rows_estimated for size in view.index.sizes().values())
        count = looked_at = 0

        def advance(rows: int) -> None:
            nonlocal looked_at
            looked_at += rows
            move(rows)

        with progress("Checking", rows) as move:
            for count, problem in enumerate(problems(view.index, advance), 1):
                if count <= _PROBLEMS_SHOWN:
                    typer.echo(problem)
        seen = age(view, state) if state else "nothing was written yet"
    if count:
        shown = f", {_PROBLEMS_SHOWN} of them shown" if count > _PROBLEMS_SHOWN else ""
        raise StreamDedupError(
            f"{count:,} problems in {looked_at:,} rows{shown} ({seen}). Put a snapshot in its "
            "place with `stream-dedup index restore`, or make the index anew with `stream-dedup "
            "index rebuild`"
        )
    typer.echo(f"{looked_at:,} rows, no problems ({seen})")


@contextmanager
def _viewed(settings: Settings) -> Iterator["View"]:
    from stream_dedup.upkeep.view import viewed

    with ExitStack() as stack:
        with notice_if_slow(OPENING):
            view = stack.enter_context(viewed(settings.index.directory, settings.index))
        yield view


for command in (compact, snapshot, restore, rebuild):
    index.command()(command)
