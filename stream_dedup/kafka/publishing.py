"""What goes out for a batch: verdicts, and originals where routes ask for them."""

from collections.abc import Iterator

import msgspec

from stream_dedup.config import Settings
from stream_dedup.events import Verdict
from stream_dedup.kafka.follower import Step
from stream_dedup.kafka.messages import ORIGINAL_TIMESTAMP, Headers, Outgoing
from stream_dedup.kafka.signed import Extra
from stream_dedup.matching.logtime import UNDATED

_TO_DUPLICATES = {"duplicate", "repeat"}


class Publishing:
    """Makes records of decisions."""

    def __init__(self, settings: Settings) -> None:
        self._topics = settings.kafka.topics
        self._emit = settings.events.emit
        self._routes = self._topics.has_routes
        # A route needs to know of every document what it is.
        events = msgspec.structs.replace(
            settings.events, emit="all" if self._routes else self._emit
        )
        self.settings = msgspec.structs.replace(settings, events=events)

    def records(self, step: Step) -> Iterator[Outgoing]:
        """Yield the records of a batch, in the order of the log."""
        references = step.matched.batch.references
        extras = dict(zip(references, step.extras, strict=True))
        for verdict in step.matched.verdicts:
            extra = extras[verdict.record]
            if self._emit == "all" or (self._emit == "matches" and verdict.matches):
                key = verdict.document.id.encode("utf-8", "surrogatepass")
                headers = [*extra.headers, *_arrival(extra)]
                yield Outgoing(self._topics.matches, key, verdict.encode(), headers)
            if self._routes:
                yield from self._routed(verdict, extra)

    def _routed(self, verdict: Verdict, extra: Extra) -> Iterator[Outgoing]:
        """Yield the original with what was decided of it, if its route is switched on.

        A revision follows what it revises, which went to `unique`, as do ends of documents.
        """
        topic = self._topics.unique
        if verdict.type in _TO_DUPLICATES and verdict.previous is None:
            topic = self._topics.duplicates
        if topic and extra.original is not None:
            original = extra.original
            headers = [*original.headers, *_arrival(extra), *_said(verdict)]
            yield Outgoing(topic, original.key, original.value(), headers)


def _arrival(extra: Extra) -> Headers:
    """Return when the document's record was written: what is made of it gets a time of its own."""
    if extra.arrived == UNDATED:
        return []
    return [(ORIGINAL_TIMESTAMP, str(extra.arrived).encode())]


def _said(verdict: Verdict) -> Headers:
    said: Headers = [("stream-dedup-type", verdict.type.encode())]
    if verdict.matches:
        best = verdict.matches[0]
        said.append(("stream-dedup-match-id", best.id.encode("utf-8", "surrogatepass")))
        said.append(("stream-dedup-similarity", str(best.similarity).encode()))
    return said
