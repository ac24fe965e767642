"""The service's metrics: each of them moves when what it tells of happens."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from msgspec.structs import replace

from stream_dedup import metrics as listed
from stream_dedup.config import EventsSettings, IndexSettings, MatchingSettings, Settings
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.transactions import committed
from stream_dedup.metrics import METRICS, Metric, Metrics
from stream_dedup.panel import Panel
from stream_dedup.quantities import Duration, Size
from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.threads import Steps, service

SECONDS_MAX = 180.0
FAMILIES = 12
HELD_SECONDS = 1.0  # in which twenty records would long be signed
# These tell of requests, which another test makes.
OF_THE_WEB = {listed.REQUESTS, listed.REQUEST_SECONDS}


class Witness:
    """Remembers which metrics have ever said something other than zero."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self.moved: set[Metric] = set()

    def look(self) -> None:
        for metric in METRICS:
            kept = self._metrics.values(metric).values()
            families = (family for family in self._metrics.collect() if family.name == metric.name)
            samples = [sample.value for family in families for sample in family.samples]
            if any(kept) or any(samples):
                self.moved.add(metric)

    def sees(self, *wanted: Metric) -> None:
        """Look until all of these have moved."""
        self.waits_for(lambda: self.moved.issuperset(wanted), wanted)

    def waits_for(self, holds: Callable[[], bool], what: object = "") -> None:
        give_up, pause = monotonic() + SECONDS_MAX, Event()
        while not holds():
            self.look()
            missing = [metric.name for metric in METRICS if metric not in self.moved]
            assert monotonic() < give_up, f"{what} of {missing}"
            pause.wait(0.05)


class Feed:
    """Documents of a topic."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self._producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        self._topic = topic
        self.count = 0

    def write(self, name: str, value: Any) -> None:
        body = value if isinstance(value, bytes | None) else json.dumps({"id": name, **value})
        self._producer.produce(self._topic, body, name, 0)
        self.count += 1

    def flush(self) -> None:
        assert self._producer.flush(SECONDS_MAX) == 0

    def all_kinds(self) -> None:
        """Write something of everything: crowds of near copies, copies, parts, what is no text."""
        for family in range(FAMILIES):
            words = [f"word{family}x{place}" for place in range(300)]
            for variant in range(8):
                text = " ".join([*words[:variant], f"changed{variant}", *words[variant + 1 :]])
                self.write(f"{family}-{variant}", {"text": text})
            self.write(f"{family}-copy", {"text": " ".join(words[1:])})
            self.write(f"{family}-copy2", {"text": " ".join(words[1:])})
            self.write(f"{family}-part", {"text": " ".join(words[:262])})
            self.write(f"{family}-copy2", {"text": " ".join(words[1:])})
        self.write("0-0", None)
        self.write("empty", {"text": "…"})
        self.write("bad", b"{")
        self.flush()


def test_every_metric_moves(broker: Broker, names: Names, tmp_path: Path) -> None:
    """What the service tells of, once it has happened, is seen in its metrics: each of them."""
    settings = Settings(
        events=EventsSettings(emit="all", rejected_ratio_max=1.0),
        index=IndexSettings(
            directory=str(tmp_path / "index"), window=Duration("inf"), bucket_size_max=3
        ),
        matching=MatchingSettings(recall_sample=1.0),
        kafka=names.kafka(broker, instance="one", batch_size_max=20, lag_bytes_max=Size(1)),
    )
    panel = Panel.of(settings)
    witness, feed = Witness(panel.metrics), Feed(broker, names.topics().documents)
    _all_happens(broker, settings, panel, witness, feed)
    _the_index_is_lost(settings, panel, witness)
    _the_window_moves(settings, panel, witness, feed)

    assert {metric.name for metric in METRICS if metric not in witness.moved | OF_THE_WEB} == set()


def _all_happens(
    broker: Broker, settings: Settings, panel: Panel, witness: Witness, feed: Feed
) -> None:
    """Match is held at its first batch, while a stranger's transaction is open; then it is fenced.

    Sign has to wait for match, and what is behind is seen to be so.
    """
    steps, go_on, clients = Steps(), Event(), Clients(settings.kafka)
    steps.acts["match: begun"] = lambda: _held(go_on)
    with service(settings, panel, steps):
        feed.all_kinds()
        witness.sees(listed.BATCH, listed.LAG_BYTES)
        with _open_transaction(clients, settings):
            lagging = (listed.LAG_RECORDS, listed.LAG_SECONDS, listed.OPEN_RECORDS)
            witness.sees(*lagging, listed.HELD_BACK, listed.WAITING)
        _nothing_is_signed(clients, settings, witness, feed)
        steps.acts["match: after offsets"] = lambda: _fence(clients, settings, steps)
        go_on.set()
        witness.sees(listed.FENCED, listed.PRODUCERS, listed.RECALL, listed.CLUSTER_GROWTH)
        witness.waits_for(lambda: _decided(panel) >= feed.count)


def _held(go_on: Event) -> None:
    assert go_on.wait(SECONDS_MAX)


def _nothing_is_signed(clients: Clients, settings: Settings, witness: Witness, feed: Feed) -> None:
    """Sign, which is held back, takes nothing of what comes."""
    group = f"{settings.kafka.application}-sign"
    documents = [TopicPartition(settings.kafka.topics.documents, 0)]
    before = committed(clients, group, documents)[0].offset
    for number in range(20):
        feed.write(f"held{number}", {"text": f"a text that comes while sign is held back {number}"})
    feed.flush()
    end = monotonic() + HELD_SECONDS
    witness.waits_for(lambda: monotonic() > end)
    assert committed(clients, group, documents)[0].offset == before


def _fence(clients: Clients, settings: Settings, steps: Steps) -> None:
    del steps.acts["match: after offsets"]
    producer = clients.producer(f"{settings.kafka.application}-match-0")
    producer.init_transactions(SECONDS_MAX)


@contextmanager
def _open_transaction(clients: Clients, settings: Settings) -> Iterator[None]:
    patient = {"transaction.timeout.ms": round(1000 * SECONDS_MAX)}
    producer = clients.producer("a stranger", **patient)
    producer.init_transactions(SECONDS_MAX)
    producer.begin_transaction()
    producer.produce(settings.kafka.topics.signatures, b"?", b"?")
    assert producer.flush(SECONDS_MAX) == 0
    yield
    producer.abort_transaction(SECONDS_MAX)


def _decided(panel: Panel) -> float:
    return sum(panel.metrics.values(listed.DOCUMENTS).values())


def _the_index_is_lost(settings: Settings, panel: Panel, witness: Witness) -> None:
    """It is made anew from the log, and a batch of the log was read before."""
    shutil.rmtree(settings.index.directory)
    steps = Steps()
    steps.acts["match: replayed"] = witness.look
    with service(settings, panel, steps):
        witness.sees(listed.RESTORES, listed.RESTORE_REMAINING, listed.RESTORE_SECONDS)


def _the_window_moves(settings: Settings, panel: Panel, witness: Witness, feed: Feed) -> None:
    """The documents are read once more, and with a short window the log is purged."""
    index = replace(settings.index, window=Duration(1.0))
    settings = replace(settings, index=index)
    admin = AdminClient({"bootstrap.servers": settings.kafka.bootstrap_servers})
    _set_back(admin, settings)
    with service(settings, panel, Steps()):
        witness.sees(listed.PASSED_OVER)
        pause = Event()
        for number in range(int(SECONDS_MAX / 0.3)):
            if listed.PURGED in witness.moved:
                return
            feed.write(f"later{number}", {"text": f"a text that nobody else has, {number}"})
            feed.flush()
            witness.look()
            pause.wait(0.3)


def _set_back(admin: AdminClient, settings: Settings) -> None:
    group, topic = f"{settings.kafka.application}-sign", settings.kafka.topics.documents
    (answer,) = admin.alter_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 0)])]
    ).values()
    answer.result(SECONDS_MAX)
