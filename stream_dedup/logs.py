"""What the service says of itself: one line an event on stderr, for people or for a collector.

    _log.info("assigned", extra=fields(partition=0, next_offset=812))

A line that repeats is told once in ten seconds, later with how often it would have been told.
Nothing is told whose name looks like that of a secret.
"""

import json
import logging
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from stream_dedup.config import LogSettings

LIBRDKAFKA = "stream_dedup.librdkafka"
REPEAT_SECONDS = 10.0
# Different lines that are remembered for that long: a flood of them must not fill the memory.
LINES_MAX = 1000
HIDDEN = "(hidden)"

# Whole families, such as all of sasl.*: a name too many costs a look into the settings.
_SECRET = re.compile(
    "passw|passphrase|secret|token|credential|private|sasl|authorization|api_?key|"
    r"ssl[._]key[._]pem",
    re.IGNORECASE,
)
_OWN_NAMES = ("time", "level", "logger", "message")


class Event(NamedTuple):
    """What a line tells, but for the time."""

    level: str
    logger: str
    message: str
    fields: dict[str, Any]


_Form = Callable[[float, Event], str]


def begin(settings: LogSettings) -> None:
    """Log to stderr from now on, as the settings say; a second call takes the first one's place."""
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, Lines)]:
        root.removeHandler(handler)
        handler.close()
    root.addHandler(Lines(settings.format))
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    logging.getLogger("stream_dedup").setLevel(level)
    # It tells of each connection, of which the stages tell what matters.
    logging.getLogger(LIBRDKAFKA).setLevel(max(level, logging.WARNING))


def fields(**values: object) -> dict[str, object]:
    """Return what a line tells beside its message, to be given as `extra`."""
    return {"fields": values}


@dataclass
class _Told:
    """A line that was told, and how often it came again since."""

    event: Event
    at: float
    repeated: int = 0
    created: float = 0.0  # of the latest repetition


class Lines(logging.Handler):
    """Writes an event as one line, and holds back what it has just said.

    What was held back is told before the next line after its time, or when logging ends.
    """

    def __init__(self, form: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._form: _Form = {"text": as_text, "json": as_json}[form]
        self._clock = clock
        self._told: dict[str, _Told] = {}  # the earliest first

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, or count it."""
        now = self._clock()
        self._tell_repeated(now - REPEAT_SECONDS)
        event = _event(record)
        told = self._told.setdefault(as_json(0, event), _Told(event, now, repeated=-1))
        told.repeated += 1
        told.created = record.created
        if not told.repeated:
            self._write(record.created, event)

    def close(self) -> None:
        """Tell what is still held back."""
        self.acquire()
        try:
            self._tell_repeated(math.inf)
        finally:
            self.release()
        super().close()

    def _tell_repeated(self, until: float) -> None:
        """Forget lines told before `until`, unless they came again: that is told now."""
        while self._told:
            key, told = next(iter(self._told.items()))
            if told.at > until and len(self._told) <= LINES_MAX:
                return
            del self._told[key]
            if told.repeated:
                counted = told.event.fields | {"repeated": told.repeated}
                self._write(told.created, told.event._replace(fields=counted))
                self._told[key] = replace(told, at=self._clock(), repeated=0)

    def _write(self, created: float, event: Event) -> None:
        """Write and flush; a stream that is closed or full is no reason to stop working."""
        if sys.stderr is not None:
            with suppress(OSError, ValueError):
                sys.stderr.write(f"{self._form(created, event)}\n")
                sys.stderr.flush()


def as_text(created: float, event: Event) -> str:
    """Write a line for people: time, level, message and `name=value`."""
    words = [_time(created), event.level, _quoted(event.message, " ")]
    words += (f"{_quoted(name)}={_quoted(value)}" for name, value in _flat(event.fields))
    return " ".join(words)


def as_json(created: float, event: Event) -> str:
    """Write a line for programs: one object, the fields beside time, level, logger and message."""
    own = (_time(created), event.level, event.logger, event.message)
    # A field that is called as one of these gets an underscore, so that none is lost.
    others = {name + "_" * (name in _OWN_NAMES): value for name, value in event.fields.items()}
    return json.dumps(dict(zip(_OWN_NAMES, own, strict=True)) | others)


def _time(created: float) -> str:
    moment = datetime.fromtimestamp(created, UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='milliseconds')}Z"


def _event(record: logging.LogRecord) -> Event:
    given = getattr(record, "fields", None)
    values = _shown(given) if isinstance(given, Mapping) else {}
    if record.exc_info and record.exc_info[0]:
        values["traceback"] = logging.Formatter().formatException(record.exc_info)
    return Event(record.levelname.lower(), record.name, _message(record), values)


def _message(record: logging.LogRecord) -> str:
    """Put arguments in; whole settings among them lose their secrets here too."""
    arguments: Any = record.args
    if isinstance(arguments, Mapping):
        arguments = _shown(arguments)
    elif arguments:
        containers = (msgspec.Struct, Mapping, list, tuple)
        arguments = tuple(_shown(one) if isinstance(one, containers) else one for one in arguments)
    try:
        return str(record.msg) % arguments if arguments else str(record.msg)
    except (TypeError, ValueError, KeyError):  # another's mistake, and still worth reading
        return f"{record.msg} {arguments}"


def _shown(value: object, name: str = "") -> Any:
    """Make a value what JSON knows; hide what is called a secret, however deep it lies."""
    if _SECRET.search(name):
        return HIDDEN
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _shown(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_shown(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    return value if isinstance(value, str | int | float | None) else str(value)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Name what lies in a mapping with dots, as settings are named."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_plain, value))
    return value if isinstance(value, str) else json.dumps(value)


def _quoted(text: str, allowed: str = "") -> str:
    """Quote as JSON does what would not be read as one word, or would not stay on its line."""
    is_word = text.isprintable() and text and not set(' ="') - set(allowed) & set(text)
    return text if is_word else json.dumps(text, ensure_ascii=not text.isprintable())
