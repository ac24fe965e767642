"""Records that nobody should write, among good ones: each gets its verdict, or its reason."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from stream_dedup.kafka.dead_letters import DeadLetter, read_dead_letter
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names
from tests.integration.kafka_trial import Running, Trial

DOCUMENT_BYTES_MAX = 10_000_000  # the default
TOPIC_BYTES_MAX = 25_000_000
# The service holds what it fetched, up to 64 MB, and signs the largest documents in a few hundred;
# which of them come together is luck. Keeping anything of 5,000 records would show.
GROWTH_BYTES_MAX = 200_000_000
RECORDS_PER_SECOND_MIN = 50  # with the largest among them, on a busy machine
WRITE_SECONDS_MAX = 90

GOOD, BAD, EITHER = "good", "bad", "either"
CENTURY_AGO, FAR_AHEAD = 1, 4_102_444_800_000_000  # record times, in milliseconds since 1970


class Fuzzed(NamedTuple):
    """A record as it is written, and what should become of it."""

    fate: str
    value: bytes | None
    key: bytes | None = b"a key"
    headers: Sequence[tuple[str, bytes | None]] = ()
    timestamp: int = 0  # now


def text(random: Random, words: int = 40) -> str:
    return " ".join(f"{random.randrange(10**6):x}" for _ in range(words))


def fields(random: Random, **others: Any) -> dict[str, Any]:
    return {"id": f"d{random.randrange(10**9)}", "text": text(random), **others}


def document(random: Random, **others: Any) -> bytes:
    return json.dumps(fields(random, **others)).encode()


def rarely_large(random: Random, size: int, large_size: int) -> bytes:
    """Return what no compression makes small."""
    return random.randbytes(random.choices([size, large_size], [9, 1])[0])


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def good(random: Random) -> Fuzzed:
    """Return a document, however odd."""
    raw = random.randbytes(random.randrange(200))
    plain = document(random)
    choices: list[Callable[[], Fuzzed]] = [
        lambda: Fuzzed(GOOD, plain),
        lambda: Fuzzed(GOOD, plain, None),
        lambda: Fuzzed(GOOD, plain, raw),
        lambda: Fuzzed(GOOD, plain, timestamp=random.choice([CENTURY_AGO, FAR_AHEAD])),
        lambda: Fuzzed(GOOD, plain, headers=[("b", raw), ("b", None), ("", b""), ("é\n", b"1")]),
        lambda: Fuzzed(GOOD, plain, headers=[("trace", rarely_large(random, 20_000, 200_000))]),
        lambda: Fuzzed(GOOD, json.dumps({"text": text(random)}).encode(), b"key %d" % len(raw)),
        lambda: Fuzzed(GOOD, document(random, text="")),
        lambda: Fuzzed(GOOD, document(random, text="\0\u202e\x1b[2J" * 50)),
        lambda: Fuzzed(GOOD, b'{"id": "half", "text": "\\ud83d cut in the middle"}'),
        lambda: Fuzzed(GOOD, b"\xef\xbb\xbf" + plain),
        lambda: Fuzzed(GOOD, document(random, id=random.randrange(-(2**63), 2**63))),
        lambda: Fuzzed(GOOD, document(random, id="\0" * 4000)),
        lambda: Fuzzed(GOOD, document(random, published_at="0001-01-01T00:00:00Z")),
        lambda: Fuzzed(GOOD, document(random, published_at="9999-12-31T23:59:59Z")),
        lambda: Fuzzed(GOOD, document(random, namespace="n\0", source="s" * 90)),
        lambda: Fuzzed(GOOD, document(random, unknown={"a": [1.5e300, None, {"b": "c"}]})),
        lambda: Fuzzed(GOOD, document(random, deleted=True)),
        lambda: Fuzzed(GOOD, None, b"never seen"),
    ]
    return random.choice(choices)()


def bad(random: Random) -> Fuzzed:
    """Return what is no document."""
    raw = b"\xff" + random.randbytes(random.randrange(200))
    plain = document(random)
    wrong: dict[str, Any] = random.choice(
        [
            *({"text": 5}, {"text": None}, {"text": ["a"]}, {"id": {}}, {"id": ""}, {"id": 1.5}),
            *({"source": 1}, {"namespace": []}, {"deleted": "yes"}, {"published_at": 5}),
            *({"published_at": "yesterday"}, {"published_at": "2026-01-31T12:00:00"}),
            {"published_at": "0001-01-01T00:00:00+14:00"},
            {"published_at": "9999-12-31T23:59:59-14:00"},
            *(
                {"id": "i" * 5000},
                {"source": rarely_large(random, 5_000, 1_000_000).hex()},
                {"id": "\0" * 500_000},
            ),
        ]
    )
    choices: list[Callable[[], Fuzzed]] = [
        lambda: Fuzzed(BAD, raw, raw),
        lambda: Fuzzed(BAD, b""),
        lambda: Fuzzed(BAD, None, None),
        lambda: Fuzzed(BAD, None, raw),
        lambda: Fuzzed(BAD, raw, None, [("h", raw), ("__connect.errors.topic", b"not ours")]),
        lambda: Fuzzed(BAD, raw, timestamp=random.choice([CENTURY_AGO, FAR_AHEAD])),
        lambda: Fuzzed(BAD, plain[: random.randrange(1, len(plain))]),
        lambda: Fuzzed(BAD, plain.replace(b'"text": "', b'"text": "\xc3\x28')),
        lambda: Fuzzed(BAD, nested(20_000)),
        lambda: Fuzzed(BAD, plain[:-1] + b', "x": ' + nested(10_000) + b"}"),
        lambda: Fuzzed(BAD, b'{"id": 1e999, "text": "a"}'),
        lambda: Fuzzed(BAD, random.choice([b"null", b"[]", b"7", b'"a"', b"{}", b"\0"])),
        lambda: Fuzzed(BAD, json.dumps({"text": text(random)}).encode(), None),
        lambda: Fuzzed(BAD, json.dumps({"text": text(random)}).encode(), raw),
        lambda: Fuzzed(BAD, plain, headers=[("trace", rarely_large(random, 300_000, 1_200_000))]),
        lambda: Fuzzed(BAD, plain, rarely_large(random, 300_000, 1_000_000)),
        lambda: Fuzzed(BAD, None, b"k" * 5000),
        *[lambda: Fuzzed(BAD, document(random, **wrong))] * 10,
    ]
    return random.choice(choices)()


def either(random: Random) -> Fuzzed:
    """Return a document with a few bytes changed, or a number no machine has."""
    if random.random() < 0.1:
        digits = b"9" * random.choice([19, 20, 400, 5000])
        field = random.choice(
            [b'"id": %s, "a"', b'"id": "a", "x": %s, "b"', b'"id": "a", "x": -%s']
        )
        return Fuzzed(EITHER, b'{"text": "a", %s: 1}' % (field % digits))
    value = bytearray(document(random))
    for _ in range(random.randrange(1, 4)):
        value[random.randrange(len(value))] = random.randrange(256)
    return Fuzzed(EITHER, bytes(value))


def large(random: Random) -> list[Fuzzed]:
    """Return the largest: just within the limit, just above, and as much as the topic takes."""
    words = text(random, 400_000)
    fitting = json.dumps({"id": "large", "text": words[:2_000_000], "x": ""}).encode()
    padding = b" " * (DOCUMENT_BYTES_MAX - len(fitting))
    article = json.dumps({"id": "large", "text": (4 * words)[: DOCUMENT_BYTES_MAX - 60]}).encode()
    return [
        Fuzzed(GOOD, fitting + padding),
        Fuzzed(BAD, fitting + padding + b" "),
        Fuzzed(GOOD, article),
        Fuzzed(BAD, random.randbytes(20_000_000), random.randbytes(100)),
        Fuzzed(
            BAD, json.dumps({"id": "a", "text": "b" * 20_000_000}).encode(), headers=[("h", b"1")]
        ),
    ]


def drawn(seed: int, count: int) -> list[Fuzzed]:
    """Draw records: the largest come in the first tenth, and again behind the half."""
    random = Random(seed)
    records = [random.choices([good, bad, either], [6, 3, 1])[0](random) for _ in range(count)]
    huge = large(random)
    for start in (count // 20, count // 2 + count // 20):
        for number, record in enumerate(huge):
            records[start + number * count // 200] = record
    return records


def topic_for(broker: Broker, name: str) -> None:
    """Make the topic of documents: it takes anything, of any time."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    config = {
        "max.message.bytes": str(TOPIC_BYTES_MAX),
        "message.timestamp.after.max.ms": str(2**63 - 1),
        "message.timestamp.before.max.ms": str(2**63 - 1),
        "retention.ms": "-1",
    }
    admin.create_topics([NewTopic(name, 1, config=config)])[name].result(WRITE_SECONDS_MAX)


def write(trial: Trial, records: list[Fuzzed]) -> None:
    """Write the records, each at the offset that is its place in the list."""
    settings: Any = {
        "bootstrap.servers": trial.broker.bootstrap_servers,
        "enable.idempotence": True,
        "message.max.bytes": TOPIC_BYTES_MAX,
    }
    producer = Producer(settings)
    topic = trial.settings.kafka.topics.documents
    for number, (_, value, key, headers, timestamp) in enumerate(records):
        producer.produce(topic, value, key, 0, headers=list(headers), timestamp=timestamp)
        if number % 1000 == 999 or number == len(records) - 1:  # no more fit into its queue
            assert producer.flush(WRITE_SECONDS_MAX) == 0


class Watch(NamedTuple):
    """How many records were answered, and what the process held then."""

    answered: int
    resident_bytes: int


def watched(trial: Trial, running: Running, count: int) -> Iterator[Watch]:
    """Wait until so many verdicts and rejections are there; tell of the process's memory."""
    give_up = monotonic() + WRITE_SECONDS_MAX + count / RECORDS_PER_SECOND_MIN
    topics = trial.settings.kafka.topics
    reader = trial.clients.reader(**{"auto.offset.reset": "earliest"})
    answered = 0
    with closing(reader):
        reader.assign([TopicPartition(name, 0, 0) for name in (topics.matches, topics.rejected)])
        while answered < count:
            answered += sum(not message.error() for message in reader.consume(500, 0.1))
            yield Watch(answered, resident_bytes(running.process.pid))
            assert running.process.poll() is None, running.said()
            assert monotonic() < give_up, f"{answered} of {count}: {running.said()}"


def resident_bytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


@pytest.mark.parametrize(
    ("count", "seed"), [(5000, 1), pytest.param(50_000, 2, marks=pytest.mark.soak)]
)
def test_every_record_has_its_verdict_or_its_reason(
    broker: Broker, names: Names, tmp_path: Path, count: int, seed: int
) -> None:
    """Good documents are answered, all else is set aside with a reason, and memory stays flat."""
    topic_for(broker, names.topics().documents)
    trial = Trial(broker, names, tmp_path)
    records = drawn(seed, count)
    write(trial, records)
    with trial.process() as running:
        seen = list(watched(trial, running, count))
        running.stops()

    letters = [read_dead_letter(each) for each in read_all(broker, names.topics().rejected)]
    answered = [verdict.record.offset for verdict in trial.verdicts()]
    rejected = {letter.offset or 0: letter.reason for letter in letters}
    fates = {offset: record.fate for offset, record in enumerate(records)}
    assert sorted([*answered, *rejected]) == list(range(count)), f"seed {seed}"
    assert len(letters) == len(rejected)
    assert all(rejected.values())
    assert [n for n in answered if fates[n] == BAD] == [], f"seed {seed}"
    assert {n: why for n, why in rejected.items() if fates[n] == GOOD} == {}, f"seed {seed}"
    assert_originals(records, letters)
    halves = [
        max(watch.resident_bytes for watch in seen if (watch.answered <= count // 2) == is_first)
        for is_first in (True, False)
    ]
    assert halves[1] < halves[0] + GROWTH_BYTES_MAX, f"seed {seed}: {halves}"


def assert_originals(records: list[Fuzzed], letters: list[DeadLetter]) -> None:
    """A dead letter is the record as it came, or the beginning of it, and says which."""
    for letter in letters:
        record = records[letter.offset or 0]
        if letter.truncated_from is None:
            assert (letter.key, letter.value) == (record.key, record.value)
            assert letter.headers == list(record.headers)
        else:
            assert letter.truncated_from == len(record.value or b"")
            assert (record.value or b"").startswith(letter.value or b"")
        if record.timestamp:
            assert letter.timestamp == record.timestamp
