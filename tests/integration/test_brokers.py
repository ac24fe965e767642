"""The broker that the tests use: chosen in order, never silently absent, stopped and frozen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.integration import brokers
from tests.integration.brokers import Broker, JvmBroker, read_all
from tests.integration.conftest import Names

SECONDS_MAX = 90


def _topic(broker: Broker, name: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(name, partitions)])[name].result(SECONDS_MAX)


def _write(broker: Broker, topic: str, transactional_id: str) -> None:
    """Write two committed values to each of two partitions, and aborted ones between and after."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": transactional_id}
    producer = Producer(settings)
    producer.init_transactions(SECONDS_MAX)
    for value in (b"first", b"aborted", b"second", b"aborted"):
        producer.begin_transaction()
        for partition in (0, 1):
            producer.produce(topic, value, b"key", partition, headers=[("a", b"b")])
        if value == b"aborted":
            assert producer.flush(SECONDS_MAX) == 0
            producer.abort_transaction(SECONDS_MAX)
        else:
            producer.commit_transaction(SECONDS_MAX)


def test_reading_all_is_reading_what_is_committed(broker: Broker, names: Names) -> None:
    """`read_all` gives each committed record once, in order, and ends; aborted ones never."""
    topic = names.topics().documents
    _topic(broker, topic, partitions=3)
    assert read_all(broker, topic) == []

    _write(broker, topic, names.application)

    found = read_all(broker, topic)
    assert [(read.partition, read.value) for read in found] == [
        (partition, value) for partition in (0, 1) for value in (b"first", b"second")
    ]
    assert found[0].timestamp > 0
    assert (found[0].topic, found[0].key, found[0].headers) == (topic, b"key", [("a", b"b")])


def test_a_restart_keeps_the_address_and_the_records(broker: Broker, names: Names) -> None:
    """After a restart, out of a pause too, clients find at the same place what was there."""
    topic = names.topics().documents
    address = broker.bootstrap_servers
    _topic(broker, topic, partitions=2)
    _write(broker, topic, names.application)
    before = read_all(broker, topic)

    broker.pause()
    broker.restart()

    assert broker.bootstrap_servers == address
    assert read_all(broker, topic) == before != []


def test_a_paused_broker_answers_nothing_until_it_is_resumed(broker: Broker) -> None:
    """While it is frozen requests time out; afterwards they are answered again."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    broker.pause()
    try:
        with pytest.raises(KafkaException):
            admin.list_topics(timeout=1)
    finally:
        broker.resume()

    assert admin.list_topics(timeout=SECONDS_MAX).brokers


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A machine without Docker, Java and Maven, where nobody named a Kafka."""
    for variable in (brokers.VARIABLE, "CI"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    probes = (brokers.has_docker, brokers.has_java_and_maven)
    for probe in probes:
        probe.cache_clear()
    yield
    for probe in probes:
        probe.cache_clear()


def test_where_no_kafka_is_there_tests_are_skipped_but_not_on_ci(
    bare: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One sentence names the three ways to have one; a CI machine without any is an error."""
    assert brokers.header() == f"kafka: {brokers.MISSING}"
    with pytest.raises(pytest.skip.Exception, match=r"STREAM_DEDUP_TEST_KAFKA.*Docker.*make kafka"):
        brokers.started(tmp_path).__enter__()

    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Kafka to test with"):
        brokers.started(tmp_path).__enter__()


def test_a_kafka_that_was_named_comes_first_and_is_left_alone(
    bare: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The variable wins over all else; what somebody else runs is neither stopped nor frozen."""
    monkeypatch.setenv(brokers.VARIABLE, "kafka:9092")

    with brokers.started(tmp_path) as named:
        assert (named.kind, named.bootstrap_servers) == ("running", "kafka:9092")
        for act in (named.pause, named.resume, named.restart):
            with pytest.raises(pytest.skip.Exception):
                act()
    assert "kafka:9092" in brokers.header()


@pytest.mark.parametrize("script", ["exit 1", "echo; exit 0"])
def test_a_docker_client_without_a_daemon_is_not_docker(
    bare: None, tmp_path: Path, script: str
) -> None:
    """Only a daemon that names its version is Docker."""
    docker = tmp_path / "docker"
    docker.write_text(f"#!/bin/sh\n{script}\n")
    docker.chmod(0o755)
    assert brokers.kind() is None

    docker.write_text("#!/bin/sh\necho 28.2.2\n")
    brokers.has_docker.cache_clear()
    assert brokers.kind() == "docker"


@brokers.needs_java_and_maven
@brokers.needs_jars
def test_a_local_broker_leaves_nothing_behind(tmp_path: Path) -> None:
    """At the end of the session no process of the broker is left, even of a frozen one."""
    local = JvmBroker(tmp_path)
    local.pause()

    local.close()

    assert local.is_gone()
