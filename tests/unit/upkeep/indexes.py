"""Small indexes for the tests beside."""

from collections.abc import Sequence

from stream_dedup.config import EventsSettings, IndexSettings, Settings, SimilaritySettings
from stream_dedup.engine import Matcher, Record, Signer
from stream_dedup.events import Deletion, Document, RecordReference
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.quantities import Duration
from tests import streams

FOREVER = Settings(
    similarity=SimilaritySettings(verify="exact", threshold=0.6),
    events=EventsSettings(emit="none"),
    index=IndexSettings(window=Duration.parse("none")),
)
TEXTS = [
    Document(
        id=f"d{number}",
        text=text,
        source=streams.SOURCES[number % 3],
        namespace=streams.NAMES[number % 4],
    )
    for number, text in enumerate(streams.pool(1))
    if text.strip(" .,!")
]


def remember(events: Sequence[Document | Deletion], settings: Settings) -> MemoryIndex:
    """Match events, a second after another, and remember them in an index."""
    index = MemoryIndex()
    matcher, signer = Matcher(index, settings), Signer(settings)
    records = [
        Record(
            event,
            number,
            streams.START + number * streams.SECOND,
            RecordReference(topic="documents", partition=0, offset=number),
        )
        for number, event in enumerate(events)
    ]
    for batch in streams.cut(records, [7]):
        matcher.remember(matcher.match(signer.sign(batch)))
    return index
