"""`stream-dedup rejected`: what was rejected from Kafka, and giving it back."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from stream_dedup.cli import options
from stream_dedup.cli.terminal import notice_if_slow, progress, stderr
from stream_dedup.cli.topics import ASKING, Servers, settings_with
from stream_dedup.config import KafkaSettings
from stream_dedup.errors import Refused, UsageError

if TYPE_CHECKING:
    from stream_dedup.kafka.dead_letters import DeadLetter
    from stream_dedup.kafka.rejected_topic import Place, Rejected, RejectedTopic

_LISTED = 20
_TRUNCATED_SHOWN = 20

Reason = Annotated[
    str, typer.Option(metavar="WORDS", help="Only those whose reason has these words.")
]

rejected = typer.Typer()


@rejected.callback(invoke_without_command=True)
def rejected_commands(context: typer.Context) -> None:
    """Look at the records that were no documents, and give them back once that is mended.

    A record is named by its place in the topic of rejected records: PARTITION:OFFSET.

    \b
    Examples: stream-dedup rejected list --reason "no text"
              stream-dedup rejected show 0:812
              stream-dedup rejected replay --reason "no text"
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@rejected.command("list")
def list_rejected(
    reason: Reason = "",
    limit: Annotated[int, typer.Option(min=1, help="How many, the newest.")] = _LISTED,
    bootstrap_servers: Servers = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """List rejected records, the newest last: a table, in a pipe a line of JSON each.

    Example: stream-dedup rejected list --limit 1000 | jq -r .reason | sort | uniq -c
    """
    kafka = settings_with(bootstrap_servers, config, override).kafka
    from stream_dedup.cli.rejected_report import show_list
    from stream_dedup.kafka.rejected_topic import Selection

    with notice_if_slow(ASKING):
        found = Selection(reason, limit).of(_topic(kafka).letters())
    show_list(found)


@rejected.command()
def show(
    place: Annotated[str, typer.Argument(metavar="PARTITION:OFFSET", help="Where it lies.")],
    bootstrap_servers: Servers = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Show a rejected record whole: reason, source, key, headers and value.

    Example: stream-dedup rejected show 0:812
    """
    kafka = settings_with(bootstrap_servers, config, override).kafka
    from stream_dedup.cli.rejected_report import show_whole

    with notice_if_slow(ASKING):
        found = _topic(kafka).letter(_place(place))
    show_whole(found)


@rejected.command()
def replay(
    *,
    places: Annotated[
        list[str] | None,
        typer.Argument(metavar="PARTITION:OFFSET", help="Which; without any, all."),
    ] = None,
    reason: Reason = "",
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many, the newest.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    bootstrap_servers: Servers = None,
    config: options.Config = None,
    override: options.Override = None,
) -> None:
    """Write rejected records to the topic of documents once more, as they came.

    They stay in the topic of rejected records too. Those that were truncated are left out, with
    the place of the whole record. Key, value and headers are the original ones, the time is new.

    Example: stream-dedup rejected replay --reason "no text" --yes
    """
    kafka = settings_with(bootstrap_servers, config, override).kafka
    from stream_dedup.kafka.rejected_topic import Selection

    topic = _topic(kafka)
    selection = Selection(reason, limit, frozenset(map(_place, places or ())))
    with notice_if_slow(ASKING):
        found = selection.of(topic.letters())
    chosen = {one.place for one in _whole(found, selection.places)}
    if chosen and (yes or _confirmed(len(chosen), kafka)):
        _replay(kafka, topic, chosen)
    elif not chosen:
        typer.echo("nothing to replay")


def _replay(kafka: KafkaSettings, topic: "RejectedTopic", chosen: set["Place"]) -> None:
    from stream_dedup.kafka.clients import Clients
    from stream_dedup.kafka.replaying import Replayer
    from stream_dedup.kafka.rights import replay_id

    replayer = Replayer(Clients(kafka), replay_id(kafka.application), kafka.topics.documents)
    with progress("Replaying", len(chosen)) as advance:
        replayer.replay(_chosen(topic, chosen), advance)
    typer.echo(f"{replayer.count:,} records replayed to topic {kafka.topics.documents}")


def _chosen(topic: "RejectedTopic", chosen: set["Place"]) -> Iterator["DeadLetter"]:
    """Read them again, now with their values, until the last one has come."""
    left = set(chosen)
    for found in topic.letters():
        if found.place in left:
            left.remove(found.place)
            yield found.letter
            if not left:
                return
    if left:
        raise Refused(f"{len(left):,} of the records were deleted meanwhile, as {min(left)}")


def _whole(found: Sequence["Rejected"], named: Iterable["Place"]) -> list["Rejected"]:
    """Return those that can be replayed, and tell of the others."""
    from stream_dedup.cli.rejected_report import printable

    missing = sorted(set(named) - {one.place for one in found})
    if missing:
        raise UsageError(f"no such rejected record: {', '.join(map(str, missing))}")
    truncated = [one for one in found if one.letter.truncated_from is not None]
    for one in truncated[:_TRUNCATED_SHOWN]:
        source = printable(one.letter.source)
        message = f"not replayed: {one.place} is truncated; the whole record is in {source}"
        stderr.print(message, markup=False)
    if len(truncated) > _TRUNCATED_SHOWN:
        stderr.print(f"… and {len(truncated) - _TRUNCATED_SHOWN:,} more that are truncated")
    if truncated and len(truncated) == len(found):
        raise Refused("none of these records is whole; produce them again from where they are")
    return [one for one in found if one.letter.truncated_from is None]


def _confirmed(count: int, kafka: KafkaSettings) -> bool:
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError(f"{count:,} records would be replayed; --yes does it without a question")
    return typer.confirm(
        f"Replay {count:,} records to topic {kafka.topics.documents}?", abort=True, err=True
    )


def _topic(kafka: KafkaSettings) -> "RejectedTopic":
    from stream_dedup.kafka.clients import Clients
    from stream_dedup.kafka.rejected_topic import RejectedTopic

    return RejectedTopic(Clients(kafka), kafka.topics.rejected)


def _place(written: str) -> "Place":
    from stream_dedup.kafka.rejected_topic import Place

    found = re.fullmatch(r"(\d{1,10}):(\d{1,18})", written, re.ASCII)
    if not found:
        raise UsageError(f"{written!r} is no PARTITION:OFFSET, such as 0:812")
    return Place(int(found[1]), int(found[2]))
