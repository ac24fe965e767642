"""The commands and their names. Each command imports what it computes with when it is called."""

from typing import Annotated

import typer

from stream_dedup import __version__
from stream_dedup.cli.demo import demo
from stream_dedup.cli.explain import explain
from stream_dedup.cli.index import index
from stream_dedup.cli.metrics import metrics
from stream_dedup.cli.pairs import pairs
from stream_dedup.cli.plan import plan
from stream_dedup.cli.rejected_topic import rejected
from stream_dedup.cli.run import run
from stream_dedup.cli.topics import topics

app = typer.Typer(
    name="stream-dedup",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def stream_dedup(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Find copies and near copies of documents in files, pipes and topics of Kafka."""
    if version:
        typer.echo(f"stream-dedup {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(run)
app.command()(pairs)
app.command()(plan)
app.command()(explain)
app.command()(demo)
app.command()(metrics)
app.add_typer(index, name="index")
app.add_typer(topics, name="topics")
app.add_typer(rejected, name="rejected")
