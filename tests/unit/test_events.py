import json
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stream_dedup.config import EventsSettings
from stream_dedup.errors import DocumentRejected, SettingsError
from stream_dedup.events import (
    ClusterReference,
    Deletion,
    Document,
    DocumentDecoder,
    Match,
    RecordReference,
    Revision,
    SeenDocument,
    Verdict,
    verdict_schema,
)
from stream_dedup.overrides import Given, load
from stream_dedup.quantities import Size

DECODER = DocumentDecoder(EventsSettings(text_fields=("title", "text")))


def reason(raw: bytes, key: bytes | None = None) -> str:
    with pytest.raises(DocumentRejected) as caught:
        DECODER.decode(raw, key)
    return caught.value.reason


def test_a_document_is_read_from_json() -> None:
    """All fields are read, the headline stands before the text, times are UTC."""
    raw = (
        b'{"id": "a2", "title": "Ferry", "text": "It sails.", "source": "afp", "other": [1],'
        b' "namespace": "news", "published_at": "2026-01-31T10:00:00.123+01:00"}'
    )

    assert DECODER.decode(raw) == Document(
        id="a2",
        text="Ferry\nIt sails.",
        published_at=datetime(2026, 1, 31, 9, 0, 0, 123000, tzinfo=UTC),
        source="afp",
        namespace="news",
    )


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'{"id": 1, "text": "b"}', "b"),
        (b'{"id": 1, "text": "b", "title": null}', "b"),
        (b'{"id": 1, "text": "b", "title": ""}', "b"),
        (b'{"id": 1, "title": "a"}', "a"),
        (b'{"id": 1, "text": ""}', ""),
        (b'{"id": 1, "text": "a", "text": "b"}', "b"),
        (b'{"id": 1, "text": "\\u0000"}', "\0"),
        (b'\xef\xbb\xbf{"id": 1, "text": "b"}', "b"),
        (b'{"id": 1, "text": "b", "other": "\xff"}', "b"),
    ],
)
def test_the_text_is_what_there_is_of_its_fields(raw: bytes, text: str) -> None:
    """Null is missing; empty is a text without words; of a doubled field the last counts."""
    assert DECODER.decode(raw).text == text


@pytest.mark.parametrize("missing", [b"", b', "published_at": null, "source": null'])
def test_what_is_optional_may_be_missing(missing: bytes) -> None:
    """Time, source and namespace need not be given."""
    document = DECODER.decode(b'{"id": "a", "text": "b"' + missing + b"}")

    assert document == Document(id="a", text="b", published_at=None, source="", namespace="")


@pytest.mark.parametrize(
    ("raw", "identity"),
    [
        (b'{"id": "a", "text": ""}', "a"),
        (b'{"id": 7, "text": ""}', "7"),
        (b'{"id": -9223372036854775809, "text": ""}', "-9223372036854775809"),
        (b'{"text": ""}', "key"),
        (b'{"id": null, "text": ""}', "key"),
    ],
)
def test_the_id_is_text_a_whole_number_or_the_key(raw: bytes, identity: str) -> None:
    """A number is an id by its decimal digits; the record's key stands in for a missing id."""
    assert DECODER.decode(raw, b"key").id == identity


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"\ud83d\ude00", "😀"),
        (rb"a\ud83d", "a\ufffd"),
        (rb"\ude00b", "\ufffdb"),
        (rb"\uDBFF\uD800\uDC00", "\ufffd\U00010000"),
        (rb"\\ud83d", r"\ud83d"),
        (rb"\\\ud83d", "\\\ufffd"),
        (rb"\ud83d\\ude00", "\ufffd\\ude00"),
        (rb"\ud83d\n", "\ufffd\n"),
    ],
)
def test_half_a_surrogate_pair_is_a_replacement_character(written: bytes, read: str) -> None:
    """A text cut in the middle of an emoji is read with U+FFFD in its place, not rejected."""
    assert DECODER.decode(b'{"id": 1, "text": "' + written + b'"}').text == read


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "JSON: Input data was truncated"),
        (b'{"id": "a", "te', "JSON: Input data was truncated"),
        (b"hello", "JSON: invalid character (byte 0)"),
        (b'{"id": 1, "text": ""} x', "JSON: trailing characters (byte 23)"),
        (b'{"id": 1, "text": "", "n": NaN}', "JSON: invalid character (byte 27)"),
        (b'"text"', "JSON: Expected object, got str"),
        (b"[]", "JSON: Expected object, got array"),
        (b"null", "JSON: Expected object, got null"),
        (b'{"other": ' + b"[" * 100_000, "JSON is nested too deeply"),
        (b'{"id": 1, "text": "\xff"}', "not UTF-8: byte 0xff at 19"),
        (b'{"id": 1, "text": "\xed\xa0\x80"}', "not UTF-8: byte 0xed at 19"),
        (b'{"id": "", "text": "a"}', "id is empty"),
        (b'{"id": true, "text": "a"}', "id: Expected int | str | null, got bool"),
        (b'{"id": 1.5, "text": "a"}', "id: Expected int | str | null, got float"),
        (b'{"id": ' + b"9" * 5000 + b"}", "id: Integer value out of range"),
        (b'{"text": "a"}', "id: missing"),
        (b'{"id": 1}', "no text: title, text missing"),
        (b'{"id": 1, "text": null, "title": null}', "no text: title, text missing"),
        (b'{"id": 1, "text": ["a"]}', "text: Expected str | null, got array"),
        (b'{"id": 1, "text": "a", "source": 3}', "source: Expected str | null, got int"),
        (
            b'{"id": 1, "text": "a", "published_at": "yesterday"}',
            "published_at: Invalid RFC3339 encoded datetime",
        ),
        (
            b'{"id": 1, "text": "a", "published_at": "2026-01-31T09:00:00"}',
            "published_at: Expected datetime with a timezone component",
        ),
        (
            b'{"id": 1, "text": "a", "published_at": "0001-01-01T00:00:00+05:00"}',
            "published_at: out of range",
        ),
        (
            b'{"id": 1, "text": "a", "published_at": 1769850000}',
            "published_at: Expected datetime | null, got int",
        ),
    ],
    ids=lambda part: str(part)[:60],
)
def test_what_is_no_document_is_rejected_with_the_reason(raw: bytes, expected: str) -> None:
    """The reason names the field and the problem, shortly."""
    assert reason(raw) == expected


def test_a_key_that_is_no_text_is_no_id() -> None:
    """A binary key cannot stand in for a missing id, nor can an empty one."""
    assert reason(b'{"text": "a"}', b"\xff") == "id: missing, and the key is no UTF-8"
    assert reason(b'{"text": "a"}', b"") == "id is empty"


def test_a_document_has_a_largest_size() -> None:
    """A record above events.document_bytes_max is rejected before it is read."""
    raw = b'{"id": 1, "text": "a"}'
    limits = [EventsSettings(document_bytes_max=Size(len(raw) - less)) for less in (0, 1)]

    assert DocumentDecoder(limits[0]).decode(raw).text == "a"
    with pytest.raises(DocumentRejected, match=r"^more than .* = 21 bytes$"):
        DocumentDecoder(limits[1]).decode(raw)


def test_the_names_of_the_fields_are_settings() -> None:
    """Feeds have names of their own, and a reason speaks in these names."""
    decoder = DocumentDecoder(
        EventsSettings(
            id_field="url",
            text_fields=("head line", "body", "notes"),
            published_at_field="date",
            source_field="outlet",
            namespace_field="tenant",
        )
    )
    document = decoder.decode(
        b'{"url": "u", "notes": "c", "head line": "a", "body": "b", "id": 5, "text": [],'
        b' "date": "2026-01-31T09:00:00Z", "outlet": "o", "tenant": "t"}'
    )
    too_early = b'{"url": "u", "body": "b", "date": "0001-01-01T00:00:00+05:00"}'

    assert (document.id, document.text) == ("u", "a\nb\nc")
    assert (document.source, document.namespace) == ("o", "t")
    assert document.published_at == datetime(2026, 1, 31, 9, tzinfo=UTC)
    with pytest.raises(DocumentRejected, match=r"^url: missing$"):
        decoder.decode(b'{"body": ""}')
    with pytest.raises(DocumentRejected, match=r"^head line: Expected"):
        decoder.decode(b'{"head line": 1}')
    with pytest.raises(DocumentRejected, match=r"^date: out of range$"):
        decoder.decode(too_early)


@given(st.text())
def test_a_field_may_have_any_name_that_the_settings_allow(name: str) -> None:
    """A field name that passes the settings is read; none fails later."""
    try:
        settings = load(None, {}, options=[Given("events.id_field", name, "test")]).settings
    except SettingsError:
        return
    raw = json.dumps({name: "a", "text": "b"}).encode()

    assert DocumentDecoder(settings.events).decode(raw).id == "a"


def test_a_document_is_valid_by_construction() -> None:
    """No document has an empty id or a time without a zone, nor does one change."""
    with pytest.raises(DocumentRejected, match="id is empty"):
        Document(id="", text="a")
    with pytest.raises(DocumentRejected, match="no time zone"):
        Document(id="a", text="a", published_at=datetime(2026, 1, 31))  # noqa: DTZ001
    with pytest.raises(AttributeError):
        Document(id="a", text="a").text = "b"  # type: ignore[misc]


def test_reading_does_not_depend_on_the_stack() -> None:
    """What is rejected as too deep leaves the decoder able to read the next document."""
    deep = b'{"other": ' + b"[" * (2 * sys.getrecursionlimit())

    assert reason(deep) == "JSON is nested too deeply"
    assert DECODER.decode(b'{"id": 1, "text": "a"}').text == "a"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
names = st.sampled_from(["id", "title", "text", "published_at", "source", "namespace", "other"])


def decodes_or_rejects(raw: bytes) -> None:
    try:
        document = DECODER.decode(raw)
    except DocumentRejected as rejection:
        document, why = None, rejection.reason
    if document is None:
        assert 0 < len(why) < 200
    else:
        assert document.id != ""
        assert msgspec.json.encode(document) != b""


@given(st.binary())
@example(b'{"id": "\\ud8')
@example(b'{"id": "\\ud800\\u')
def test_any_bytes_are_read_or_rejected(raw: bytes) -> None:
    """No bytes raise anything but DocumentRejected."""
    decodes_or_rejects(raw)


@given(st.dictionaries(names, json_values), st.binary(max_size=3), st.floats(0, 1))
def test_any_json_is_read_or_rejected(value: object, noise: bytes, place: float) -> None:
    """No JSON, whole or with a few bytes amiss, raises anything but DocumentRejected."""
    raw = json.dumps(value).encode()
    cut = int(len(raw) * place)
    decodes_or_rejects(raw)
    decodes_or_rejects(raw[:cut] + noise + raw[cut + len(noise) :])


@given(st.text(alphabet=st.characters()), st.booleans())
def test_any_text_survives(text: str, ascii_only: bool) -> None:
    """A text arrives as it was sent, escaped or not, save for halves of surrogate pairs."""
    sound = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    raw = json.dumps({"id": 1, "text": text if ascii_only else sound}, ensure_ascii=ascii_only)

    assert DECODER.decode(raw.encode()).text == sound


def test_an_event_is_a_document_or_its_end() -> None:
    """A true `deleted` makes a line the end of a document, which needs no text but an id."""
    raw = b'{"id": 7, "deleted": true, "namespace": "news", "published_at": "2026-01-31T10:00:00Z"}'
    moment = datetime(2026, 1, 31, 10, tzinfo=UTC)

    assert DECODER.decode_event(raw) == Deletion(id="7", namespace="news", published_at=moment)
    assert DECODER.decode_event(b'{"deleted": true}', b"k") == Deletion(id="k")
    for deleted in (b"false", b"null"):
        event = DECODER.decode_event(b'{"id": 7, "text": "a", "deleted": %b}' % deleted)
        assert event == Document(id="7", text="a")
    with pytest.raises(DocumentRejected, match="deleted"):
        DECODER.decode_event(b'{"id": 7, "text": "a", "deleted": 1}')
    with pytest.raises(DocumentRejected, match="no text"):
        DECODER.decode_event(b'{"id": 7, "deleted": false}')
    with pytest.raises(DocumentRejected, match="id is empty"):
        DECODER.decode_event(b'{"id": "", "deleted": true}')


VERDICT = Verdict(
    event_id="documents-0-812",
    type="duplicate",
    document=SeenDocument(id="a2", source="afp", namespace="", seen_at="2026-01-31T09:00:00.123Z"),
    record=RecordReference(topic="documents", partition=0, offset=812),
    matches=(
        Match(
            id="a1",
            kind="near",
            similarity=0.914,
            error=0.025,
            containment=0.99,
            seen_at=None,
            source="reuters",
            bands=7,
        ),
    ),
    match_count=1,
    cluster=ClusterReference(id="a1", size=3),
    previous=None,
    capped=0,
    settings="9f2c",
)


def test_a_verdict_is_published_as_json() -> None:
    """The fields and their order are what readers of the topic rely on."""
    assert VERDICT.encode() == (
        b'{"schema_version":1,"event_id":"documents-0-812","type":"duplicate",'
        b'"document":{"id":"a2","source":"afp","namespace":"",'
        b'"seen_at":"2026-01-31T09:00:00.123Z"},'
        b'"record":{"topic":"documents","partition":0,"offset":812},'
        b'"matches":[{"id":"a1","kind":"near","similarity":0.914,"error":0.025,'
        b'"containment":0.99,"seen_at":null,"source":"reuters","bands":7}],'
        b'"match_count":1,"cluster":{"id":"a1","size":3},"previous":null,"capped":0,'
        b'"settings":"9f2c"}'
    )


def test_a_verdict_can_be_read_back() -> None:
    """What is published is read again as the same verdict, revisions included."""
    revised = msgspec.structs.replace(VERDICT, previous=Revision(similarity=0.7, error=0.03))

    assert msgspec.json.decode(revised.encode(), type=Verdict) == revised


def test_the_schema_names_every_field_of_the_published_json() -> None:
    """A reader elsewhere gets every field, which of them may be null, and the allowed words."""
    schema = verdict_schema()
    definitions: dict[str, Any] = schema["$defs"]
    published: dict[str, Any] = json.loads(VERDICT.encode())

    assert schema["$ref"] == "#/$defs/Verdict"
    assert list(definitions["Verdict"]["properties"]) == list(published)
    assert list(definitions["Match"]["properties"]) == list(published["matches"][0])
    assert definitions["Match"]["properties"]["kind"]["enum"] == [
        "exact",
        "excerpt",
        "extension",
        "near",
    ]
    assert {"type": "null"} in definitions["Verdict"]["properties"]["previous"]["anyOf"]


def test_fields_that_nobody_asked_for_reject_nothing() -> None:
    """A reader of texts alone takes a document whose date or source no service could take."""
    raw = b'{"id": 1, "text": "a", "published_at": "yesterday", "source": 3, "namespace": []}'

    assert DocumentDecoder(EventsSettings(), texts_only=True).decode(raw) == Document(
        id="1", text="a"
    )
