"""A real Kafka for the tests: one that runs already, one in Docker, or one on a JVM of our own."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from stream_dedup.kafka.messages import Incoming

FOLDER = Path(__file__).parents[2] / "deploy" / "kafka-local"
# Java is that of the path, for the broker as for Kafka's own commands.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
VARIABLE = "STREAM_DEDUP_TEST_KAFKA"
TOOL_SECONDS_MAX = 120
READ_SECONDS_MAX = 90
DOCKER_SECONDS_MAX = 120

Kind = Literal["running", "docker", "jvm"]
MISSING = (
    f"no Kafka to test with: name the address of a running one in {VARIABLE}, start Docker, "
    "or have Java 17+ and Maven and run `make kafka` once"
)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that nobody listens at."""
    with socket.create_server((host, 0)) as probe:
        return int(probe.getsockname()[1])


@cache
def has_java_and_maven() -> bool:
    """Tell whether `deploy/kafka-local` can fetch and run a broker."""
    if not shutil.which("java") or not shutil.which("mvn"):
        return False
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    return version is not None and int(version[1]) >= 17


def has_jars() -> bool:
    """Tell whether Kafka is there; only a CI machine, which starts with nothing, may fetch it."""
    return (FOLDER / "libs").exists() or "CI" in os.environ


needs_java_and_maven = pytest.mark.skipif(
    not has_java_and_maven(), reason="Java 17+ and Maven are needed for a local Kafka"
)
needs_jars = pytest.mark.skipif(
    not has_jars(), reason="Kafka is not fetched: run `make kafka` once"
)


@cache
def has_docker() -> bool:
    """Tell whether a daemon answers: a client without one is not Docker."""
    command = ["docker", "info", "--format", "{{.ServerVersion}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def kind() -> Kind | None:
    """Tell which Kafka the tests will use; None if there is none."""
    if os.environ.get(VARIABLE):
        return "running"
    if has_docker():
        return "docker"
    return "jvm" if has_java_and_maven() and has_jars() else None


def header() -> str:
    """Say for the head of the report which Kafka is used."""
    words = {
        "running": f"the one at {os.environ.get(VARIABLE)}",
        "docker": f"{docker_image()}, in Docker",
        "jvm": "the one of deploy/kafka-local, on Java",
    }
    chosen = kind()
    return f"kafka: {words[chosen] if chosen else MISSING}"


class KafkaProcess:
    """A broker in a process group of its own, as `make kafka` has one on a terminal."""

    def __init__(self, data: Path, port: int = 0) -> None:
        command = [sys.executable, str(FOLDER / "broker.py"), f"--port={port}", f"--data={data}"]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
            process_group=0,
        )

    def address(self) -> str:
        """Wait for the broker to be ready, which it bounds itself."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def says(self, words: str) -> bool:
        """Wait for a line of standard error with these words."""
        assert self.process.stderr
        return any(words in line for line in self.process.stderr)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the whole group: the script and the broker's own process."""
        os.killpg(self.process.pid, number)

    def interrupt(self) -> int:
        """Send what Ctrl-C sends, to the whole group; return the exit code."""
        self.send(signal.SIGINT)
        return self.process.wait(TOOL_SECONDS_MAX)

    def terminate(self) -> int:
        """Send what `kill` sends, to one process; return the exit code."""
        self.process.terminate()
        return self.process.wait(TOOL_SECONDS_MAX)

    def is_gone(self) -> bool:
        """Tell whether no process of the group is left."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def close(self) -> None:
        """Leave no process behind, whatever state it is in."""
        with self.process, suppress(ProcessLookupError):
            self.send(signal.SIGKILL)


class Broker:
    """A Kafka for the tests; stopping it in its course is for those that own theirs."""

    kind: Kind
    session_seconds = 2  # after which a member is dead: ours take so little, for the trials

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers

    def pause(self) -> None:
        """Freeze it: connections stay, nothing is answered."""
        pytest.skip(f"a Kafka of kind {self.kind!r} cannot be paused by the tests")

    def resume(self) -> None:
        """Let it go on."""
        pytest.skip(f"a Kafka of kind {self.kind!r} cannot be paused by the tests")

    def restart(self) -> None:
        """Stop it and start it again where it was, with what it had."""
        pytest.skip(f"a Kafka of kind {self.kind!r} cannot be restarted by the tests")


class RunningBroker(Broker):
    """One that somebody else runs."""

    kind = "running"
    session_seconds = 6  # the least that others take, unless they say otherwise


class DockerBroker(Broker):
    """One in a container, which goes with the tests."""

    kind = "docker"


class JvmBroker(Broker):
    """One that `deploy/kafka-local` runs."""

    kind = "jvm"

    def __init__(self, data: Path) -> None:
        self._data = data
        self._process = KafkaProcess(data)
        super().__init__(self._wait())

    def pause(self) -> None:
        """Freeze it: connections stay, nothing is answered."""
        self._process.send(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._process.send(signal.SIGCONT)

    def restart(self) -> None:
        """Stop it and start it again on the same port and data."""
        self.resume()  # a frozen one would not stop
        self._process.terminate()
        self._process.close()
        self._process = KafkaProcess(self._data, int(self.bootstrap_servers.rpartition(":")[2]))
        assert self._wait() == self.bootstrap_servers

    def close(self) -> None:
        """End it and all its processes, kindly at first: then they clear up after themselves."""
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            self.resume()
            self._process.terminate()
        self._process.close()

    def is_gone(self) -> bool:
        """Tell whether no process of it is left."""
        return self._process.is_gone()

    def _wait(self) -> str:
        if address := self._process.address():
            return address
        assert self._process.process.stderr
        said = self._process.process.stderr.read()
        self._process.close()
        pytest.fail(f"the local Kafka does not start: {said}")


@contextmanager
def started(data: Path) -> Iterator[Broker]:
    """Yield the first Kafka there is of the three kinds; skip if there is none, fail on CI."""
    chosen = kind()
    if chosen == "running":
        yield RunningBroker(os.environ[VARIABLE])
    elif chosen == "docker":
        with _in_docker() as broker:
            yield broker
    elif chosen == "jvm":
        local = JvmBroker(data)
        try:
            yield local
        finally:
            local.close()
    elif "CI" in os.environ:
        pytest.fail(MISSING)
    else:
        pytest.skip(MISSING)


def docker_image() -> str:
    """Name the image of the version that `deploy/kafka-local` runs."""
    return f"apache/kafka:{ElementTree.parse(FOLDER / 'pom.xml').findtext('version')}"


@contextmanager
def _in_docker() -> Iterator[Broker]:
    """Run a container on a port that is the same inside and outside, for it is advertised."""
    from testcontainers.core.container import DockerContainer  # noqa: PLC0415  # of all imports the slowest

    port = free_port("")
    container = DockerContainer(docker_image()).with_bind_ports(port, port)
    host = container.get_container_host_ip()
    with container.with_envs(**_container_settings(host, port)):
        broker = DockerBroker(f"{host}:{port}")
        # Asks until it is answered, within the bound.
        AdminClient({"bootstrap.servers": broker.bootstrap_servers}).list_topics(
            timeout=DOCKER_SECONDS_MAX
        )
        yield broker


def _container_settings(host: str, port: int) -> dict[str, str]:
    settings = {
        "node.id": "1",
        "process.roles": "broker,controller",
        "listeners": f"BROKER://:{port},CONTROLLER://:29093",
        "advertised.listeners": f"BROKER://{host}:{port}",
        "listener.security.protocol.map": "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "BROKER",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "1@localhost:29093",
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": "1000",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        # Without these no transaction starts on one node.
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
    }
    return {f"KAFKA_{name.replace('.', '_').upper()}": value for name, value in settings.items()}


def read_all(broker: Broker, topic: str) -> list[Incoming]:
    """Read what is committed in a topic, partition after partition, up to its end as it is now."""
    settings: dict[str, Any] = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": "unused",  # librdkafka wants a name, and joins no group
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(settings)
    try:
        partitions = consumer.list_topics(topic, timeout=READ_SECONDS_MAX).topics[topic].partitions
        assert partitions, f"no topic {topic}"
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        return sorted(
            _records(consumer, len(partitions)), key=lambda read: (read.partition, read.offset)
        )
    finally:
        consumer.close()


def _records(consumer: Consumer, partitions: int) -> Iterator[Incoming]:
    ended: set[int | None] = set()
    give_up = monotonic() + READ_SECONDS_MAX
    while len(ended) < partitions:
        assert monotonic() < give_up, f"not at the end after {READ_SECONDS_MAX} seconds"
        for message in consumer.consume(1000, timeout=0.1):
            error = message.error()
            if error is None:
                yield _incoming(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
            else:
                raise KafkaException(error)


def _incoming(message: Message) -> Incoming:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    headers: Any = message.headers() or []
    return Incoming(
        topic, partition, offset, message.timestamp()[1], message.key(), message.value(), headers
    )
