"""`stream-dedup topics`: what the service wants of Kafka's topics, made and checked."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from stream_dedup.cli import options
from stream_dedup.cli.terminal import notice_if_slow
from stream_dedup.config import Settings
from stream_dedup.errors import Refused

if TYPE_CHECKING:
    from stream_dedup.kafka.topic_plan import TopicPlan

_PIPE_WIDTH = 250  # no line is longer, so none is folded
ASKING = "Asking Kafka …"

Servers = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-servers",
        metavar="HOST:PORT",
        help="A broker of the cluster, or several with commas between.",
        show_default=str(Settings().kafka.bootstrap_servers),
    ),
]

topics = typer.Typer()


@topics.callback(invoke_without_command=True)
def topics_commands(context: typer.Context) -> None:
    """Show which Kafka topics the service wants; make them, check them.

    `run` makes what is missing and checks all at each start, so this is for those who want to know
    before, and for clusters where others make the topics (kafka.create_topics = false).

    \b
    Examples: stream-dedup topics plan
              stream-dedup topics plan --commands > for-the-administrator.sh
              stream-dedup topics rights User:stream-dedup >> for-the-administrator.sh
              stream-dedup topics check --config news.toml
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@topics.command()
def plan(
    *,
    commands: Annotated[
        bool,
        typer.Option("--commands", help="Print Kafka's own commands that make them, nothing else."),
    ] = False,
    bootstrap_servers: Servers = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Show the topics, their settings with the reasons, and what they cost. Needs no broker.

    Example: stream-dedup topics plan --set kafka.topics.unique=new-documents
    """
    from stream_dedup.kafka.topic_plan import plan as plan_topics

    settings = settings_with(bootstrap_servers, config, override)
    planned = plan_topics(settings)
    if commands:
        for topic in planned:
            typer.echo(topic.command(settings.kafka.bootstrap_servers))
    else:
        _show(planned, settings)


@topics.command()
def rights(
    principal: Annotated[
        str, typer.Argument(help="Who it is to the cluster, such as User:stream-dedup.")
    ],
    *,
    rejected: Annotated[
        bool,
        typer.Option(
            "--rejected",
            help="Print instead what somebody needs who calls `stream-dedup rejected`.",
        ),
    ] = False,
    bootstrap_servers: Servers = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Print Kafka's own commands that grant the service all it needs, and no more.

    For clusters that ask who may do what. The service never reads what it rejected and writes no
    documents: who looks at rejected records and sends them in again needs rights of their own.
    Needs no broker.

    \b
    Examples: stream-dedup topics rights User:stream-dedup --config news.toml
              stream-dedup topics rights User:an-operator --rejected
    """
    from stream_dedup.kafka.rights import grants, replay_grants

    settings = settings_with(bootstrap_servers, config, override)
    for grant in replay_grants(settings) if rejected else grants(settings):
        typer.echo(f"# {grant.reason}")
        typer.echo(grant.command(settings.kafka.bootstrap_servers, principal))
    if not rejected:
        typer.echo("# who looks at rejected records and sends them in again: see --rejected")


@topics.command()
def create(
    bootstrap_servers: Servers = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Make the topics that are missing, and check all; what is there is not changed.

    Example: stream-dedup topics create --bootstrap-servers localhost:9092
    """
    settings = settings_with(bootstrap_servers, config, override)
    from stream_dedup.kafka.clients import Clients
    from stream_dedup.kafka.topic_plan import plan as plan_topics
    from stream_dedup.kafka.topics import create as make

    with notice_if_slow(ASKING):
        admin, servers = Clients(settings.kafka).admin(), settings.kafka.bootstrap_servers
        made = make(admin, plan_topics(settings), servers)
    for name in made:
        typer.echo(f"{name}: made")
    _check(settings)


@topics.command()
def check(
    bootstrap_servers: Servers = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Check that the topics are there and as they must be. Changes nothing.

    Prints what is wrong with the command that mends it, one problem a line, and ends with 3 if
    anything is.

    Example: stream-dedup topics check --config news.toml
    """
    _check(settings_with(bootstrap_servers, config, override))


def _check(settings: Settings) -> None:
    from stream_dedup.kafka.clients import Clients
    from stream_dedup.kafka.topic_plan import plan as plan_topics
    from stream_dedup.kafka.topics import check as find_problems

    planned = plan_topics(settings)
    with notice_if_slow(ASKING):
        admin, servers = Clients(settings.kafka).admin(), settings.kafka.bootstrap_servers
        problems = find_problems(admin, planned, servers)
    for problem in problems:
        typer.echo(str(problem))
    if problems:
        raise Refused(f"problems with topics: {len(problems)}; `run` would not start")
    typer.echo(f"{len(planned)} topics, no problems")


def settings_with(
    bootstrap_servers: str | None, config: Path | None, override: Sequence[str] | None
) -> Settings:
    """Load the settings with the servers that were named."""
    given = {"kafka.bootstrap_servers": ("--bootstrap-servers", bootstrap_servers)}
    return options.settings_from(config, override, given)


def _show(planned: "list[TopicPlan]", settings: Settings) -> None:
    """Print for people: as a table on a terminal, as plain columns in a pipe."""
    watched = sys.stdout.isatty()
    console = Console(highlight=False, width=None if watched else _PIPE_WIDTH)
    with console.capture() as printed:
        console.print(_table(planned, watched))
        console.print()
        console.print(_costs(settings), markup=False)
    typer.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _table(planned: "list[TopicPlan]", watched: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD if watched else None, pad_edge=False)
    for heading in ("topic", "partitions", "setting", "value", "reason"):
        table.add_column(heading, overflow="fold")
    for topic in planned:
        partitions = str(topic.partitions) if topic.partitions > 0 else "any"
        table.add_row(topic.name, partitions, "", "", topic.purpose, style="bold")
        for wanted in topic.wanted:
            value = wanted.bound if topic.is_ours else wanted.value
            table.add_row("", "", wanted.setting, value, wanted.reason)
    return table


def _costs(settings: Settings) -> str:
    from stream_dedup.kafka.topic_plan import copies_carried, signature_bytes

    size = signature_bytes(settings.similarity)
    copies = copies_carried(settings)
    carried = {
        0: "It holds no texts; similarity.verify = exact adds each text, kafka.topics.unique and "
        "kafka.topics.duplicates add each original, compressed.",
        1: "To this comes each document, compressed, for similarity.verify = exact or a route.",
        2: "To this comes each document twice, compressed: for similarity.verify = exact and for "
        "the routes.",
    }
    return (
        f"{settings.kafka.topics.signatures} takes about {size.total} bytes a document: signature "
        f"{size.signature}, band keys {size.band_keys}, ids and numbers {size.others}.\n"
        f"Short texts add up to {8 * settings.similarity.hashes} bytes: their shingles. "
        f"{carried[copies]}\n"
        "Match deletes what has left the window, so it holds as many documents as the index.\n"
        "any: as many partitions as the cluster gives by default. Copies: the cluster's default."
    )
