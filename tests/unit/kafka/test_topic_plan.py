"""What topics must be like, and what is told of their costs."""

import random
import string

import pytest

from stream_dedup.config import MatchingSettings, Settings, SimilaritySettings
from stream_dedup.engine import Record, Signer
from stream_dedup.events import (
    ClusterReference,
    Document,
    Match,
    RecordReference,
    Revision,
    SeenDocument,
    Verdict,
)
from stream_dedup.kafka.documents import AROUND_BYTES_MAX, NAMES_BYTES_MAX
from stream_dedup.kafka.messages import RECORD_BYTES_MAX
from stream_dedup.kafka.signed import Extra, SignedCodec
from stream_dedup.kafka.topic_plan import Wanted, plan, signature_bytes
from stream_dedup.matching.logtime import UNDATED

SEED = 11


@pytest.mark.parametrize(
    "similarity",
    [
        SimilaritySettings(),
        SimilaritySettings(hashes=256, bands=32, rows=8),
        SimilaritySettings(measure="cosine", hashes=256, threshold=0.9),
    ],
)
def test_the_cost_that_is_told_is_that_of_a_record(similarity: SimilaritySettings) -> None:
    """A record of an ordinary article takes what `topics plan` says, within a tenth."""
    signer = Signer(Settings(similarity=similarity))
    codec = SignedCodec(signer.sketcher, keeps_texts=False)
    text = "".join(random.Random(SEED).choices(string.ascii_letters + " ", k=3500))
    document = Document(id="reuters-2026-01-3112", text=text, source="reuters", namespace="news")
    reference = RecordReference(topic="documents", partition=3, offset=123_456_789)
    batch = signer.sign([Record(document, 1_700_000_000_000, UNDATED, reference)])
    (value,) = codec.encode(batch, [Extra("MkU3OEVBNTcwNTJENDM2Qg", [], None, UNDATED, UNDATED)])

    told = signature_bytes(similarity)

    in_kafka = len(value) + 20
    assert abs(told.total - in_kafka) < in_kafka / 10
    assert 0 < in_kafka - told.signature - told.band_keys < 200


def planned_bytes(matches_max: int) -> int:
    settings = Settings(matching=MatchingSettings(matches_max=matches_max))
    matches = next(topic for topic in plan(settings) if topic.role == "matches")
    return int(matches.wanted[0].value)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_the_largest_verdict_fits(count: int) -> None:
    """Names as long as they may be, of characters that JSON writes longest, and all the headers."""
    name, date = "\0" * NAMES_BYTES_MAX, "2026-01-31T09:00:00.123Z"
    match = Match(
        id=name,
        kind="extension",
        similarity=0.999,
        error=0.025,
        containment=0.999,
        seen_at=date,
        source="",
        bands=2**31,
    )
    verdict = Verdict(
        event_id="e" * 64,
        type="duplicate",
        document=SeenDocument(id=name, source="", namespace="", seen_at=date),
        record=RecordReference(topic="t" * 249, partition=2**31, offset=2**63 - 1),
        matches=(match,) * count,
        match_count=2**63 - 1,
        cluster=ClusterReference(id=name, size=2**31),
        previous=Revision(similarity=0.999, error=0.025),
        capped=2**31,
        settings="f" * 32,
    )

    size = len(verdict.encode()) + len(name) + AROUND_BYTES_MAX

    assert size < planned_bytes(count) < 2 * size + 1_048_588


def test_a_limit_is_never_above_what_brokers_take() -> None:
    """Whoever asks for all matches gets a topic all the same."""
    assert planned_bytes(10**6) == RECORD_BYTES_MAX


def test_a_limit_is_never_below_a_batch() -> None:
    """librdkafka fills batches up to a megabyte, however small the records."""
    assert planned_bytes(1) == 1_048_588


@pytest.mark.parametrize(("found", "holds"), [("99", False), ("100", True), ("1000", True)])
def test_a_limit_is_compared_as_a_number(found: str, holds: bool) -> None:
    """Larger limits than wanted are right, though they sort earlier as text."""
    assert Wanted("max.message.bytes", "100", "", at_least=True).holds(found) == holds
    assert Wanted("retention.ms", "100", "").holds(found) == (found == "100")
