"""What becomes of rejected records on their way to the topic of dead letters and back."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stream_dedup.kafka.dead_letters import dead_letter, read_dead_letter
from stream_dedup.kafka.messages import Headers, Incoming, Outgoing
from stream_dedup.matching.logtime import UNDATED
from tests.unit.kafka import records

NOON = 1_700_000_000_000
BAD = Incoming("documents", 3, 812, NOON, b"a1", b"{", [("traceparent", b"00-1"), ("x", None)])
ROOM = 1_000_000
KEPT = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")


def read_again(letter: Outgoing) -> Incoming:
    return Incoming(letter.topic, 0, 7, NOON + 5, letter.key, letter.value, letter.headers)


def size(letter: Outgoing) -> int:
    headers = sum(len(name.encode()) + len(value or b"") for name, value in letter.headers)
    return len(letter.key or b"") + len(letter.value or b"") + headers


def test_a_dead_letter_is_the_record_with_the_headers_of_kafka_connect() -> None:
    """Key, value and headers stay; place, time and reason follow under the names that are known."""
    assert dead_letter(BAD, "JSON: truncated", "rejected", ROOM) == Outgoing(
        "rejected",
        b"a1",
        b"{",
        [
            ("traceparent", b"00-1"),
            ("x", None),
            ("__connect.errors.topic", b"documents"),
            ("__connect.errors.partition", b"3"),
            ("__connect.errors.offset", b"812"),
            ("__connect.errors.stage", b"VALUE_CONVERTER"),
            ("__connect.errors.exception.class.name", b"stream_dedup.errors.DocumentRejected"),
            ("__connect.errors.exception.message", b"JSON: truncated"),
            ("stream-dedup-original-timestamp", str(NOON).encode()),
        ],
    )


@given(records.incoming(), st.text(max_size=50))
def test_a_rejected_record_comes_back_as_it_was(record: Incoming, reason: str) -> None:
    """All of it, even one that is itself a replayed or foreign dead letter."""
    letter = read_dead_letter(read_again(dead_letter(record, reason, "rejected", ROOM)))

    assert letter.reason == reason
    assert letter.truncated_from is None
    assert all(getattr(letter, name) == getattr(record, name) for name in KEPT)


@given(
    records.incoming(st.none() | st.integers(0, 9000).map(bytes)),
    st.integers(0, 9000),
    st.integers(0, 9000),
    st.text(min_size=900),
)
def test_a_dead_letter_always_fits(
    record: Incoming, key_bytes: int, header_bytes: int, reason: str
) -> None:
    """Whatever is large, it has room; what was cut begins as it did, and says how long it was."""
    long = ("long", bytes(header_bytes))
    record = replace(record, key=bytes(key_bytes), headers=[*record.headers, long])
    written = dead_letter(record, reason, "rejected", 6000)
    letter = read_dead_letter(read_again(written))

    assert size(written) <= 6000
    assert (record.value or b"").startswith(letter.value or b"")
    assert (record.key or b"").startswith(letter.key or b"")
    assert (letter.value is None) == (record.value is None)
    whole = all(getattr(letter, name) == getattr(record, name) for name in KEPT)
    assert letter.truncated_from == (None if whole else len(record.value or b""))


def test_a_value_too_large_is_cut_and_points_to_its_source() -> None:
    """Its first bytes stay, beside its size and the place of the whole."""
    record = replace(BAD, value=b"x" * 100_000)
    letter = read_dead_letter(read_again(dead_letter(record, "too large", "rejected", 10_000)))

    assert letter.value
    assert 8_000 < len(letter.value) < 10_000
    assert letter.truncated_from == 100_000
    assert letter.source == "topic documents, partition 3, offset 812"
    assert letter.headers == BAD.headers


def test_dead_letters_of_others_are_read_too() -> None:
    """Those of Kafka Connect tell their place; one without any header is shown as it is."""
    theirs: Headers = [
        ("own", b"1"),
        ("__connect.errors.topic", b"orders"),
        ("__connect.errors.partition", b"no number"),
        ("__connect.errors.connector.name", b"sink"),
        ("__connect.errors.exception.message", b"\xff"),
        ("added", b"later"),
    ]
    letter = read_dead_letter(replace(BAD, headers=theirs))
    bare = read_dead_letter(BAD)

    assert (letter.topic, letter.partition, letter.reason) == ("orders", None, "\ufffd")
    assert letter.headers == [("own", b"1"), ("added", b"later")]
    assert letter.source == "an unknown place"
    assert (bare.topic, bare.timestamp, bare.headers) == (None, UNDATED, BAD.headers)


@given(records.incoming())
def test_reading_a_dead_letter_never_fails(record: Incoming) -> None:
    """Anything may lie in the topic, and all of it can be listed."""
    letter = read_dead_letter(record)

    assert (letter.key, letter.value) == (record.key, record.value)
