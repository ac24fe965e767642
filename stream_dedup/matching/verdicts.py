"""Decisions as they are published."""

import hashlib
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple

from msgspec import Struct

from stream_dedup.events import (
    ClusterReference,
    Match,
    RecordReference,
    Revision,
    SeenDocument,
    Verdict,
)
from stream_dedup.index.layout import Member
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.signing import SignedBatch

Type = Literal["duplicate", "unique", "repeat", "skipped", "deleted"]
Kind = Literal["exact", "near", "excerpt", "extension"]

# As many as the estimate can bear, and some more to compare exact values by.
_DIGITS = 6
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # in UTC, like all times here


class Found(Struct, frozen=True, gc=False):
    """A group that a document matches."""

    position: int
    member: Member  # which the verdict names
    documents: int
    kind: Kind
    similarity: float
    error: float
    containment: float
    bands: int


class Previous(NamedTuple):
    """How similar a document is to what it replaces."""

    similarity: float
    error: float


class Decision(Struct, frozen=True, gc=False):
    """What is decided of one event."""

    type: Type
    found: list[Found] = []  # best first
    cluster: ClusterReference | None = None
    previous: Previous | None = None
    capped: int = 0  # buckets of which a part was not seen
    evicted: int = 0  # entries of full buckets that had to go for the document's own

    @property
    def documents(self) -> int:
        return sum(found.documents for found in self.found)


def verdict(
    batch: SignedBatch, index: int, decision: Decision, matches_max: int, settings: str
) -> Verdict:
    """Say what was decided of the event at this index of its batch."""
    reference = batch.references[index]
    return Verdict(
        event_id=event_id(reference),
        type=decision.type,
        document=SeenDocument(
            id=batch.ids[index],
            source=batch.sources[index],
            namespace=batch.namespaces[index],
            seen_at=timestamp(batch.times[index]),
        ),
        record=reference,
        matches=matches(decision, matches_max),
        match_count=decision.documents,
        cluster=decision.cluster,
        previous=_revision(decision.previous),
        capped=decision.capped,
        settings=settings,
    )


def matches(decision: Decision, matches_max: int) -> tuple[Match, ...]:
    """Return the best matches as they are told of."""
    return tuple([_match(found) for found in decision.found[:matches_max]])


def _revision(previous: Previous | None) -> Revision | None:
    if previous is None:
        return None
    return Revision(similarity=_share(previous.similarity), error=round(previous.error, _DIGITS))


def event_id(record: RecordReference) -> str:
    """Return an id that is the same whenever this record is decided again."""
    name = f"{record.topic}\0{record.partition}\0{record.offset}"
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def timestamp(milliseconds: int) -> str | None:
    """Write a time as RFC 3339 does, nothing for none."""
    if milliseconds == UNDATED:
        return None
    second, rest = divmod(milliseconds, 1000)
    return f"{_second(second)}.{rest:03}Z"


@lru_cache(maxsize=4096)  # what comes together mostly is of a few seconds
def _second(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()


def _match(found: Found) -> Match:
    member = found.member
    seen_at = None if member.behind is None else timestamp(member.seen - member.behind)
    return Match(
        id=member.id,
        kind=found.kind,
        similarity=_share(found.similarity),
        error=round(found.error, _DIGITS),
        containment=_share(found.containment),
        seen_at=seen_at,
        source=member.source,
        bands=found.bands,
    )


def _share(value: float) -> float:
    """Round to what the estimate can bear; a cosine estimated below zero is shown as zero."""
    return min(1.0, max(0.0, round(value, _DIGITS)))
