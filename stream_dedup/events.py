"""What comes in and what goes out: documents and verdicts, and their JSON.

Decoding is the only way in and either gives a document or says why not; it raises nothing else.
No I/O and no clock here.
"""

import re
from codecs import BOM_UTF8
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from stream_dedup.config import EventsSettings
from stream_dedup.errors import DocumentRejected

Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Ratio = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Document(Struct, frozen=True, kw_only=True, gc=False):
    """A text and its identity. An empty text is a document too; it never matches."""

    id: str
    text: str
    published_at: datetime | None = None
    source: str = ""
    namespace: str = ""

    def __post_init__(self) -> None:
        """Reject what could not be remembered or dated."""
        if not self.id:
            raise DocumentRejected("id is empty")
        if self.published_at is not None and self.published_at.tzinfo is None:
            raise DocumentRejected("published_at has no time zone")


class Deletion(Struct, frozen=True, kw_only=True, gc=False):
    """The end of the document with this id."""

    id: str
    namespace: str = ""
    published_at: datetime | None = None

    def __post_init__(self) -> None:
        """Reject what can stand for no document."""
        if not self.id:
            raise DocumentRejected("id is empty")


class DocumentDecoder:
    """Read documents from JSON, under the field names of the settings.

    Where only texts are asked for, the other fields are not looked at and reject nothing; every
    line is then a document.
    """

    def __init__(self, settings: EventsSettings, texts_only: bool = False) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(_fields_type(settings, texts_only))

    def decode(self, raw: bytes, key: bytes | None = None) -> Document:
        """Read one document; the record's key is its id where the field is missing or null."""
        identity, *fields = msgspec.structs.astuple(self._read(raw))
        return self._document(self._id(identity, key), fields)

    def decode_event(self, raw: bytes, key: bytes | None = None) -> Document | Deletion:
        """Read a document or, where the field of deletions is true, the end of one."""
        identity, *fields = msgspec.structs.astuple(self._read(raw))
        identity = self._id(identity, key)
        if not fields[-1]:
            return self._document(identity, fields)
        published_at, _, namespace = fields[-4:-1]
        return Deletion(
            id=identity, namespace=namespace or "", published_at=self._utc(published_at)
        )

    def _document(self, identity: str, fields: list[Any]) -> Document:
        texts = fields[: len(self._settings.text_fields)]
        published_at, source, namespace = fields[len(texts) : len(texts) + 3] or (None, None, None)
        if texts.count(None) == len(texts):
            missing = ", ".join(self._settings.text_fields)
            raise DocumentRejected(f"no text: {missing} missing", "missing")
        return Document(
            id=identity,
            text="\n".join(filter(None, texts)),
            published_at=self._utc(published_at),
            source=source or "",
            namespace=namespace or "",
        )

    def _read(self, raw: bytes) -> Any:
        limit = self._settings.document_bytes_max
        if len(raw) > limit:
            told = f"more than events.document_bytes_max = {limit} bytes"
            raise DocumentRejected(told, "too large")
        try:
            return self._decoder.decode(raw)
        except _UNREADABLE:
            mended = _mended(raw)
        try:
            return self._decoder.decode(mended)
        except _UNREADABLE as error:
            raise DocumentRejected(_reason(error, mended)) from None

    def _id(self, identity: str | int | None, key: bytes | None) -> str:
        if identity is not None:
            return str(identity)
        field = self._settings.id_field
        if key is None:
            raise DocumentRejected(f"{field}: missing", "missing")
        try:
            return key.decode()
        except UnicodeDecodeError:
            told = f"{field}: missing, and the key is no UTF-8"
            raise DocumentRejected(told, "not UTF-8") from None

    def _utc(self, moment: datetime | None) -> datetime | None:
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError:
            raise DocumentRejected(f"{self._settings.published_at_field}: out of range") from None


def _fields_type(settings: EventsSettings, texts_only: bool) -> type[Struct]:
    """Build the type of the fields that matter; msgspec skips all others unread."""
    moment = Annotated[datetime, Meta(tz=True)]
    fields: list[tuple[str, Any, str]] = [("id", str | int | None, settings.id_field)]
    for position, field in enumerate(settings.text_fields):
        fields.append((f"text_{position}", str | None, field))
    if not texts_only:
        fields += [
            ("published_at", moment | None, settings.published_at_field),
            ("source", str | None, settings.source_field),
            ("namespace", str | None, settings.namespace_field),
            ("deleted", bool | None, settings.deleted_field),
        ]
    return msgspec.defstruct(
        "Fields",
        [(name, kind, None) for name, kind, _ in fields],
        rename={name: field for name, _, field in fields},
    )


_HEX = rb"[0-9a-fA-F]"
# Any escape is consumed whole, so the `u` after an escaped backslash starts nothing.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]%b{2}\\u[dD][c-fC-F]%b{2}|u([dD][89a-fA-F]%b{2})|.)" % (_HEX, _HEX, _HEX),
    re.DOTALL,
)


def _mended(raw: bytes) -> bytes:
    """Drop a byte order mark, and read half a surrogate pair as U+FFFD, as browsers do.

    Both come from real feeds: files saved on Windows, and texts cut in the middle of an emoji.
    """
    return _ESCAPE.sub(
        lambda escape: rb"\ufffd" if escape[1] else escape[0], raw.removeprefix(BOM_UTF8)
    )


def _reason(error: Exception, raw: bytes) -> str:
    """Name the field and the problem, shortly."""
    if isinstance(error, RecursionError):
        return "JSON is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return _encoding_problem(raw)
    problem, _, path = str(error).partition(" - at `$")
    problem = problem.removeprefix("JSON is malformed: ").replace("`", "")
    return f"{path.strip('.`') or 'JSON'}: {problem}"


def _encoding_problem(raw: bytes) -> str:
    """Find the first bad byte within the record: msgspec counts within the string."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte 0x{raw[error.start]:02x} at {error.start}"
    return "not UTF-8"


class Match(Struct, frozen=True, kw_only=True, gc=False):
    """An earlier document that the new one resembles.

    `error` is one standard error of `similarity`; `containment` is the share of the new document
    found in the earlier one; `bands` says how many bands led to it.
    """

    id: str
    kind: Literal["exact", "near", "excerpt", "extension"]
    similarity: Ratio
    error: Ratio
    containment: Ratio
    seen_at: Timestamp | None
    source: str
    bands: Count


class SeenDocument(Struct, frozen=True, kw_only=True, gc=False):
    """The document that a verdict is about; `seen_at` is its record's time."""

    id: str
    source: str
    namespace: str
    seen_at: Timestamp | None


class RecordReference(Struct, frozen=True, kw_only=True, gc=False):
    """Where the document was read."""

    topic: str
    partition: Count
    offset: Count


class ClusterReference(Struct, frozen=True, kw_only=True, gc=False):
    """The group of copies: the id of its representative, and how many it holds."""

    id: str
    size: Count


class Revision(Struct, frozen=True, kw_only=True, gc=False):
    """How similar a document is to the text it replaces under the same id."""

    similarity: Ratio
    error: Ratio


class Verdict(Struct, frozen=True, kw_only=True, gc=False):
    """What is said of one document: published as JSON, the document's id as key.

    `match_count` counts the documents behind all matches; of `capped` buckets a part was not seen.
    """

    schema_version: Literal[1] = 1
    event_id: str
    type: Literal["duplicate", "unique", "repeat", "skipped", "deleted"]
    document: SeenDocument
    record: RecordReference
    matches: tuple[Match, ...]
    match_count: Count
    cluster: ClusterReference | None
    previous: Revision | None
    capped: Count
    settings: str

    def encode(self) -> bytes:
        """Write the verdict as one line of JSON."""
        return msgspec.json.encode(self)


def verdict_schema() -> dict[str, Any]:
    """Describe the published JSON as a JSON Schema, for those who read it elsewhere."""
    return msgspec.json.schema(Verdict)
