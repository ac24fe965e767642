"""`stream-dedup rejected` on a real Kafka: what lies there is shown, and goes back once."""

import json
from random import Random

import pytest
from confluent_kafka.admin import NewTopic
from msgspec.structs import replace

from stream_dedup.cli import main
from stream_dedup.config import KafkaSettings
from stream_dedup.errors import InputError, Refused, Unavailable
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.dead_letters import dead_letter
from stream_dedup.kafka.messages import Headers, Incoming, Outgoing
from stream_dedup.kafka.rejected_topic import Place, RejectedTopic
from stream_dedup.kafka.replaying import Replayer
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names

pytestmark = pytest.mark.usefixtures("broker")

NOON = 1_700_000_000_000
HEADERS: Headers = [("traceparent", b"00-1"), ("empty", None)]
BAD = Incoming("documents", 0, 7, NOON, b"k", b'{"id": 1', HEADERS)
# What each rejected record is, why, and the partition of the topic that it goes to.
LETTERS = [
    (BAD, "JSON: truncated", 0),
    (replace(BAD, offset=8, key=b"\xff", value=None), "key: not UTF-8", 1),
    (replace(BAD, offset=9, key=None, value=b"\x80"), "JSON: truncated", 0),
    (replace(BAD, offset=10, value=b"x" * 90_000), "too large", 1),
]


@pytest.fixture
def kafka(broker: Broker, names: Names) -> KafkaSettings:
    """Settings of a cluster with some rejected records, and one whose writer failed."""
    settings = names.kafka(broker)
    topics = (settings.topics.documents, settings.topics.rejected)
    admin = Clients(settings).admin()
    for made in admin.create_topics([NewTopic(topic, 2) for topic in topics]).values():
        made.result(30)
    for record, reason, partition in LETTERS:
        write(settings, dead_letter(record, reason, settings.topics.rejected, 20_000), partition)
    write(settings, dead_letter(BAD, "aborted", settings.topics.rejected, 20_000), 0, commits=False)
    return settings


def write(
    settings: KafkaSettings, letter: Outgoing, partition: int, *, commits: bool = True
) -> None:
    producer = Clients(settings).producer(f"{settings.application}-test")
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(
        letter.topic, letter.value, letter.key, partition=partition, headers=list(letter.headers)
    )
    producer.flush(30)
    if commits:
        producer.commit_transaction(30)
    else:
        producer.abort_transaction(30)


def call(settings: KafkaSettings, *arguments: str) -> int:
    """Run a command with these settings."""
    topics = settings.topics
    return main(
        [
            "rejected",
            *arguments,
            f"--bootstrap-servers={settings.bootstrap_servers}",
            f"--set=kafka.application={settings.application}",
            f"--set=kafka.topics.documents={topics.documents}",
            f"--set=kafka.topics.rejected={topics.rejected}",
        ]
    )


def replayed(broker: Broker, settings: KafkaSettings) -> list[tuple[object, ...]]:
    """Return key, value and headers of what lies in the topic of documents."""
    found = read_all(broker, settings.topics.documents)
    return sorted(map(carried, found), key=repr)


def own(*numbers: int) -> list[tuple[object, ...]]:
    return sorted([carried(LETTERS[number][0]) for number in numbers], key=repr)


def carried(record: Incoming) -> tuple[object, ...]:
    return record.key, record.value, record.headers


def test_rejected_records_are_listed(
    kafka: KafkaSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that was committed, the newest last; fewer where fewer are asked for."""
    assert call(kafka, "list") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert call(kafka, "list", "--reason", "json", "--limit", "1") == 0
    (newest,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [one["record"]["offset"] for one in found] == [7, 8, 9, 10]
    assert [one["reason"] for one in found] == [reason for _, reason, _ in LETTERS]
    assert found[0]["key"] == "k"
    assert found[0]["record"]["written_at"] == "2023-11-14T22:13:20.000Z"
    assert found[1]["key_base64"] == "/w=="
    assert found[3]["truncated_from"] == 90_000
    assert newest["record"]["offset"] == 9


def test_a_rejected_record_is_shown_whole(
    kafka: KafkaSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    """With value and headers; what is not there, or was never committed, is said to be missing."""
    topic = RejectedTopic(Clients(kafka), kafka.topics.rejected)
    places = [rejected.place for rejected in topic.letters()]
    first = min(places)
    assert call(kafka, "show", str(first)) == 0
    shown = json.loads(capsys.readouterr().out)

    assert shown["place"] == str(first)
    assert shown["value"] == '{"id": 1'
    assert shown["headers"] == [
        {"name": "traceparent", "value": "00-1"},
        {"name": "empty", "value": None},
    ]
    for missing in (Place(0, 999), Place(9, 0), Place(0, max(places).offset + 100)):
        with pytest.raises(InputError, match="no record at"):
            topic.letter(missing)
    # A marker of a transaction follows each record.
    with pytest.raises(InputError, match="no record at"):
        topic.letter(Place(0, first.offset + 1))


def test_all_whole_records_go_back_as_they_came(
    broker: Broker, kafka: KafkaSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    """Key, value and headers are the original ones; a truncated one stays, and says where it is."""
    assert call(kafka, "replay", "--yes") == 0
    printed = capsys.readouterr()

    assert replayed(broker, kafka) == own(0, 1, 2)
    assert f"3 records replayed to topic {kafka.topics.documents}" in printed.out
    assert "is truncated; the whole record is in topic documents, partition 0, offset 10" in (
        printed.err
    )


def test_chosen_records_go_back(broker: Broker, kafka: KafkaSettings) -> None:
    """Those of a reason, and those that are named."""
    topic = RejectedTopic(Clients(kafka), kafka.topics.rejected)
    places = {one.letter.offset: str(one.place) for one in topic.letters()}

    assert call(kafka, "replay", "--yes", "--reason", "JSON", "--limit", "1") == 0
    assert replayed(broker, kafka) == own(2)
    assert call(kafka, "replay", "--yes", places[8]) == 0
    assert replayed(broker, kafka) == own(1, 2)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["replay", "--yes", "--reason", "too large"], 3, "none of these records is whole"),
        (["replay", "--yes", "0:999"], 2, "no such rejected record: 0:999"),
        (["replay", "--yes", "first"], 2, "is no PARTITION:OFFSET"),
        (["replay"], 2, "--yes does it without a question"),
        (["show", "1:999"], 2, "has no record at 1:999"),
    ],
)
def test_what_cannot_be_done_is_said(
    broker: Broker,
    kafka: KafkaSettings,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    """Nothing is replayed, and the exit code tells why."""
    assert call(kafka, *arguments) == code
    assert said in capsys.readouterr().err
    assert replayed(broker, kafka) == []


def test_a_topic_that_is_not_there_has_rejected_nothing(
    broker: Broker, names: Names, capsys: pytest.CaptureFixture[str]
) -> None:
    """Looking at it does not make it."""
    assert call(names.kafka(broker), "list") == 2
    assert call(names.kafka(broker), "list") == 2
    assert "does not exist: nothing was rejected yet" in capsys.readouterr().err


def test_a_replay_that_fails_leaves_nothing_behind(broker: Broker, kafka: KafkaSettings) -> None:
    """Where one record of a transaction is not taken, none of it is."""
    letters = [one.letter for one in RejectedTopic(Clients(kafka), kafka.topics.rejected).letters()]
    huge = letters[0]._replace(value=Random(1).randbytes(5_000_000))
    replayer = Replayer(Clients(kafka), f"{kafka.application}-replay", kafka.topics.documents)

    with pytest.raises((Unavailable, Refused), match="too large"):
        replayer.replay([*letters[:2], huge], lambda count: None)

    assert replayer.count == 0
    assert replayed(broker, kafka) == []
