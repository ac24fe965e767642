"""Which topics the service wants, with which settings, and the reason for each."""

import math
from typing import NamedTuple

from stream_dedup.config import Settings, SimilaritySettings
from stream_dedup.kafka.documents import AROUND_BYTES_MAX, NAMES_BYTES_MAX
from stream_dedup.kafka.messages import RECORD_BYTES_MAX
from stream_dedup.similarity.plan import plan_bands

CLUSTER_DEFAULT = -1
DOCUMENT_BYTES = "events.document_bytes_max"

# Kafka's own default for a batch of records. librdkafka fills batches up to 1,000,000 bytes, so a
# lower limit refuses batches of small records too.
_BATCH_BYTES = 1_048_588
# The most that a match takes in a verdict. JSON writes a control character in six bytes, and an id
# may be of nothing else; there are a source, a date and some numbers too.
_MATCH_BYTES = 6 * NAMES_BYTES_MAX + 300
# Beside its matches: the document's names, its cluster's, its key, and the headers that travel.
_VERDICT_BYTES = 3 * _MATCH_BYTES + AROUND_BYTES_MAX

_BAND_KEY_BYTES = 5  # the upper bits, which are all that is used
_HEAD_BYTES = 43 + 4  # numbers, dates and the fingerprint; the check sum at the end
_NAMES_BYTES = 60  # topic and its id, source, namespace, coordinates
_ID_BYTES = 20  # an assumption, of a document's id
_RECORD_BYTES = 20  # what Kafka adds to a record, and the batch's share


class Wanted(NamedTuple):
    """A setting of a topic."""

    setting: str
    value: str
    reason: str
    at_least: bool = False

    def holds(self, found: str) -> bool:
        """Tell whether a value that was found will do."""
        return int(found) >= int(self.value) if self.at_least else found == self.value

    @property
    def bound(self) -> str:
        """Write the value as it is wanted."""
        return f"{self.value} or more" if self.at_least else self.value


class TopicPlan(NamedTuple):
    """A topic that the service reads or writes."""

    name: str
    role: str  # its name in `kafka.topics`
    purpose: str
    partitions: int  # CLUSTER_DEFAULT leaves it to the cluster, and any number will do
    wanted: tuple[Wanted, ...]
    is_ours: bool = True  # the others are made where missing, and never refused

    def command(self, servers: str) -> str:
        """Write Kafka's own command that makes it."""
        words = [f"kafka-topics.sh --bootstrap-server {servers} --create --topic {self.name}"]
        if self.partitions != CLUSTER_DEFAULT:
            words.append(f"--partitions {self.partitions}")
        words += [f"--config {wanted.setting}={wanted.value}" for wanted in self.wanted]
        return " ".join(words)


class SignatureBytes(NamedTuple):
    """What one document takes in `signatures`, estimated, without a text that travels along."""

    signature: int
    band_keys: int
    others: int  # fingerprint, id, names, numbers, and what Kafka adds

    @property
    def total(self) -> int:
        """All bytes together."""
        return sum(self)


def plan(settings: Settings) -> list[TopicPlan]:
    """List the topics, the user's own first, each with what it must be like."""
    topics = settings.kafka.topics
    default = CLUSTER_DEFAULT
    original = (_document_sized("an original with its key and headers", settings),)
    verdicts = _VERDICT_BYTES + settings.matching.matches_max * _MATCH_BYTES
    verdicts = min(max(_BATCH_BYTES, verdicts), RECORD_BYTES_MAX)
    listed = [
        TopicPlan(
            topics.documents,
            "documents",
            "what is to be matched; made if missing, and any will do",
            default,
            original,
            is_ours=False,
        ),
        TopicPlan(
            topics.signatures, "signatures", "the log between sign and match", 1, _log(settings)
        ),
        TopicPlan(
            topics.matches,
            "matches",
            "the verdicts",
            default,
            (_bytes(verdicts, "the largest verdict, and batches of small ones"),),
        ),
        TopicPlan(
            topics.rejected, "rejected", "originals that are no documents", default, original
        ),
        TopicPlan(topics.unique, "unique", "originals that have no match", default, original),
        TopicPlan(topics.duplicates, "duplicates", "originals that have one", default, original),
    ]
    return [topic for topic in listed if topic.name]


def copies_carried(settings: Settings) -> int:
    """Count the compressed copies of a document in its record of `signatures`.

    `verify = "exact"` compares with the text again, and routes forward the whole original.
    """
    topics = settings.kafka.topics
    return (settings.similarity.verify == "exact") + topics.has_routes


def signature_bytes(settings: SimilaritySettings) -> SignatureBytes:
    """Estimate what a document takes that has more shingles than its signature has values."""
    per_document = (
        2 * settings.hashes if settings.measure == "jaccard" else math.ceil(settings.hashes / 8)
    )
    return SignatureBytes(
        signature=per_document,
        band_keys=_bands(settings) * _BAND_KEY_BYTES,
        others=_HEAD_BYTES + _NAMES_BYTES + _ID_BYTES + _RECORD_BYTES,
    )


def _bands(settings: SimilaritySettings) -> int:
    if settings.bands:
        return settings.bands
    chosen = settings.threshold, settings.recall, settings.hashes, settings.measure
    return plan_bands(*chosen).bands


def _log(settings: Settings) -> tuple[Wanted, ...]:
    """Return the settings without which records of the log could vanish, or lie about time."""
    copies = copies_carried(settings)
    return (
        Wanted(
            "message.timestamp.type",
            "LogAppendTime",
            "the log's time is the clock of the window; a producer's may be wrong",
        ),
        Wanted(
            "cleanup.policy", "delete", "compaction would take records that the index needs again"
        ),
        Wanted(
            "retention.ms",
            "-1",
            "match deletes what has left the window; a time would drop what a stop or a backfill "
            "left unread",
        ),
        Wanted("retention.bytes", "-1", "a size would drop records still in the window"),
        _document_sized("the largest record, and batches of small ones", settings, copies),
    )


def _document_sized(what: str, settings: Settings, copies: int = 1) -> Wanted:
    size = copies * settings.events.document_bytes_max + _BATCH_BYTES
    times = {0: "", 1: f"{DOCUMENT_BYTES} and "}.get(copies, f"{copies} × {DOCUMENT_BYTES} and ")
    return _bytes(size, f"{what}: {times}1 MiB" + (" for the rest" if copies else ""))


def _bytes(size: int, reason: str) -> Wanted:
    return Wanted("max.message.bytes", str(size), reason, at_least=True)
