"""The service on a cluster that wants TLS and a password, and grants single rights."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from msgspec import structs
from msgspec.structs import replace

from stream_dedup.config import Settings
from stream_dedup.kafka.dead_letters import dead_letter
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.rights import GROUP, TOPIC, TRANSACTIONAL_ID, Right, grants
from stream_dedup.quantities import Duration
from tests.integration.brokers import (
    ENVIRONMENT,
    FOLDER,
    JvmBroker,
    free_port,
    needs_jars,
    needs_java_and_maven,
    read_all,
)
from tests.integration.conftest import Names
from tests.integration.kafka_trial import Trial

pytestmark = [needs_java_and_maven, needs_jars]

ANSWER_SECONDS_MAX = 60
EVENTS = 240
WINDOW = {"window": Duration(1.0), "window_by": "published"}  # that passes several times
DOCUMENT = b'{"id": "a", "text": "The harbour of the old town was closed on Monday after a storm."}'
JARS = FOLDER / "libs"
ACLS = "org.apache.kafka.tools.AclCommand"
PASSWORD = "hunter2-of-the-tests"
WRONG_PASSWORD = "hunter1-of-the-tests"
PASSWORD_VARIABLE = "STREAM_DEDUP_KAFKA__CLIENT__SASL__PASSWORD"
# Whoever comes without TLS may do all: that is the tests' own way in.
PROPERTIES = """\
listeners=BROKER://{{host}}:{{port}},CONTROLLER://{{host}}:{{controller_port}},SECURE://{{host}}:{port}
advertised.listeners=BROKER://{{host}}:{{port}},SECURE://{{host}}:{port}
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
listener.name.secure.sasl.enabled.mechanisms=SCRAM-SHA-256
listener.name.secure.scram-sha-256.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secure.ssl.keystore.type=PEM
listener.name.secure.ssl.keystore.location={keystore}
"""
KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
KINDS = {
    TOPIC: ResourceType.TOPIC,
    GROUP: ResourceType.GROUP,
    TRANSACTIONAL_ID: ResourceType.TRANSACTIONAL_ID,
}


class Cluster(NamedTuple):
    """A broker that is strict at one of its two addresses."""

    broker: JvmBroker
    address: str  # with TLS and a password
    authority: Path  # whom its certificate is from


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A broker of its own."""
    folder = tmp_path_factory.mktemp("secure")
    authority = made_authority(folder, "authority")
    made_authority(folder, "stranger")
    port = free_port()
    properties = folder / "data" / "more.properties"
    properties.parent.mkdir()
    properties.write_text(PROPERTIES.format(port=port, keystore=made_keystore(folder, authority)))
    broker = JvmBroker(properties.parent)
    try:
        yield Cluster(broker, f"127.0.0.1:{port}", authority)
    finally:
        broker.close()


def made_authority(folder: Path, name: str) -> Path:
    made = folder / f"{name}.pem"
    openssl(f"req -x509 {KEY} -keyout {made}.key -out {made} -subj /CN={name}")
    return made


def made_keystore(folder: Path, authority: Path) -> Path:
    key, certificate, store = (folder / name for name in ("key", "certificate", "store.pem"))
    openssl(
        f"req -x509 -CA {authority} -CAkey {authority}.key {KEY} -keyout {key} -out {certificate} "
        "-subj /CN=broker -addext basicConstraints=CA:FALSE -addext subjectAltName=IP:127.0.0.1"
    )
    store.write_bytes(key.read_bytes() + certificate.read_bytes())
    return store


def openssl(words: str) -> None:
    subprocess.run(["openssl", *words.split()], capture_output=True, check=True)


class Tenant:
    """An application whose user may do what it was granted, and nothing else."""

    def __init__(self, cluster: Cluster, names: Names, folder: Path) -> None:
        self.cluster, self.user = cluster, f"user-{names.application}"
        self._admin = AdminClient({"bootstrap.servers": cluster.broker.bootstrap_servers})
        self.trial = Trial(cluster.broker, names, folder, index=WINDOW)
        credential = UserScramCredentialUpsertion(
            self.user, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), PASSWORD.encode()
        )
        for answer in self._admin.alter_user_scram_credentials([credential]).values():
            answer.result(ANSWER_SECONDS_MAX)

    @property
    def rights(self) -> list[Right]:
        """List what the service says it needs."""
        return [right for grant in grants(self.settings()) for right in grant.rights()]

    def grant(self, rights: Sequence[Right]) -> None:
        """Let the user do this."""
        for answer in self._admin.create_acls([self._binding(right) for right in rights]).values():
            answer.result(ANSWER_SECONDS_MAX)

    def settings(self, **client: str) -> Settings:
        """Return settings for the strict address; the password is not among them."""
        own = self.trial.settings
        secure = {
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self.cluster.authority),
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": self.user,
        }
        kafka = replace(
            own.kafka,
            bootstrap_servers=self.cluster.address,
            client={**own.kafka.client, **secure, **client},
            create_topics=False,
        )
        return replace(own, kafka=kafka)

    def _binding(self, right: Right) -> AclBinding:
        pattern = ResourcePatternType.PREFIXED if right.is_prefix else ResourcePatternType.LITERAL
        operation = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", right.operation).upper()
        return AclBinding(
            KINDS[right.kind],
            right.name,
            pattern,
            f"User:{self.user}",
            "*",
            AclOperation[operation],
            AclPermissionType.ALLOW,
        )


@pytest.fixture
def tenant(
    cluster: Cluster, names: Names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Tenant:
    """An application with a password in its environment, that may do nothing yet."""
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    return Tenant(cluster, names, tmp_path)


def test_the_listed_rights_are_enough(tenant: Tenant, tmp_path: Path) -> None:
    """With TLS, a password and what the printed commands grant all works, to the last purge."""
    run_in_shell(printed_rights(tenant), tmp_path)
    trial, settings = tenant.trial, tenant.settings()
    trial.feed(EVENTS)
    with trial.process("sign", settings=settings) as signing:
        trial.await_signed(signing)
        signing.stops()
    trial.log()
    with trial.process("match", settings=settings) as matching:
        trial.await_verdicts(matching)
        matching.stops()
    assert "log purged" in matching.said()
    trial.audit()

    trial.write(b"no document", "bad")
    shutil.rmtree(settings.index.directory)
    with trial.process(settings=settings) as signing:
        trial.await_said(signing, "records rejected")
        trial.await_said(signing, "index restored")
        signing.stops()
    assert len(read_all(trial.broker, settings.kafka.topics.rejected)) == 1
    for running in (signing, matching):
        assert_no_leak(running.said())


MISSING = [
    ("documents", "Read", "grant this user READ on it"),
    ("matches", "Write", "grant this user WRITE on it"),
    ("sign", "Read", "grant this user READ on the consumer groups"),
    ("match-", "Write", "grant this user WRITE and DESCRIBE on the transactional ids"),
]
MISSING_TOO = [
    ("signatures", "Read", "grant this user READ on it"),
    ("signatures", "Write", "grant this user WRITE on it"),
    ("rejected", "Write", "grant this user WRITE on it"),
    ("matches", "DescribeConfigs", "`stream-dedup topics rights`"),
    ("match", "Read", "grant this user READ on the consumer groups"),
    ("sign-", "Write", "grant this user WRITE and DESCRIBE on the transactional ids"),
]


@pytest.mark.parametrize(
    ("name", "operation", "remedy"),
    [*MISSING, *(pytest.param(*each, marks=pytest.mark.soak) for each in MISSING_TOO)],
)
def test_a_right_that_is_missing_is_named(
    tenant: Tenant, name: str, operation: str, remedy: str
) -> None:
    """Without any one of them the service stops and names what to grant; nothing is lost by it."""
    trial = tenant.trial
    (missing,) = (
        right
        for right in tenant.rights
        if right.name == f"{trial.settings.kafka.application}-{name}"
        and right.operation == operation
    )
    tenant.grant([right for right in tenant.rights if right != missing])
    if operation != "DescribeConfigs":  # to see that it is there is not enough
        tenant.grant([missing._replace(operation="Describe")])
    trial.write(DOCUMENT, "a")
    trial.write(b"no document", "bad")
    trial.write(DOCUMENT, "b")

    said = trial.is_refused(settings=tenant.settings())

    assert remedy in told(said)
    assert_no_leak(said)
    tenant.grant([missing])
    with trial.process(settings=tenant.settings()) as running:
        trial.await_verdicts(running, 2)
        running.stops()
    assert [verdict.record.offset for verdict in trial.verdicts()] == [0, 2]
    assert len(read_all(trial.broker, trial.settings.kafka.topics.rejected)) == 1


def test_a_log_that_may_not_be_purged_is_told(tenant: Tenant) -> None:
    """Without Delete all goes on, and it is said why the log grows."""
    tenant.grant([right for right in tenant.rights if right.operation != "Delete"])
    trial = tenant.trial
    trial.feed(EVENTS)
    with trial.process(settings=tenant.settings()) as running:
        trial.await_verdicts(running)
        running.stops()
    assert "purge failed, it needs DELETE on" in running.said()
    trial.audit()


def test_who_replays_needs_no_more_than_is_listed(tenant: Tenant, tmp_path: Path) -> None:
    """Rejected records are listed and sent in again by a user who may do just that."""
    topics, address = tenant.trial.settings.kafka.topics, tenant.cluster.address
    record = Incoming(topics.documents, 0, 0, 0, b"bad", b"no document", [])
    letter = dead_letter(record, "JSON: no document", topics.rejected, 20_000)
    assert letter.key
    tenant.trial.write_to(letter.topic, letter.value, letter.key, letter.headers)
    run_in_shell(printed_rights(tenant, "--rejected"), tmp_path)

    assert "JSON: no document" in called(tenant, "rejected", "list", servers=address)
    assert "1 records replayed" in called(tenant, "rejected", "replay", "--yes", servers=address)
    (again,) = read_all(tenant.trial.broker, topics.documents)
    assert (again.key, again.value, again.headers) == (record.key, record.value, record.headers)


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({}, "sasl.password"),
        ({"sasl.mechanism": "PLAIN"}, "sasl.mechanism"),
        ({"ssl.ca.location": "stranger.pem"}, "ssl.ca.location"),
    ],
)
def test_who_does_not_believe_the_other_ends_at_once(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], remedy: str
) -> None:
    """A wrong password, mechanism or authority is told with the setting, and not tried for long."""
    tenant.grant(tenant.rights)
    folder = tenant.cluster.authority.parent
    wrong = {name: value.replace("stranger", f"{folder}/stranger") for name, value in wrong.items()}
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD if wrong else WRONG_PASSWORD)

    said = tenant.trial.is_refused(settings=tenant.settings(**wrong))

    assert remedy in told(said)
    assert said.count("FAIL") < 30, said
    assert_no_leak(said)


def told(said: str) -> str:
    """Return what the service ended with."""
    return f"\n{said}".partition("\nerror: ")[2].partition("\n")[0]


def assert_no_leak(said: str) -> None:
    assert PASSWORD not in said
    assert WRONG_PASSWORD not in said
    assert "Traceback" not in said


def printed_rights(tenant: Tenant, *options: str) -> str:
    """Return what the command line prints for the user."""
    words = ["topics", "rights", f"User:{tenant.user}", *options]
    return called(tenant, *words, servers=tenant.trial.broker.bootstrap_servers)


def called(tenant: Tenant, *words: str, servers: str) -> str:
    """Return what a command prints with the settings of the user."""
    kafka = tenant.settings().kafka
    chosen: dict[str, object] = {"application": kafka.application, "create_topics": "false"}
    chosen |= {f"topics.{name}": value for name, value in structs.asdict(kafka.topics).items()}
    chosen |= {f"client.{name}": value for name, value in kafka.client.items()}
    command = [sys.executable, "-m", "stream_dedup", *words, "--bootstrap-servers", servers]
    command += [f"--set=kafka.{name}={value}" for name, value in chosen.items() if value]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_in_shell(script: str, folder: Path) -> None:
    """Run commands of Kafka where only its jars are."""
    command = folder / "kafka-acls.sh"
    command.write_text(f"#!/bin/sh\nexec java -cp '{JARS}/*' {ACLS} \"$@\"\n")
    command.chmod(0o755)
    path = f"{folder}:{ENVIRONMENT['PATH']}"
    done = subprocess.run(
        ["sh", "-e"],
        input=script,
        env={**ENVIRONMENT, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
