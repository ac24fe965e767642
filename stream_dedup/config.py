"""Every setting, its bounds, its default and the reason for that default.

Frozen values only: `overrides.load` fills them from file, environment and command line.
A component receives its own section, never the whole `Settings`.
"""

from collections import Counter
from collections.abc import Mapping
from socket import gethostname
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from stream_dedup.errors import SettingsError
from stream_dedup.quantities import Duration, Size

Name = Annotated[str, Meta(min_length=1)]
# What a JSON field may be called without being escaped.
FieldName = Annotated[str, Meta(min_length=1, pattern=r'^[^"\\\x00-\x1f]*\Z')]
# What Kafka takes as the name of a topic; groups, transactions and files keep to it as well.
KafkaName = Annotated[str, Meta(min_length=1, pattern=r"^[A-Za-z0-9._-]*\Z")]
KafkaNameOrNone = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]*\Z")]
Count = Annotated[int, Meta(ge=1)]
Position = Annotated[int, Meta(ge=0)]
ClientValue = str | int | float | bool


def _each_once(section: str, kind: str, names: tuple[str, ...]) -> None:
    for name, uses in Counter(names).items():
        if uses > 1:
            raise SettingsError(f"{section}: {kind} {name!r} is named {uses} times")


class SimilaritySettings(Struct, frozen=True, kw_only=True):
    """What counts as similar, and how surely it is found."""

    # Sets of shingles: the measure whose threshold people can picture as shared text.
    measure: Literal["jaccard", "cosine"] = "jaccard"
    # Characters need no tokenising, so the same setting serves every script.
    unit: Literal["char", "word"] = "char"
    # Five characters suit headlines, mail and news; 9 suits long documents.
    size: Annotated[int, Meta(ge=1, le=1000)] = 5
    # Plain sets: repeating a phrase does not make a text another one.
    multiset: bool = False
    # One standard error of 0.035 at similarity 0.8, in 256 bytes.
    hashes: Annotated[int, Meta(ge=1, le=4096)] = 128
    # Keeps lightly edited wire copy together and new stories on an old topic apart.
    threshold: Annotated[float, Meta(gt=0, le=1)] = 0.8
    # Of the pairs right at the threshold one in a hundred is missed; above it far fewer.
    recall: Annotated[float, Meta(gt=0, lt=1)] = 0.99
    # Planned from threshold, recall and hashes unless both are given.
    bands: Count | None = None
    rows: Count | None = None
    # The estimate needs no texts kept; `exact` keeps them, compressed.
    verify: Literal["signature", "exact"] = "signature"
    # Any number does; it draws other signatures. A secret one makes it hard to craft texts whose
    # shingles collide, 0 does not.
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    # Most feeds carry plain text, where a `<` is a character like any other.
    html: Literal["keep", "strip"] = "keep"

    def __post_init__(self) -> None:
        """Refuse values that are allowed one by one and impossible together."""
        if (self.bands is None) != (self.rows is None):
            raise SettingsError("similarity.bands and similarity.rows: give both or neither")
        if self.bands and self.rows and self.bands * self.rows > self.hashes:
            raise SettingsError(
                f"similarity.bands × similarity.rows = {self.bands} × {self.rows} needs "
                f"{self.bands * self.rows} hashes; similarity.hashes is {self.hashes}"
            )
        # Below 64 bits the angle is a guess; above 1024 the projections cost more than the text.
        if self.measure == "cosine" and not 64 <= self.hashes <= 1024:
            raise SettingsError(
                f"similarity.hashes = {self.hashes}: measure 'cosine' needs 64 to 1024"
            )


class EventsSettings(Struct, frozen=True, kw_only=True):
    """How documents are read and which verdicts are published."""

    # What producers of documents mostly write; `text` is for topics whose values are bare texts,
    # the key of each its id. Lines of a file are JSON in any case.
    format: Literal["json", "text"] = "json"
    id_field: FieldName = "id"
    # The text alone: outlets write headlines of their own over the same copy. Of several fields,
    # joined in this order, a document may lack some, not all.
    text_fields: Annotated[tuple[FieldName, ...], Meta(min_length=1)] = ("text",)
    published_at_field: FieldName = "published_at"
    source_field: FieldName = "source"
    namespace_field: FieldName = "namespace"
    # In files, where a record cannot lack its value: true means that the id is to be forgotten.
    deleted_field: FieldName = "deleted"
    # Most documents are new: saying so for each would be most of the traffic.
    emit: Literal["matches", "all", "none"] = "matches"
    # Far above any article; stops a stray archive from filling the memory.
    document_bytes_max: Size = Size(10_000_000)
    # Of the last 10,000 documents. Above it the feed or the field names are wrong, not a document.
    rejected_ratio_max: Annotated[float, Meta(ge=0, le=1)] = 0.5

    def __post_init__(self) -> None:
        """Refuse one field in two parts."""
        names = (
            self.id_field,
            *self.text_fields,
            self.published_at_field,
            self.source_field,
            self.namespace_field,
            self.deleted_field,
        )
        _each_once("events", "the field", names)


class IndexSettings(Struct, frozen=True, kw_only=True):
    """What is remembered, for how long and where."""

    directory: Name = "./index"
    # Syndicated news is copied within three days; later copies are mostly archives.
    window: Duration = Duration(72 * 3600)
    # The log's own clock: a producer with a wrong date cannot make the index forget.
    window_by: Literal["arrival", "published"] = "arrival"
    # Caches, write buffers and sieves, beside which the process needs some 300 MB. Look-ups stay
    # fast while an eighth of it holds a sieve: 24 bytes a document of the window.
    memory_bytes_max: Size = Size(1024**3)
    # A passage in more documents than this is boilerplate; a lookup stays bounded.
    bucket_size_max: Count = 100


class MatchingSettings(Struct, frozen=True, kw_only=True):
    """Which candidates may match and how many are reported."""

    # Copies within one outlet matter as much as copies between outlets.
    scope: Literal["any", "same_source", "other_source"] = "any"
    # A reader looks at the best few; `match_count` tells the true number.
    matches_max: Count = 10
    # Of the documents, compared with many recent ones to see what the index misses: half a percent
    # costs a few microseconds a document and gives a figure within hours.
    recall_sample: Annotated[float, Meta(ge=0, le=1)] = 0.005
    # Positions an operator steps over when one document cannot be processed.
    skip_positions: tuple[Position, ...] = ()


class TopicSettings(Struct, frozen=True, kw_only=True):
    """The names of the topics; an empty route is switched off."""

    documents: KafkaName = "documents"
    signatures: KafkaName = "signatures"
    matches: KafkaName = "matches"
    rejected: KafkaName = "rejected"
    # Routes forward every original once more, so they are asked for by name.
    unique: KafkaNameOrNone = ""
    duplicates: KafkaNameOrNone = ""

    def __post_init__(self) -> None:
        """Refuse a topic in two parts: the service would read what it writes."""
        names = (self.documents, self.signatures, self.matches, self.rejected)
        routes = tuple(name for name in (self.unique, self.duplicates) if name)
        _each_once("kafka.topics", "the topic", names + routes)

    @property
    def has_routes(self) -> bool:
        """Tell whether originals are forwarded."""
        return bool(self.unique or self.duplicates)


class KafkaSettings(Struct, frozen=True, kw_only=True):
    """Where events come from and go to."""

    bootstrap_servers: Name = "localhost:9092"
    # Names the consumer groups and transactional ids: two services need two.
    application: KafkaName = "stream-dedup"
    # Names this process among others of the application; hosts mostly run one.
    instance: KafkaName = field(default_factory=gethostname)
    topics: TopicSettings = TopicSettings()
    # A first start needs no administrator; clusters that forbid it say so.
    create_topics: bool = True
    # What is already in the topic was meant to be read.
    start: Literal["earliest", "latest"] = "earliest"
    # Documents handed on together, of a feed in a file too, and committed together: sorted look-ups
    # gain from many, and a write of so many keeps other threads waiting for some 30 ms. Fewer are
    # not waited for.
    batch_size_max: Count = 2000
    # One crash may be the machine's doing, three at the same record are the record's: then it is
    # rejected, and those behind it go on.
    attempts_max: Count = 3
    # Far longer than a batch takes, and as long as most supervisors wait before they kill.
    shutdown_timeout_seconds: Duration = Duration(30)
    # Sign pauses while match lags by more: half a million signed documents, or fewer where the log
    # carries texts. Beyond that signing only fills the log, and no verdict is sooner.
    lag_bytes_max: Size = Size(256_000_000)
    # Passed to librdkafka as it is (TLS, SASL); secrets belong in the environment.
    client: Mapping[str, ClientValue] = field(default_factory=dict)


class HttpSettings(Struct, frozen=True, kw_only=True):
    """Where metrics, health and queries are served."""

    # A service that cannot be looked at cannot be run.
    enabled: bool = True
    # Loopback: texts and metrics are not for everyone until someone decides so.
    host: Name = "127.0.0.1"
    # Free on most machines, without special rights; 0 takes any free one.
    port: Annotated[int, Meta(ge=0, le=65535)] = 8080
    # A file that holds the bearer token; empty asks for none. The environment may bring it as well,
    # as STREAM_DEDUP_HTTP_TOKEN: it is no setting, so that no list of settings shows it.
    token_file: str = ""
    # Without a token whoever reaches the port reads what is remembered, so only this machine may.
    allow_open: bool = False
    # Two texts of a hundred pages each.
    body_bytes_max: Size = Size(1_000_000)
    # A query takes milliseconds of the cores that the stream needs too.
    requests_per_second_max: Count = 100
    # Far longer than a query waits for a write; who is that slow has gone or means no good.
    request_timeout_seconds: Duration = Duration(10)

    def __post_init__(self) -> None:
        """Refuse requests without end."""
        if self.request_timeout_seconds == float("inf"):
            raise SettingsError("http.request_timeout_seconds: 'none' is no bound, give one")


class LogSettings(Struct, frozen=True, kw_only=True):
    """What is logged, and how."""

    # One line for each start, stop and assignment, never one for each document.
    level: Literal["debug", "info", "warning", "error"] = "info"
    # Read by people first; `json` for a log collector.
    format: Literal["text", "json"] = "text"


class TracingSettings(Struct, frozen=True, kw_only=True):
    """Where spans of batches go, for OpenTelemetry."""

    # The address of a collector that takes OTLP over HTTP, such as http://localhost:4318/v1/traces;
    # empty traces nothing. It needs pip install 'stream-dedup[tracing]'.
    endpoint: str = ""


class Settings(Struct, frozen=True, kw_only=True):
    """All sections of the settings."""

    similarity: SimilaritySettings = SimilaritySettings()
    events: EventsSettings = EventsSettings()
    index: IndexSettings = IndexSettings()
    matching: MatchingSettings = MatchingSettings()
    kafka: KafkaSettings = field(default_factory=KafkaSettings)
    http: HttpSettings = HttpSettings()
    log: LogSettings = LogSettings()
    tracing: TracingSettings = TracingSettings()
