"""Topics on a real broker: made as planned, checked setting by setting, told apart when remade."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import monotonic

import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from stream_dedup.cli import main
from stream_dedup.config import EventsSettings, Settings
from stream_dedup.errors import Refused, StreamDedupError, Unavailable
from stream_dedup.kafka import topics
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.topic_plan import Wanted, plan
from stream_dedup.quantities import Size
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names

SECONDS_MAX = 90


@pytest.fixture
def settings(broker: Broker, names: Names) -> Settings:
    """All topics, routes too."""
    return Settings(kafka=names.kafka(broker, routes=True))


@pytest.fixture
def admin(settings: Settings) -> AdminClient:
    """A client of an administrator."""
    return Clients(settings.kafka).admin()


def _problems(admin: AdminClient, settings: Settings) -> list[topics.Problem]:
    return topics.check(admin, plan(settings), settings.kafka.bootstrap_servers)


def _make(admin: AdminClient, settings: Settings) -> list[str]:
    return topics.create(admin, plan(settings), settings.kafka.bootstrap_servers)


def _alter(admin: AdminClient, topic: str, setting: str, value: str) -> None:
    entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for answer in admin.incremental_alter_configs([resource]).values():
        answer.result(SECONDS_MAX)
    give_up = monotonic() + SECONDS_MAX
    while _setting(admin, topic, setting) != value:  # the answer comes before the effect
        assert monotonic() < give_up


def _setting(admin: AdminClient, topic: str, setting: str) -> str | None:
    (answer,) = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]).values()
    entry: ConfigEntry = answer.result(SECONDS_MAX)[setting]
    return entry.value


def _delete(admin: AdminClient, topic: str) -> None:
    admin.delete_topics([topic], operation_timeout=SECONDS_MAX)[topic].result(SECONDS_MAX)


def test_what_is_missing_is_made_as_planned(settings: Settings, admin: AdminClient) -> None:
    """Every topic is listed as missing, then made, then right; again changes nothing."""
    names = [topic.name for topic in plan(settings)]

    assert [problem.topic for problem in _problems(admin, settings)] == names
    assert _make(admin, settings) == names
    assert _problems(admin, settings) == []
    assert _make(admin, settings) == []


@pytest.mark.parametrize(
    ("setting", "value", "wanted"),
    [
        ("message.timestamp.type", "CreateTime", "LogAppendTime"),
        ("cleanup.policy", "compact", "delete"),
        ("cleanup.policy", "compact,delete", "delete"),
        ("retention.ms", "604800000", "-1"),
        ("retention.bytes", "1000000", "-1"),
        ("max.message.bytes", "11048587", "11048588"),
    ],
)
def test_each_wrong_setting_of_the_log_is_refused(
    settings: Settings, admin: AdminClient, setting: str, value: str, wanted: str
) -> None:
    """The refusal names topic, setting, what was found and wanted, and what mends it."""
    _make(admin, settings)
    log = settings.kafka.topics.signatures
    _alter(admin, log, setting, value)

    with pytest.raises(Refused) as refused:
        topics.ensure(Clients(settings.kafka), settings)

    said = str(refused.value)
    assert said.startswith(f"topic '{log}': {setting} is {value}, not {wanted}")
    assert f"--alter --topic {log} --add-config {setting}={wanted}" in said
    assert "\n" not in said
    _alter(admin, log, setting, wanted)
    topics.ensure(Clients(settings.kafka), settings)


def test_more_partitions_than_one_have_no_common_order(
    settings: Settings, admin: AdminClient
) -> None:
    """A log of signatures with two partitions is refused; no command could mend it."""
    log = settings.kafka.topics.signatures
    wanted = next(topic for topic in plan(settings) if topic.name == log).wanted
    new = NewTopic(log, 2, config={each.setting: each.value for each in wanted})
    admin.create_topics([new])[log].result(SECONDS_MAX)

    with pytest.raises(Refused, match="the number of partitions is 2, not 1; name a new topic in"):
        topics.ensure(Clients(settings.kafka), settings)


@pytest.mark.parametrize("role", ["matches", "rejected", "unique", "duplicates"])
def test_outputs_hold_what_is_written_to_them(
    settings: Settings, admin: AdminClient, role: str
) -> None:
    """A topic that would refuse records of ours is refused itself, before any are made."""
    _make(admin, settings)
    name = getattr(settings.kafka.topics, role)
    _alter(admin, name, "max.message.bytes", "1000000")

    (problem,) = _problems(admin, settings)

    assert (problem.topic, problem.setting) == (name, "max.message.bytes")
    assert ("or lower events.document_bytes_max" in problem.remedy) == (role != "matches")


def test_the_users_topic_is_taken_as_it_is(settings: Settings, admin: AdminClient) -> None:
    """Documents may have any partitions and any limit; larger than wanted is right everywhere."""
    _make(admin, settings)
    _alter(admin, settings.kafka.topics.documents, "max.message.bytes", "1000")
    _alter(admin, settings.kafka.topics.documents, "cleanup.policy", "compact")
    _alter(admin, settings.kafka.topics.rejected, "max.message.bytes", "99000000")

    assert _problems(admin, settings) == []


def test_the_largest_document_fits(settings: Settings, admin: AdminClient, broker: Broker) -> None:
    """The planned limit lets a record of events.document_bytes_max through; half of it does not."""
    _make(admin, settings)
    small = Settings(
        kafka=settings.kafka, events=EventsSettings(document_bytes_max=Size(5_000_000))
    )
    client = {"bootstrap.servers": broker.bootstrap_servers, "message.max.bytes": 100_000_000}
    value = b"x" * settings.events.document_bytes_max
    errors: list[KafkaError | None] = []
    producer = Producer(client)

    for planned in (plan(settings), plan(small)):
        limit = planned[3].wanted[0].value
        _alter(admin, settings.kafka.topics.rejected, "max.message.bytes", limit)
        producer.produce(
            settings.kafka.topics.rejected,
            value,
            headers={"reason": b"y" * 1000},
            on_delivery=lambda error, _: errors.append(error),
        )
        assert producer.flush(SECONDS_MAX) == 0

    assert errors[0] is None
    assert errors[1] is not None
    assert errors[1].code() == KafkaError.MSG_SIZE_TOO_LARGE
    assert [
        len(read.value or b"") for read in read_all(broker, settings.kafka.topics.rejected)
    ] == [len(value)]


def test_where_others_own_topics_all_missing_ones_are_listed(
    broker: Broker, names: Names, admin: AdminClient
) -> None:
    """With create_topics = false nothing is made; each missing topic is told with its command."""
    settings = Settings(kafka=names.kafka(broker, create_topics=False))

    with pytest.raises(Refused) as refused:
        topics.ensure(Clients(settings.kafka), settings)

    lines = str(refused.value).splitlines()
    wanted = plan(settings)
    assert [line.split("'")[1] for line in lines] == [topic.name for topic in wanted]
    for line, topic in zip(lines, wanted, strict=True):
        assert line.endswith(topic.command(broker.bootstrap_servers))
    assert len(_problems(admin, settings)) == 4


def test_several_may_make_the_same_topics_at_once(settings: Settings) -> None:
    """That another instance was quicker is no failure; each topic is told of by one who made it."""
    count = 4
    together = Barrier(count)

    def make(_: int) -> list[str]:
        admin = Clients(settings.kafka).admin()
        admin.list_topics(timeout=SECONDS_MAX)  # connected
        together.wait(SECONDS_MAX)
        return _make(admin, settings)

    with ThreadPoolExecutor(count) as pool:
        made = [name for names in pool.map(make, range(count)) for name in names]

    assert sorted(made) == sorted(topic.name for topic in plan(settings))


def test_a_topic_made_anew_has_another_id(settings: Settings, admin: AdminClient) -> None:
    """The id stays for as long as the topic does, and only so long."""
    log = settings.kafka.topics.signatures
    with pytest.raises(Refused, match="is missing"):
        topics.topic_id(admin, log)
    _make(admin, settings)
    first = topics.topic_id(admin, log)
    assert topics.topic_id(Clients(settings.kafka).admin(), log) == first

    _delete(admin, log)
    _wait_until_made(admin, settings)

    assert topics.topic_id(admin, log) not in {"", first}


def _wait_until_made(admin: AdminClient, settings: Settings) -> None:
    """A deletion is done a moment after it is answered: until then the topic counts as there."""
    give_up = monotonic() + SECONDS_MAX
    while settings.kafka.topics.signatures not in _make(admin, settings):
        assert monotonic() < give_up


def test_what_the_cluster_forbids_is_told(settings: Settings, admin: AdminClient) -> None:
    """A topic that the cluster will not have is refused with its words and the command."""
    planned = plan(settings)[1]
    wrong = planned._replace(wanted=(Wanted("retention.ms", "soon", "no number"),))

    with pytest.raises(Refused, match=r"does not let it be made: .*soon.*; ask its administrator"):
        topics.create(admin, [wrong], settings.kafka.bootstrap_servers)


def test_the_commands_make_and_check(
    settings: Settings, alone: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check` tells each missing topic and ends with 3, `create` makes them, `check` is content."""
    names = [topic.name for topic in plan(settings)][:4]
    given = [
        *("--bootstrap-servers", settings.kafka.bootstrap_servers),
        *(f"--set=kafka.topics.{name.rpartition('-')[2]}={name}" for name in names),
    ]

    assert main(["topics", "check", *given]) == 3
    missing = capsys.readouterr()
    assert [line.split("'")[1] for line in missing.out.splitlines()] == names
    assert missing.err == "error: problems with topics: 4; `run` would not start\n"
    assert main(["topics", "create", *given]) == 0
    made = [f"{name}: made" for name in names]
    assert capsys.readouterr().out.splitlines() == [*made, "4 topics, no problems"]
    assert main(["topics", "check", *given]) == 0
    assert capsys.readouterr().out == "4 topics, no problems\n"


def test_an_unreachable_broker_is_named(alone: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing answers, the setting and its value are told in one line; exit code 1."""
    assert main(["topics", "check", "--bootstrap-servers", "127.0.0.1:1"]) == 1

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: kafka.bootstrap_servers = 127.0.0.1:1: no broker answers")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, Refused, "stream-dedup topics rights"),
        (KafkaError.CLUSTER_AUTHORIZATION_FAILED, Refused, "stream-dedup topics rights"),
        (KafkaError._TRANSPORT, Unavailable, "kafka.bootstrap_servers = kafka:9092"),
        (KafkaError.POLICY_VIOLATION, StreamDedupError, "topic 'log': "),
    ],
)
def test_an_answer_is_told_as_what_it_means(
    code: int, kind: type[StreamDedupError], words: str
) -> None:
    """What a right would mend is refused, what time may mend is unavailable; both say of what."""
    with pytest.raises(StreamDedupError) as told:
        topics._fail(KafkaError(code), "log", "kafka:9092")

    assert type(told.value) is kind
    assert words in str(told.value)
    assert kind is Unavailable or "topic 'log'" in str(told.value)
