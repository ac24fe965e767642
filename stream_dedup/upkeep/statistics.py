"""What an index holds, in numbers: rows, bytes, buckets, the window and the verdicts so far."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from stream_dedup.config import Settings
from stream_dedup.errors import InputError
from stream_dedup.index.columns import decode_buckets
from stream_dedup.index.identity import changed_decisions
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.matching.logtime import UNDATED, LogTime
from stream_dedup.matching.verdicts import timestamp
from stream_dedup.similarity.crowding import recall_price
from stream_dedup.similarity.curve import agreement_from_similarity
from stream_dedup.similarity.scheme import scheme_fields
from stream_dedup.upkeep.standing import Standing, standing
from stream_dedup.upkeep.view import View

# Keys are hashes, so the first buckets are like all others.
BUCKETS_SAMPLED = 200_000
_CHUNK = 10_000


class Rows(Struct, frozen=True, kw_only=True):
    """A keyspace: its rows, and its bytes in files; what was written last is in no file yet."""

    rows: int
    bytes: int


class SizeClass(Struct, frozen=True, kw_only=True):
    """Buckets of a size from `least` to `most`."""

    least: int
    most: int
    buckets: int


class Buckets(Struct, frozen=True, kw_only=True):
    """How texts spread over buckets; `capped` ones have lost living entries to newer ones."""

    looked_at: int
    all_looked_at: bool
    entries: int
    largest: int
    capped: int
    sizes: list[SizeClass]


class Window(Struct, frozen=True, kw_only=True):
    """What is remembered: times are those of the log, None where nothing was dated yet."""

    seconds: float | None
    log_time: str | None
    remembers_from: str | None
    filled: float | None  # share of the window that lies behind the first time
    generation_start: str | None


class Crowding(Struct, frozen=True, kw_only=True):
    """What full buckets have cost so far."""

    documents: int  # that met one or more
    looked_up: int
    recall_price: float  # of pairs right at the threshold, at the most


class Statistics(Struct, frozen=True, kw_only=True):
    """All that `index stat` tells."""

    directory: str
    age_seconds: float
    last_write_seconds: float
    next_offset: int
    keyspaces: dict[str, Rows]
    rows_are_counted: bool
    bytes_on_disk: int
    bytes_per_document: float | None
    buckets: Buckets
    window: Window
    verdicts: dict[str, int]
    crowding: Crowding
    settings: dict[str, Any]
    settings_differ: list[str]


def statistics(
    view: View, settings: Settings, count: bool, on_rows: Callable[[int], None]
) -> Statistics:
    """Gather all; count rows and look at all buckets, or estimate and take a sample."""
    index, meta = view.index, view.index.meta()
    state = standing(meta)
    if state is None:
        raise InputError(f"nothing was written to {settings.index.directory} yet")
    spread = buckets(index, None if count else BUCKETS_SAMPLED, on_rows)
    rows = {
        str(keyspace): Rows(
            rows=_rows(index, keyspace, spread, on_rows) if count else size.rows_estimated,
            bytes=size.bytes,
        )
        for keyspace, size in index.sizes().items()
    }
    size, documents = index.disk_bytes(), rows[Keyspace.IDS].rows
    return Statistics(
        directory=settings.index.directory,
        age_seconds=round(view.age_seconds, 3),
        last_write_seconds=round(view.last_write_seconds, 3),
        next_offset=state.next_offset,
        keyspaces=rows,
        rows_are_counted=count,
        bytes_on_disk=size,
        bytes_per_document=round(size / documents, 1) if documents else None,
        buckets=spread,
        window=window(state),
        verdicts=dict(sorted(state.tally.types.items())),
        crowding=crowding(state),
        settings=_settings_in_words(state),
        settings_differ=[*_changed_scheme(state, settings), *changed_decisions(meta, settings)],
    )


def _rows(index: Index, keyspace: Keyspace, spread: Buckets, on_rows: Callable[[int], None]) -> int:
    """Count the rows of a keyspace that were not looked at before."""
    if keyspace is Keyspace.BUCKETS:
        return spread.looked_at
    total = 0
    rows = index.scan(keyspace)
    while count := sum(1 for _ in islice(rows, _CHUNK)):
        total += count
        on_rows(count)
    return total


def buckets(
    index: Index, looked_at_max: int | None, on_rows: Callable[[int], None] = lambda count: None
) -> Buckets:
    """Measure the first buckets, or all."""
    rows = index.scan(Keyspace.BUCKETS)
    lengths, capped = [np.empty(0, np.int64)], 0
    for values in _chunks(islice(rows, looked_at_max)):
        _, bounds, is_capped = decode_buckets(values)
        lengths.append(np.diff(bounds))
        capped += int(is_capped.sum())
        on_rows(len(values))
    every = np.concatenate(lengths)
    return Buckets(
        looked_at=len(every),
        all_looked_at=next(iter(rows), None) is None,
        entries=int(every.sum()),
        largest=int(every.max(initial=0)),
        capped=capped,
        sizes=_size_classes(every),
    )


def _chunks(rows: Iterator[tuple[bytes, bytes]]) -> Iterator[list[bytes]]:
    while values := [value for _, value in islice(rows, _CHUNK)]:
        yield values


def _size_classes(lengths: NDArray[np.int64]) -> list[SizeClass]:
    """Count buckets of 0 and 1 entries, of 2, of 3 and 4, of 5 to 8 and so on."""
    classes, least, most = [], 0, 1
    while least <= lengths.max(initial=-1):
        count = int(((lengths >= least) & (lengths <= most)).sum())
        classes.append(SizeClass(least=least, most=most, buckets=count))
        least, most = most + 1, 2 * most
    return classes


def window(state: Standing) -> Window:
    """Tell how far the window reaches."""
    clock, seconds = state.log_time, state.window_seconds
    return Window(
        seconds=seconds,
        log_time=moment(clock.now),
        remembers_from=moment(max(clock.horizon, clock.first)),
        filled=_filled(clock, seconds),
        generation_start=moment(clock.generation_start),
    )


def _filled(clock: LogTime, seconds: float | None) -> float | None:
    if seconds is None or clock.now == UNDATED:
        return None
    return min(1.0, (clock.now - clock.first) / (1000 * seconds))


def moment(milliseconds: int) -> str | None:
    """Write a log time; a year that has no name in the calendar is told in milliseconds."""
    try:
        return timestamp(milliseconds)
    except OverflowError:
        return f"{milliseconds} ms"


def crowding(state: Standing) -> Crowding:
    """Estimate what full buckets have cost."""
    tally, scheme = state.tally, state.scheme
    looked_up = tally.types.get("unique", 0) + tally.types.get("duplicate", 0)
    threshold = float(state.decisions["similarity.threshold"])
    agreement = agreement_from_similarity(threshold, scheme["measure"])
    price = recall_price(tally.capped, looked_up, agreement, scheme["bands"], scheme["rows"])
    return Crowding(
        documents=sum(tally.capped.values()), looked_up=looked_up, recall_price=float(price)
    )


def _settings_in_words(state: Standing) -> dict[str, Any]:
    """Name the settings that the index was made with, and those that decided last."""
    scheme = {
        f"events.{name}" if name == "text_fields" else f"similarity.{name}": value
        for name, value in state.scheme.items()
        if name != "scheme"
    }
    return {**scheme, **state.decisions, "scheme": state.scheme["scheme"]}


def _changed_scheme(state: Standing, settings: Settings) -> Iterator[str]:
    for name, value in scheme_fields(settings).items():
        if state.scheme.get(name) != value:
            yield f"{name}: {state.scheme.get(name)} before, {value} now"
