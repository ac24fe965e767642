"""What is kept of lines that are no documents, and when there are too many."""

import base64
import json
from random import Random

import pytest

from stream_dedup.errors import Refused
from stream_dedup.events import RecordReference
from stream_dedup.rejections import RejectedShare, Rejection

REFERENCE = RecordReference(topic="feed", partition=0, offset=7)
REJECTION = Rejection.of(REFERENCE, "JSON: truncated", b"{")


def test_a_rejected_line_is_kept_with_its_place_and_reason() -> None:
    """Nothing of it is lost: text is kept as text, what is not UTF-8 as base64."""
    text = json.loads(REJECTION.encode())
    binary = json.loads(Rejection.of(REFERENCE, "not UTF-8", b"\xff{").encode())

    assert text == {
        "record": {"topic": "feed", "partition": 0, "offset": 7},
        "reason": "JSON: truncated",
        "line": "{",
    }
    assert base64.b64decode(binary["line_base64"]) == b"\xff{"


def stops_at(records: list[bool], ratio_max: float, portion: int) -> int | None:
    """Feed records, True for rejected ones, and return the number of the portion refused."""
    share = RejectedShare(ratio_max)
    for number, start in enumerate(range(0, len(records), portion)):
        part = records[start : start + portion]
        rejected = {place: REJECTION for place, bad in enumerate(part) if bad}
        try:
            share.add(len(part) - len(rejected), rejected)
        except Refused:
            return number
    return None


def oracle(records: list[bool], ratio_max: float) -> int | None:
    """Find the first record at which too many of the last 10,000 were rejected."""
    for end in range(1, len(records) + 1):
        if records[end - 1] and sum(records[max(0, end - 10_000) : end]) > ratio_max * 10_000:
            return end - 1
    return None


@pytest.mark.parametrize("seed", range(6))
def test_too_many_of_the_last_ten_thousand_are_refused(seed: int) -> None:
    """The record that is one too many is found, however records come together."""
    random = Random(seed)
    records = [random.random() < random.choice([0.02, 0.05]) for _ in range(10_500)]
    ratio = random.choice([0.03, 0.034, 0.04])
    expected = oracle(records, ratio)

    for portion in (1, 7, 500):
        found = stops_at(records, ratio, portion)
        assert found == (None if expected is None else expected // portion)


@pytest.mark.parametrize(("ratio_max", "expected"), [(0.0, 0), (0.5, 5000), (1.0, None)])
def test_bounds_of_the_share(ratio_max: float, expected: int | None) -> None:
    """At 0 the first rejected record is refused, at 1 none ever is."""
    assert stops_at([True] * 10_100, ratio_max, 1) == expected


def test_the_refusal_names_a_reason_and_the_ways_out() -> None:
    """Whoever reads it learns what was wrong with the last line and what may be done."""
    with pytest.raises(Refused, match=r"JSON: truncated.*rejected_ratio_max"):
        RejectedShare(0).add(3, {1: REJECTION})
