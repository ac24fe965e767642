"""A first batch that nobody waits for: what is compiled, or loaded, when it is first called."""

from msgspec.structs import replace

from stream_dedup.config import Settings
from stream_dedup.engine import UNDATED, Matcher, Record, Signer
from stream_dedup.events import Document, RecordReference
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.index.sieve import Sieve

_STORY = "One text comes again and again, and each copy has a number and nothing else of its own."
_TEXTS = [
    *(f"{_STORY * 8} {number}" for number in range(40)),
    *(f"{_STORY} {number}" for number in range(40)),  # short ones are compared shingle by shingle
    "Gru\u0308ße",  # has to be composed
    "",
]


def rehearse(settings: Settings) -> None:
    """Sign, match and remember a few texts, in memory; it takes seconds where nothing is cached."""
    signed = Signer(settings).sign([_record(place, text) for place, text in enumerate(_TEXTS)])
    matcher = Matcher(MemoryIndex(), _meeting_all(settings))
    matcher.remember(matcher.match(signed))
    sieve = Sieve(lambda: iter(()), 0, 1 << 10)
    sieve.add([b"bucket"])
    sieve.passing([b"bucket"])


def _record(place: int, text: str) -> Record:
    reference = RecordReference(topic="", partition=0, offset=place)
    return Record(Document(id=str(place), text=text), place, UNDATED, reference)


def _meeting_all(settings: Settings) -> Settings:
    """Return settings under which even a few texts fill a bucket, and all are surveyed."""
    return replace(
        settings,
        index=replace(settings.index, bucket_size_max=4),
        matching=replace(settings.matching, recall_sample=1.0),
    )
