"""A service as its page sees it: all of it is real, but for Kafka, which the page does not know."""

import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from stream_dedup.config import (
    HttpSettings,
    IndexSettings,
    MatchingSettings,
    Settings,
    SimilaritySettings,
)
from stream_dedup.engine import Matcher, Record, Signer
from stream_dedup.events import Deletion, Document, RecordReference
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.index_gauges import IndexGauges
from stream_dedup.kafka.follower import Step
from stream_dedup.kafka.ledger import Ledger
from stream_dedup.kafka.signed import Extra
from stream_dedup.kafka.vitals import Vitals
from stream_dedup.metrics import LAG_RECORDS, LAG_SECONDS
from stream_dedup.panel import Panel
from stream_dedup.query import Reader
from stream_dedup.signing import own_time
from stream_dedup.web.application import Desk, application
from stream_dedup.web.server import Server

_LATENCY_MILLISECONDS = 40


class PageService:
    """An engine on a directory, what it tells of itself, and the server that shows it."""

    def __init__(self, directory: Path, verify: Any = "exact", token: str = "") -> None:
        self.settings = Settings(
            similarity=SimilaritySettings(verify=verify, threshold=0.7),
            # All are sampled: a page has no time for the thousands that make an estimate else.
            matching=MatchingSettings(recall_sample=1.0),
            index=IndexSettings(directory=str(directory)),
            http=HttpSettings(port=0),
        )
        self._token = token
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        settings = self.settings
        index = self._stack.enter_context(
            closing(RocksIndex.open(settings.index.directory, settings.index))
        )
        self._signer, self._matcher = Signer(settings), Matcher(index, settings)
        self._panel = Panel.of(settings)
        self.health = self._panel.health
        self._vitals = Vitals("match", self._panel)
        self._vitals.tell("working")
        reader = Reader(index, settings, lambda: self._matcher)
        metrics, health, live = self._panel[:3]
        self._gauges = IndexGauges(index, settings.index.directory, lambda: self._matcher, metrics)
        self._application = application(Desk(settings, metrics, health, live, reader), self._token)
        self.serve(0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shut()
        self._stack.close()

    def serve(self, port: int) -> None:
        """Listen, on any port or on one that was had before."""
        self._server = Server(self._application, "127.0.0.1", port)
        self._server.start()
        self.address = self._server.address

    def shut(self) -> None:
        """Listen no more."""
        self._server.close()

    def lag(self, role: str, partition: int, records: int, seconds: float) -> None:
        """Say how far a role is behind in a partition, as its backlog does."""
        for metric, value in ((LAG_RECORDS, records), (LAG_SECONDS, seconds)):
            self._panel.metrics.set(metric, value, role, str(partition))

    def decide(self, events: Sequence[Document | Deletion]) -> None:
        """Decide events as one batch, remember them, and tell of it as the service does."""
        first = self._matcher.next_offset
        records = [
            Record(
                event,
                position,
                own_time(event),
                RecordReference(topic="documents", partition=0, offset=position),
            )
            for position, event in enumerate(events, first)
        ]
        matched = self._matcher.match(self._signer.sign(records))
        self._matcher.remember(matched)
        arrived = round(time.time() * 1000) - _LATENCY_MILLISECONDS
        extras = [Extra("", [], None, arrived, arrived)] * len(records)
        self._vitals.matched(Step(matched, extras, Ledger(), first + len(records), 0))
        self._gauges.sample()
