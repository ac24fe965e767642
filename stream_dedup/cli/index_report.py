"""What `index stat` and `index get` print, for people or as JSON."""

from collections.abc import Iterator

import msgspec
import typer
from rich.filesize import decimal

from stream_dedup.upkeep.lookup import KnownCluster, KnownGroup, KnownMember, Remembered
from stream_dedup.upkeep.standing import Standing
from stream_dedup.upkeep.statistics import Buckets, Crowding, Statistics, Window, moment
from stream_dedup.upkeep.view import View

Line = tuple[str, str]

_LABEL_WIDTH = 16
_NAMED = 5  # of sources and of texts of a cluster
_DAY_SECONDS, _HOUR_SECONDS, _MINUTE_SECONDS = 86400, 3600, 60


def to_json(found: object) -> str:
    """Return all fields, for machines."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()


def remembered_to_json(found: Remembered, view: View, state: Standing) -> str:
    """Return all fields, and how old the view is."""
    seen = {
        "log_time": moment(state.log_time.now),
        "next_offset": state.next_offset,
        "last_write_seconds": round(view.last_write_seconds, 3),
        "age_seconds": round(view.age_seconds, 3),
    }
    return to_json({**msgspec.to_builtins(found), "view": seen})


def age(view: View, state: Standing) -> str:
    """Say how old a view is."""
    log_time = moment(state.log_time.now)
    return _as_of(log_time, state.next_offset, view.last_write_seconds, view.age_seconds)


def show_statistics(found: Statistics) -> None:
    """Print for people."""
    seen = _as_of(
        found.window.log_time, found.next_offset, found.last_write_seconds, found.age_seconds
    )
    _print([(found.directory, seen), *_sizes(found), *_buckets(found), *_others(found)])


def show_remembered(found: Remembered, seen: str) -> None:
    """Print for people."""
    record = found.record
    lines = [
        ("document", f"{found.id}{_in_namespace(found.namespace)}"),
        ("seen", f"{found.seen or 'undated'}{' (expired)' if found.expired else ''}"),
        ("record", f"{record.topic}, partition {record.partition}, offset {record.offset}"),
    ]
    if found.group:
        lines += _group(found.group)
    if found.cluster:
        lines += _cluster(found.cluster)
    if found.text is not None:
        lines.append(("text", "is kept; --text prints it"))
    _print([*lines, ("view", seen)])


def _print(lines: list[Line]) -> None:
    for label, value in lines:
        typer.echo(f"{label:{_LABEL_WIDTH}} {value}".rstrip())


def _as_of(log_time: str | None, next_offset: int, written: float, opened: float) -> str:
    return (
        f"as of log time {log_time or 'unknown'}, next offset {next_offset:,}; last written "
        f"{_seconds(written)} before it was opened, {_seconds(opened)} ago"
    )


def _sizes(found: Statistics) -> Iterator[Line]:
    each = found.bytes_per_document
    about = "" if found.rows_are_counted else "about "
    documents = found.keyspaces["ids"].rows
    in_words = f", {each:,.0f} for each of {about}{documents:,} documents" if each else ""
    yield "on disk", f"{found.bytes_on_disk:,} bytes{in_words}"
    how = "counted" if found.rows_are_counted else "estimated; --exact counts"
    yield "rows", f"{how}; bytes in files, where what was written last is not yet"
    for name, size in found.keyspaces.items():
        yield f"  {name}", f"{size.rows:>15,}  {decimal(size.bytes):>10}"


def _buckets(found: Statistics) -> Iterator[Line]:
    spread = found.buckets
    which = "all of them" if spread.all_looked_at else "a sample"
    mean = spread.entries / max(1, spread.looked_at)
    yield (
        "buckets",
        f"{spread.looked_at:,} looked at, {which}; {mean:.2f} texts in one on average, "
        f"{spread.largest:,} in the largest",
    )
    yield from _classes(spread)
    cap = found.settings["index.bucket_size_max"]
    yield "  full", f"{spread.capped:>15,}  let living texts go, at {cap:,}"


def _classes(spread: Buckets) -> Iterator[Line]:
    for size in spread.sizes:
        share = size.buckets / max(1, spread.looked_at)
        yield _range(size.least, size.most), f"{size.buckets:>15,}  {share:>10.2%}"


def _range(least: int, most: int) -> str:
    return f"  {most:,} texts" if least == most else f"  {least:,} to {most:,} texts"


def _others(found: Statistics) -> Iterator[Line]:
    yield "window", _window(found.window)
    if found.window.generation_start:
        yield "generation", f"since {found.window.generation_start}"
    counted = ", ".join(f"{kind} {count:,}" for kind, count in found.verdicts.items())
    yield "verdicts", counted or "none"
    yield "full buckets", _crowding(found.crowding)
    for name, value in found.settings.items():
        yield "settings" if name == next(iter(found.settings)) else "", f"{name} = {value}"
    for difference in found.settings_differ:
        yield "differs", f"from the settings given here: {difference}"


def _window(window: Window) -> str:
    if window.seconds is None:
        return "none: nothing is forgotten"
    if window.filled is None:
        return f"{_seconds(window.seconds)}; nothing had a time yet"
    return (
        f"{_seconds(window.seconds)}, {window.filled:.0%} of it filled; remembers what was seen "
        f"from {window.remembers_from} on"
    )


def _crowding(crowding: Crowding) -> str:
    if not crowding.documents:
        return "no document has met one"
    share = crowding.documents / max(1, crowding.looked_up)
    return (
        f"{crowding.documents:,} of {crowding.looked_up:,} documents ({share:.2%}) have met some; "
        f"of pairs right at the threshold at most {crowding.recall_price:.4%} were missed for it"
    )


def _in_namespace(namespace: str) -> str:
    return f", namespace {namespace}" if namespace else ""


def _group(group: KnownGroup) -> Iterator[Line]:
    counted = f"{group.living:,} living" + (
        f", {group.kept} of them listed" if group.kept < group.living else ""
    )
    yield "same text", f"{counted}; first seen {_time(group.first_seen)}"
    for label, member in (("  first", group.first), ("  latest", group.latest)):
        if member:
            yield label, _member(member)
    yield "  sources", _some([source or "(none)" for source in group.sources])


def _member(member: KnownMember) -> str:
    source = f", {member.source}" if member.source else ""
    expired = "" if member.living else ", expired"
    return f"{member.id}{source}, seen {_time(member.seen)}{expired}"


def _cluster(cluster: KnownCluster) -> Iterator[Line]:
    if cluster.id is None:
        yield "cluster", "closed: the document that represented it is gone"
    else:
        documents = "document" if cluster.size == 1 else "documents"
        yield "cluster", f"{cluster.id}, {cluster.size:,} {documents}"
    yield "  last", _some(cluster.last[::-1])


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _time(moment: str | None) -> str:
    return moment or "undated"


def _seconds(seconds: float) -> str:
    """Write a length of time in the unit that suits it."""
    for unit, name in ((_DAY_SECONDS, "d"), (_HOUR_SECONDS, "h"), (_MINUTE_SECONDS, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.3g} {name}"
    return f"{max(0.0, seconds):.1f} s"
