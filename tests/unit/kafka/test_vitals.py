from stream_dedup import metrics as listed
from stream_dedup.config import Settings
from stream_dedup.engine import Matcher, Signer
from stream_dedup.events import Deletion, Document, RecordReference
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.kafka.follower import Step
from stream_dedup.kafka.ledger import Ledger
from stream_dedup.kafka.signed import Extra
from stream_dedup.kafka.vitals import Vitals
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.panel import Panel
from stream_dedup.signing import Record

BASE = " ".join(f"word{number}" for number in range(60))
EVENTS: list[Document | Deletion] = [
    Document(id="a", text=f"{BASE} one"),
    Document(id="b", text=f"{BASE} two"),  # near
    Document(id="c", text=f"{BASE} one"),  # exact
    Document(id="c", text=f"{BASE} one"),  # a repeat
    Document(id="d", text="something else altogether, of a length of its own"),
    Document(id="e", text="…"),  # without text
    Deletion(id="d"),
]


def counted(cuts: list[int]) -> Panel:
    """Match the events in batches, cut here, and count each."""
    settings = Settings()
    panel, matcher = Panel.of(settings), Matcher(MemoryIndex(), settings)
    vitals, signer = Vitals("match", panel), Signer(settings)
    for start, end in zip([0, *cuts], [*cuts, len(EVENTS)], strict=True):
        records = [
            Record(EVENTS[at], at, UNDATED, RecordReference(topic="t", partition=0, offset=at))
            for at in range(start, end)
        ]
        matched = matcher.match(signer.sign(records))
        matcher.remember(matched)
        extras = [Extra("", [], None, UNDATED, UNDATED)] * len(records)
        vitals.matched(Step(matched, extras, Ledger(), end, 0))
    return panel


def test_each_document_counts_once() -> None:
    """Under its outcome, and by its highest similarity; wherever batches are cut."""
    outcomes = dict.fromkeys(["near", "exact", "repeat", "skipped", "deleted"], 1) | {"unique": 2}
    for cuts in ([], [1, 2, 3, 4, 5, 6], [3]):
        metrics = counted(cuts).metrics
        found = {label: count for (label,), count in metrics.values(listed.DOCUMENTS).items()}
        similar = metrics.counts(listed.SIMILARITY)

        assert found == outcomes
        # Two that resemble nothing, one near, one exact: a repeat, an end and no text are none.
        assert sum(similar) == 4
        assert similar[0] == 2
        assert similar[listed.SIMILARITY.bounds.index(1.0)] == 1
        assert metrics.values(listed.MATCHES) == {("near",): 1, ("exact",): 1}
