"""What operators do by mistake: one name for two processes, a topic made anew, a wrong command."""

import json
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from time import monotonic

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions
from msgspec.structs import replace

from stream_dedup.kafka.topics import ensure
from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.kafka_trial import Trial
from tests.integration.service_process import REFUSED

SECONDS_MAX = 60
TEXT = "The harbour of the old town was closed on Monday after a ship had lost its cargo of timber."


@pytest.fixture
def trial(broker: Broker, names: Names, tmp_path: Path) -> Trial:
    """An application of its own, fed."""
    trial = Trial(broker, names, tmp_path)
    trial.feed(80)
    return trial


def test_of_two_processes_with_one_name_the_first_gives_way(trial: Trial, tmp_path: Path) -> None:
    """It is told which setting tells them apart, and the other goes on where it was."""
    # Were the first one taken for dead, on a busy machine, nobody could say who took its name.
    kafka = trial.settings.kafka
    patient = replace(kafka, client={**kafka.client, "session.timeout.ms": 30_000})
    trial.settings = replace(trial.settings, kafka=patient)
    index = replace(trial.settings.index, directory=str(tmp_path / "second"))
    twin = replace(trial.settings, index=index)
    with trial.process() as first:
        trial.await_verdicts(first)
        with trial.process(settings=twin) as second:
            trial.await_said(second, "started")
            give_up = monotonic() + SECONDS_MAX
            # It hears of it with its next transaction.
            while first.process.poll() is None and monotonic() < give_up:
                trial.feed(8)
                with suppress(TimeoutExpired):
                    first.process.wait(0.1)
            said = first.ends_with(REFUSED)
            assert "give each process a kafka.instance of its own" in said
            trial.feed(80)
            trial.await_verdicts(second)
            second.stops()
    trial.settings = twin
    trial.audit()


def test_documents_made_anew_are_asked_about(trial: Trial) -> None:
    """A topic of the same name is not taken for the old one; told to, all of it is new."""
    trial.runs_to_the_end()
    made_anew(trial, trial.settings.kafka.topics.documents)

    assert "was deleted and made anew" in trial.is_refused("sign")
    trial.set_offset("sign", trial.settings.kafka.topics.documents, 0)
    for number in range(3):
        trial.write(json.dumps({"id": f"new-{number}", "text": TEXT}).encode(), "")
    with trial.process() as running:
        trial.await_verdicts(running, 83)
        running.stops()
    said = [verdict for verdict in trial.verdicts() if verdict.document.id.startswith("new-")]
    assert [verdict.record.offset for verdict in said] == [0, 1, 2]
    assert [verdict.type for verdict in said] == ["unique", "duplicate", "duplicate"]
    trial.check_index()


@pytest.mark.parametrize("role", ["sign", "match"])
def test_a_topic_made_anew_meanwhile_is_not_read_on(trial: Trial, role: str) -> None:
    """Where it has grown beyond the old one its first records would be passed over in silence."""
    topics = trial.settings.kafka.topics
    topic = topics.documents if role == "sign" else topics.signatures
    with trial.process() as running:
        trial.await_verdicts(running)
        made_anew(trial, topic)
        write_more_than_before(trial)
        assert "made anew" in running.ends_with(REFUSED)
    assert len(trial.verdicts()) == 80
    assert "made anew" in trial.is_refused(role)


def test_work_on_a_topic_of_the_same_name_is_not_gone_on_with(trial: Trial) -> None:
    """An offset says of which topic it is: it may lie within another one too."""
    trial.runs_to_the_end()
    documents = trial.settings.kafka.topics.documents
    with closing(trial.clients.consumer(f"{trial.settings.kafka.application}-sign")) as member:
        (old,) = member.committed([TopicPartition(documents, 0)], SECONDS_MAX)
        made_anew(trial, documents)
        write_more_than_before(trial)
        member.commit(offsets=[old], asynchronous=False)

    assert "was deleted and made anew" in trial.is_refused("sign")


def test_partitions_that_are_added_to_the_log_stay_empty(trial: Trial) -> None:
    """Whoever is at work goes on with the first one; the next start tells what is wrong."""
    kafka = trial.settings.kafka
    client = {**kafka.client, "topic.metadata.refresh.interval.ms": 200}
    trial.settings = replace(trial.settings, kafka=replace(kafka, client=client))
    log = kafka.topics.signatures
    admin = AdminClient({"bootstrap.servers": trial.broker.bootstrap_servers})
    with trial.process() as running:
        trial.await_verdicts(running)
        admin.create_partitions([NewPartitions(log, 3)])[log].result(SECONDS_MAX)
        trial.await_said(running, rf"partitions assigned topic={log} partitions=1,2")
        trial.feed(80)
        trial.await_verdicts(running)
        running.stops()
    assert "the number of partitions is 3, not 1" in trial.is_refused()
    trial.audit()


def write_more_than_before(trial: Trial) -> None:
    """Write documents together: nobody reads the topic before it has all of them."""
    producer = Producer({"bootstrap.servers": trial.broker.bootstrap_servers})
    for number in range(120):
        value = json.dumps({"id": f"new-{number}", "text": TEXT})
        producer.produce(trial.settings.kafka.topics.documents, value, partition=0)
    assert producer.flush(SECONDS_MAX) == 0


def made_anew(trial: Trial, topic: str) -> None:
    """Delete a topic, and make it again once that is done."""
    admin = AdminClient({"bootstrap.servers": trial.broker.bootstrap_servers})
    admin.delete_topics([topic])[topic].result(SECONDS_MAX)
    give_up = monotonic() + SECONDS_MAX
    while topic in admin.list_topics(timeout=SECONDS_MAX).topics:
        assert monotonic() < give_up
    ensure(trial.clients, trial.settings)


def test_an_index_of_the_log_is_not_rebuilt_from_files(trial: Trial, tmp_path: Path) -> None:
    """It is refused with what makes such an index anew, and left as it is."""
    trial.runs_to_the_end()
    feed = tmp_path / "feed.jsonl"
    feed.write_text(json.dumps({"id": "a", "text": TEXT}))
    command = [sys.executable, "-m", "stream_dedup", "index", "rebuild"]
    command += ["--index", trial.settings.index.directory]

    for given in ([], ["--input", str(feed)]):
        done = subprocess.run([*command, *given], capture_output=True, text=True, check=False)
        assert done.returncode == REFUSED, done.stderr
        said = " ".join(done.stderr.split())
        assert "is fed from Kafka" in said
        assert "move the directory away and start it" in said
    trial.audit()
