"""Which settings decided which part of the log."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from stream_dedup.config import Settings
from stream_dedup.engine import Matcher
from stream_dedup.kafka.history import History

CHANGES = st.lists(st.tuples(st.integers(0, 50), st.sampled_from("abc")), max_size=10)
METADATA_BYTES_MAX = 4096  # that a broker takes with an offset


@given(CHANGES)
def test_each_offset_was_decided_by_who_followed_last(changes: list[tuple[int, str]]) -> None:
    """The settings at an offset are those that were given last for it, and hold up to the end."""
    history, told = History(), dict[int, str]()
    for begin, name in changes:
        history = history.followed(begin, {"name": name})
        told = {at: known for at, known in told.items() if at < begin}
        told |= dict.fromkeys(range(begin, 60), name)

    for offset in range(60):
        decided = history.decisions(offset)
        assert (decided or {}).get("name") == told.get(offset)
        end = min(int(min(history.end(offset), 60)), 60)
        assert {told.get(at) for at in range(offset, end)} == {told.get(offset)}


def test_it_fits_into_what_is_committed() -> None:
    """However often settings change, the offset can be committed; the newest changes are kept."""
    decisions = Matcher.decisions(Settings())
    history = History()
    for number in range(100):
        longest = {**decisions, "matching.scope": "other_source", "similarity.verify": "signature"}
        history = history.followed(10**12 + number, {**longest, "similarity.threshold": number})

    assert len(json.encode(history)) < METADATA_BYTES_MAX - 100
    assert history.decisions(10**12 + 99) == {**longest, "similarity.threshold": 99}
    assert json.decode(json.encode(history), type=History) == history
