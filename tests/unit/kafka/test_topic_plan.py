"""What topics must be like, and what is told of their costs."""

import random
import string

import pytest

from stream_dedup.config import MatchingSettings, Settings, SimilaritySettings
from stream_dedup.engine import Record, Signer
from stream_dedup.events import Document, RecordReference
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
    (value,) = codec.encode(batch, [Extra("MkU3OEVBNTcwNTJENDM2Qg", [], None, UNDATED)])

    told = signature_bytes(similarity)

    in_kafka = len(value) + 20
    assert abs(told.total - in_kafka) < in_kafka / 10
    assert 0 < in_kafka - told.signature - told.band_keys < 200


def test_verdicts_with_many_matches_fit() -> None:
    """The limit of `matches` grows with matching.matches_max, and never below a batch."""
    few, many = (
        next(topic for topic in plan(settings) if topic.role == "matches").wanted[0].value
        for settings in (Settings(), Settings(matching=MatchingSettings(matches_max=50_000)))
    )

    assert (few, many) == ("1048588", "50000000")


@pytest.mark.parametrize(("found", "holds"), [("99", False), ("100", True), ("1000", True)])
def test_a_limit_is_compared_as_a_number(found: str, holds: bool) -> None:
    """Larger limits than wanted are right, though they sort earlier as text."""
    assert Wanted("max.message.bytes", "100", "", at_least=True).holds(found) == holds
    assert Wanted("retention.ms", "100", "").holds(found) == (found == "100")
