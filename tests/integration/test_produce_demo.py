import signal
import subprocess
import sys
from contextlib import closing
from time import monotonic

from confluent_kafka import TopicPartition

from stream_dedup.config import EventsSettings, Settings
from stream_dedup.events import DocumentDecoder
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.topics import ensure
from tests.deployment import DEPLOY
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names

SECONDS_MAX = 180


def producing(broker: Broker, names: Names, *arguments: str) -> "subprocess.Popen[str]":
    """Make the topics and start the producer."""
    settings = Settings(kafka=names.kafka(broker))
    ensure(Clients(settings.kafka), settings)
    command = [sys.executable, str(DEPLOY / "produce_demo.py"), *arguments]
    command += ["--bootstrap-servers", broker.bootstrap_servers]
    command += ["--topic", settings.kafka.topics.documents]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_so_many_documents_are_written(broker: Broker, names: Names) -> None:
    """The number asked for comes, each a document of the service whose key is its id."""
    with producing(broker, names, "--count", "300", "--rate", "5000") as producer:
        _, said = producer.communicate(timeout=SECONDS_MAX)

    decoder = DocumentDecoder(EventsSettings())
    written = read_all(broker, names.topics().documents)
    documents = [decoder.decode(record.value) for record in written if record.value]
    assert producer.returncode == 0, said
    assert len(written) == 300
    assert len(documents) > 250
    assert {document.id.encode() for document in documents} <= {record.key for record in written}


def test_a_stop_leaves_nothing_undelivered(broker: Broker, names: Names) -> None:
    """Stopped by a supervisor, it ends with 0 and has written as many records as it says."""
    topic = names.topics().documents
    with producing(broker, names, "--rate", "500") as producer:
        give_up = monotonic() + SECONDS_MAX
        reader = Clients(names.kafka(broker)).reader(**{"auto.offset.reset": "earliest"})
        with closing(reader):
            numbers = reader.list_topics(topic, timeout=SECONDS_MAX).topics[topic].partitions
            reader.assign([TopicPartition(topic, number, 0) for number in numbers])
            while not reader.consume(1, 0.5):
                assert monotonic() < give_up
        producer.send_signal(signal.SIGTERM)
        _, said = producer.communicate(timeout=SECONDS_MAX)

    assert producer.returncode == 0, said
    assert said == f"{len(read_all(broker, topic))} records written to {topic}\n"
