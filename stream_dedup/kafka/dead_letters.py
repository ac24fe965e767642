"""Dead letters: rejected records, with what readers of Kafka Connect's dead letters look for. Pure.

A dead letter is the record as it came, and behind its own headers those of the rejection: where it
was read, when it was written, and why it was rejected. Numbers in headers are text.
"""

from typing import NamedTuple

from stream_dedup.kafka.messages import ORIGINAL_TIMESTAMP, Headers, Incoming, Outgoing
from stream_dedup.matching.logtime import UNDATED

_CONNECT = "__connect.errors."
# Connect too writes the topic before the others: what stands before it is the record's own.
_TOPIC = f"{_CONNECT}topic"
_PARTITION = f"{_CONNECT}partition"
_OFFSET = f"{_CONNECT}offset"
_STAGE = f"{_CONNECT}stage"
_CLASS = f"{_CONNECT}exception.class.name"
_REASON = f"{_CONNECT}exception.message"
_OURS = "stream-dedup-"
_TRUNCATED = f"{_OURS}truncated-from"

_REASON_CHARACTERS_MAX = 1000  # it may quote the record
# Lengths, checksums and the batch around a record, generously.
_FRAME_BYTES = 512
_HEADER_FRAME_BYTES = 10
_DIGITS_MAX = 20


class DeadLetter(NamedTuple):
    """A rejected record, and what is known of its rejection; foreign ones may lack any of it."""

    topic: str | None
    partition: int | None
    offset: int | None
    timestamp: int  # of the record when it was read; `logtime.UNDATED` where that is not known
    reason: str
    truncated_from: int | None  # bytes of the value that did not fit; None if all is here
    key: bytes | None
    value: bytes | None
    headers: Headers  # the record's own

    @property
    def source(self) -> str:
        """Say where the whole record was read."""
        if self.topic is None or self.partition is None or self.offset is None:
            return "an unknown place"
        return f"topic {self.topic}, partition {self.partition}, offset {self.offset}"


def dead_letter(record: Incoming, reason: str, topic: str, bytes_max: int) -> Outgoing:
    """Return what is written to the topic of rejected records: at most so many bytes.

    From 6,000 on it always fits, for a dead letter that no broker takes would hold up all records
    behind it: the value is cut first, then headers go, and the key is cut last.
    """
    about = _about(record, reason)
    key, value, headers = record.key, record.value, record.headers
    room = bytes_max - _FRAME_BYTES - _size(about)
    # What could not be read is missing too: the place of the whole record is told.
    if record.unreadable or _length(key) + _length(value) + _size(headers) > room:
        about.append((_TRUNCATED, str(_length(value)).encode()))
        room -= _size(about[-1:])
        headers = headers if _length(key) + _size(headers) <= room else []
        key = key and key[: max(0, room)]
        value = value and value[: max(0, room - _length(key) - _size(headers))]
    return Outgoing(topic, key, value, [*headers, *about])


def read_dead_letter(record: Incoming) -> DeadLetter:
    """Return the rejected record behind a dead letter, whoever wrote it."""
    names = [name for name, _ in record.headers]
    start = len(names) - 1 - names[::-1].index(_TOPIC) if _TOPIC in names else len(names)
    about = dict(record.headers[start:])
    added = [header for header in record.headers[start:] if not _is_ours(header[0])]
    timestamp = _number(about.get(ORIGINAL_TIMESTAMP))
    return DeadLetter(
        topic=_text(about.get(_TOPIC)),
        partition=_number(about.get(_PARTITION)),
        offset=_number(about.get(_OFFSET)),
        timestamp=UNDATED if timestamp is None else timestamp,
        reason=_text(about.get(_REASON)) or "",
        truncated_from=_number(about.get(_TRUNCATED)),
        key=record.key,
        value=record.value,
        headers=record.headers[:start] + added,
    )


def _about(record: Incoming, reason: str) -> Headers:
    written = {
        _TOPIC: record.topic,
        _PARTITION: str(record.partition),
        _OFFSET: str(record.offset),
        _STAGE: "VALUE_CONVERTER",
        _CLASS: "stream_dedup.errors.DocumentRejected",
        _REASON: reason[:_REASON_CHARACTERS_MAX],
    }
    if record.timestamp != UNDATED:
        written[ORIGINAL_TIMESTAMP] = str(record.timestamp)
    return [(name, text.encode("utf-8", "replace")) for name, text in written.items()]


def _is_ours(name: str) -> bool:
    return name.startswith((_CONNECT, _OURS))


def _length(value: bytes | None) -> int:
    return len(value or b"")


def _size(headers: Headers) -> int:
    return sum(
        len(name.encode("utf-8", "replace")) + _length(value) + _HEADER_FRAME_BYTES
        for name, value in headers
    )


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")


def _number(value: bytes | None) -> int | None:
    """Read a number written as text; other readers' numbers may be anything."""
    try:
        return None if value is None or len(value) > _DIGITS_MAX else int(value)
    except ValueError:
        return None
