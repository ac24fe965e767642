"""From records to events."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stream_dedup.config import EventsSettings
from stream_dedup.errors import DocumentRejected
from stream_dedup.events import Deletion, Document
from stream_dedup.kafka.documents import EventReader
from stream_dedup.kafka.messages import Headers, Incoming
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.quantities import Size
from tests.unit.kafka import records

JSON = EventReader(EventsSettings())
TEXT = EventReader(EventsSettings(format="text", document_bytes_max=Size(100)))
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
WRITTEN: Headers = [
    ("namespace", b"n"),
    ("source", b"afp"),
    ("published_at", b"2026-01-31T13:00:00+01:00"),
]


def record(key: bytes | None, value: bytes | None, headers: Headers | None = None) -> Incoming:
    return Incoming("documents", 0, 0, UNDATED, key, value, headers or [])


def reason(reader: EventReader, rejected: Incoming) -> str:
    with pytest.raises(DocumentRejected) as caught:
        reader.read(rejected)
    return caught.value.reason


def test_json_is_read_by_the_settings() -> None:
    """Fields make the document, and the key is its id where the field is missing."""
    assert JSON.read(record(b"k", b'{"id": "a", "text": "b"}')) == Document(id="a", text="b")
    assert JSON.read(record(b"k", b'{"text": "b"}', WRITTEN)) == Document(id="k", text="b")
    assert JSON.read(record(b"k", b'{"deleted": true}')) == Deletion(id="k")


@pytest.mark.parametrize("reader", [JSON, TEXT])
def test_a_record_without_a_value_deletes_the_document_of_its_key(reader: EventReader) -> None:
    """Its namespace and time come in headers, the last of a name counting."""
    expected = Deletion(id="é", namespace="n", published_at=NOON)
    headers: Headers = [("namespace", b"earlier"), *WRITTEN]

    assert reader.read(record("é".encode(), None, headers)) == expected
    assert reader.read(record(b"a", None, [("namespace", None)])) == Deletion(id="a")


def test_plain_text_is_read_with_its_headers() -> None:
    """The value is the text, the key the id; all else may come in headers."""
    value = b"\xef\xbb\xbf{caf\xc3\xa9"
    expected = Document(id="a", text="{café", published_at=NOON, source="afp", namespace="n")

    assert TEXT.read(record(b"a", value, WRITTEN)) == expected
    assert TEXT.read(record(b"a", b"")) == Document(id="a", text="")


def test_headers_have_the_names_of_the_fields() -> None:
    """Who renamed a field in the settings writes headers of that name too."""
    reader = EventReader(EventsSettings(namespace_field="tenant"))

    assert reader.read(record(b"a", None, [("tenant", b"n")])) == Deletion(id="a", namespace="n")


@pytest.mark.parametrize(
    ("reader", "rejected", "expected"),
    [
        (JSON, record(None, None), "key: missing"),
        (JSON, record(b"", None), "id is empty"),
        (JSON, record(b"a\xff", None), "key: not UTF-8: byte 0xff at 1"),
        (JSON, record(b"a", None, [("namespace", b"\xfe")]), "header namespace: not UTF-8: byte 0"),
        (JSON, record(b"a", b"{"), "JSON: "),
        (JSON, record(b"\xff", b'{"text": "b"}'), "id: missing, and the key is no UTF-8"),
        (JSON, record(b"k" * 4097, None), "more than 4096 bytes in id, source and namespace"),
        (
            JSON,
            record(None, b'{"id": "a", "text": "", "source": "%b"}' % ("é".encode() * 2048)),
            "more than 4096 bytes",
        ),
        (
            JSON,
            record(b"k" * 2**17, b"{}", [("h", b"v" * 2**17)]),
            "more than 262144 bytes in key and headers",
        ),
        (TEXT, record(None, b"b"), "key: missing"),
        (TEXT, record(b"a", b"b" * 101), "more than events.document_bytes_max = 100 bytes"),
        (TEXT, record(b"a", b"b\xc3"), "text: not UTF-8: byte 0xc3 at 1"),
        (TEXT, record(b"a", b"b", [("published_at", b"noon")]), "header published_at: Invalid"),
        (TEXT, record(b"a", b"b", [("published_at", b"2026-01-31T12:00:00")]), "header published"),
        (
            TEXT,
            record(b"a", b"b", [("published_at", b"0001-01-01T00:00:00+14:00")]),
            "header published_at: out of range",
        ),
    ],
)
def test_what_is_no_event_is_rejected_with_its_reason(
    reader: EventReader, rejected: Incoming, expected: str
) -> None:
    """The reason names the part of the record and the problem."""
    assert reason(reader, rejected).startswith(expected)


_leaves: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=9)
)
_objects = st.dictionaries(
    st.sampled_from(["id", "text", "published_at", "source", "namespace", "deleted", "x"]),
    _leaves | st.lists(_leaves, max_size=3),
)
_values = st.one_of(
    st.none(),
    st.binary(max_size=60),
    _objects.map(msgspec.json.encode),
    st.tuples(_objects.map(msgspec.json.encode), st.integers(0, 80)).map(
        lambda cut: cut[0][cut[1] :]
    ),
)
_HUGE = b'{"id": %b, "text": "b"}'


@given(records.incoming(_values), st.sampled_from([JSON, TEXT]))
@example(record(b"a", _HUGE % (b"9" * 5000)), JSON)
@example(record(b"a", _HUGE % (b"1e" + b"9" * 500)), JSON)
@example(record(b"a", b"[" * 200_000), JSON)
@example(record(b"a", b'{"text": "\\ud800"}'), JSON)
@example(record(b"a", b'{"published_at": "9999-12-31T23:59:59-14:00", "text": "a"}'), JSON)
def test_any_record_is_an_event_or_rejected(drawn: Incoming, reader: EventReader) -> None:
    """Nothing else is ever raised, and what passes can be written as UTF-8."""
    with suppress(DocumentRejected):
        event = reader.read(drawn)
        assert event.id.encode()
        assert event.namespace.encode() is not None
