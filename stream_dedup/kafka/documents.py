"""From records to events: a document, the end of one, or a reason why it is neither. Pure."""

from codecs import BOM_UTF8
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from stream_dedup.config import EventsSettings
from stream_dedup.errors import DocumentRejected
from stream_dedup.events import Deletion, Document, DocumentDecoder
from stream_dedup.kafka.messages import Incoming

# A name stands in the verdict of each document that resembles its own, key and headers in up to
# three records; all of these have to fit beside everything else, or no topic takes them.
NAMES_BYTES_MAX = 4096
AROUND_BYTES_MAX = 256 * 1024

_Moment = Annotated[datetime, Meta(tz=True)]


class EventReader:
    """Reads events under the settings' names; raises `DocumentRejected` and nothing else.

    A record without a value ends the document that its key names. What JSON has fields for, such a
    record and plain text have headers for, under the same names.
    """

    def __init__(self, settings: EventsSettings) -> None:
        self._settings = settings
        self._decoder = DocumentDecoder(settings)

    def read(self, record: Incoming) -> Document | Deletion:
        """Read one event."""
        if record.unreadable:
            raise DocumentRejected(record.unreadable, "not UTF-8")
        _check_around(record)
        event = self._event(record)
        names = (event.id, event.namespace, event.source if isinstance(event, Document) else "")
        if sum(len(name.encode("utf-8", "replace")) for name in names) > NAMES_BYTES_MAX:
            raise DocumentRejected(
                f"more than {NAMES_BYTES_MAX} bytes in id, source and namespace together",
                "too large",
            )
        return event

    def _event(self, record: Incoming) -> Document | Deletion:
        if record.value is None:
            return self._deletion(record)
        if self._settings.format == "text":
            return self._plain(record, record.value)
        return self._decoder.decode_event(record.value, record.key)

    def _deletion(self, record: Incoming) -> Deletion:
        return Deletion(
            id=_key(record),
            namespace=_header(record, self._settings.namespace_field),
            published_at=self._published_at(record),
        )

    def _plain(self, record: Incoming, value: bytes) -> Document:
        limit = self._settings.document_bytes_max
        if len(value) > limit:
            told = f"more than events.document_bytes_max = {limit} bytes"
            raise DocumentRejected(told, "too large")
        return Document(
            id=_key(record),
            text=_text(value.removeprefix(BOM_UTF8), "text"),
            published_at=self._published_at(record),
            source=_header(record, self._settings.source_field),
            namespace=_header(record, self._settings.namespace_field),
        )

    def _published_at(self, record: Incoming) -> datetime | None:
        name = self._settings.published_at_field
        written = _header(record, name)
        if not written:
            return None
        try:
            return msgspec.convert(written, _Moment).astimezone(UTC)
        except msgspec.ValidationError as error:
            raise DocumentRejected(f"header {name}: {str(error).replace('`', '')}") from None
        except OverflowError:
            raise DocumentRejected(f"header {name}: out of range") from None


def _check_around(record: Incoming) -> None:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    if len(record.key or b"") + headers > AROUND_BYTES_MAX:
        told = f"more than {AROUND_BYTES_MAX} bytes in key and headers"
        raise DocumentRejected(told, "too large")


def _key(record: Incoming) -> str:
    if record.key is None:
        raise DocumentRejected("key: missing", "missing")
    return _text(record.key, "key")


def _header(record: Incoming, name: str) -> str:
    """Return the last header of this name, as Kafka's own readers do; nothing if there is none."""
    for header, value in reversed(record.headers):
        if header == name:
            return "" if value is None else _text(value, f"header {name}")
    return ""


def _text(value: bytes, what: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        byte = value[error.start]
        told = f"{what}: not UTF-8: byte 0x{byte:02x} at {error.start}"
        raise DocumentRejected(told, "not UTF-8") from None
