"""The service on Kafka beside a bare transactional copy on the same broker, and how late it is.

The broker is that of `deploy/kafka-local`, on this machine: it shares the cores with what is
measured. The yardstick reads records and writes the same bytes, in transactions, and does no work.
"""

import argparse
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import msgspec
import numpy as np
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.asking import question_delays
from benchmarks.feed import feed
from benchmarks.kafka_processes import broker, new_settings, service
from benchmarks.machine import this_run
from benchmarks.records import QUANTILES, Delay, Questions, ServiceResults, save
from benchmarks.restoring import restoring_rates
from stream_dedup.config import Settings

_BATCHES = (500, 1000, 2000, 4000)
_ROUNDS = 3
_WAIT_SECONDS = 120.0
_STEADY_SECONDS = 15.0
_RATES = (500, 2000)
_PRODUCER: dict[str, Any] = {"retry.backoff.ms": 5, "retry.backoff.max.ms": 10, "linger.ms": 5}


def main() -> None:
    """Measure and write results/service.json."""
    arguments = _arguments()
    run = this_run("benchmarks.service")
    texts = feed(arguments.documents)
    with tempfile.TemporaryDirectory() as directory, broker(Path(directory)) as servers:
        bench = Bench(servers, Path(directory), texts)
        best = max(_BATCHES, key=bench.copy_rate)
        rounds = [(bench.copy_rate(best), bench.service_rate()) for _ in range(_ROUNDS)]
        copied, answered = zip(*rounds, strict=True)
        _say(f"bare copies of {best}: {copied}, service: {answered}")
        restoring = restoring_rates(servers, Path(directory), arguments.signed)
        _say(f"{restoring}")
        delays = [Delay(rate, bench.bare_delay(rate), bench.service_delay(rate)) for rate in _RATES]
        asked = bench.question_delays()
        _say(f"{[(delay.median, delay.worst_99) for delay in delays]}, {asked}")
    save(
        "service",
        ServiceResults(
            run=run,
            documents=len(texts),
            batch=best,
            copies_per_second=list(copied),
            documents_per_second=list(answered),
            signed=arguments.signed,
            restored_per_second=restoring.restored,
            matched_per_second=restoring.matched,
            delays=delays,
            questions=asked,
        ),
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument(
        "--documents",
        type=int,
        default=100_000,
        help="as many as the corpora have, if that is less [%(default)s]",
    )
    parser.add_argument(
        "--signed", type=int, default=300_000, help="of which an index is restored [%(default)s]"
    )
    return parser.parse_args()


class Bench:
    """The documents in a topic, and what is done with them."""

    def __init__(self, servers: str, folder: Path, texts: Sequence[str]) -> None:
        self._servers, self._folder, self._count = servers, folder, len(texts)
        self._texts = texts
        self._values = [
            msgspec.json.encode({"id": f"https://daily.example/{at:012d}", "text": text})
            for at, text in enumerate(texts)
        ]
        self._settings = self._documents()

    def copy_rate(self, batch: int) -> float:
        """Copy all documents; return how many a second, from the first on."""
        source, target = self._settings.kafka.topics.documents, self._topic()
        copying = Thread(target=self._copy, args=(source, target, batch, Event(), self._count))
        copying.start()
        rate = _rate(self._arrivals(target, self._count))
        copying.join()
        return rate

    def service_rate(self) -> float:
        """Let the service answer all documents; return how many a second, from the first on."""
        settings = self._documents()
        with service(settings):
            return _rate(self._arrivals(settings.kafka.topics.matches, self._count))

    def question_delays(self) -> Questions:
        """Ask the service that knows all documents, while more stream in."""
        return question_delays(self._settings, self._values, self._texts)

    def bare_delay(self, rate: int) -> list[float]:
        """Return the quantiles of two bare hops, in milliseconds."""
        topics = [self._topic() for _ in range(3)]
        stopped = Event()
        hops = [
            Thread(target=self._copy, args=(topics[at], topics[at + 1], 2000, stopped, None))
            for at in range(2)
        ]
        for hop in hops:
            hop.start()
        try:
            return self._delays(topics[0], topics[2], rate)
        finally:
            stopped.set()
            for hop in hops:
                hop.join()

    def service_delay(self, rate: int) -> list[float]:
        """Return the same of the service."""
        settings = self._documents(count=0)
        topics = settings.kafka.topics
        with service(settings):
            return self._delays(topics.documents, topics.matches, rate)

    def _delays(self, source: str, target: str, rate: int) -> list[float]:
        """Write documents at a steady rate, and see when what follows from each can be read."""
        count = int(rate * _STEADY_SECONDS)
        sent = np.zeros(count)
        self._write(source, 100)  # the first ones wake everything up
        self._arrivals(target, 100)
        producer = Producer({"bootstrap.servers": self._servers, "linger.ms": 0})

        def write() -> None:
            start = time.perf_counter()
            for at in range(count):
                while (ahead := start + at / rate - time.perf_counter()) > 0:
                    time.sleep(ahead)
                sent[at] = time.perf_counter()
                producer.produce(source, self._values[(100 + at) % self._count])
                producer.poll(0)
            producer.flush()

        writer = Thread(target=write)
        writer.start()
        arrivals = self._arrivals(target, count, skip=100)
        writer.join()
        waited = (arrivals - sent)[count // 5 :] * 1000
        return [float(wait) for wait in np.quantile(waited, QUANTILES)]

    def _arrivals(self, topic: str, count: int, skip: int = 0) -> Any:
        """Return when each of so many records could be read."""
        consumer = Consumer(self._reading({"group.id": uuid.uuid4().hex}))
        arrivals: list[float] = []
        give_up = time.monotonic() + _WAIT_SECONDS
        with closing(consumer):
            consumer.assign([TopicPartition(topic, 0, 0)])
            while len(arrivals) < count + skip:
                found = sum(not record.error() for record in consumer.consume(5000, 0.002))
                arrivals += [time.perf_counter()] * found
                assert time.monotonic() < give_up, f"{len(arrivals)} of {count} in {topic}"
        return np.array(arrivals[skip : skip + count])

    def _copy(
        self, source: str, target: str, batch: int, stopped: Event, count: int | None
    ) -> None:
        """Copy records in transactions, so many or until stopped."""
        group = uuid.uuid4().hex
        consumer = Consumer(self._reading({"group.id": group}))
        consumer.subscribe([source])
        producer = Producer(
            {"bootstrap.servers": self._servers, "transactional.id": group, **_PRODUCER}
        )
        producer.init_transactions(30)
        done = 0
        with closing(consumer):
            while not stopped.is_set() and (count is None or done < count):
                records = consumer.consume(1, 0.05)
                records += consumer.consume(batch - 1, 0) if records else []
                if not records:
                    continue
                producer.begin_transaction()
                for record in records:
                    producer.produce(target, record.value(), record.key())
                place = TopicPartition(source, 0, (records[-1].offset() or 0) + 1)
                producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), 9)
                producer.commit_transaction(9)
                done += len(records)

    def _documents(self, count: int | None = None) -> Settings:
        """Return a new application whose documents are there already."""
        settings = new_settings(self._servers, self._folder)
        topics = settings.kafka.topics
        for topic in (topics.documents, topics.matches):
            self._topic(topic)
        self._write(topics.documents, self._count if count is None else count)
        return settings

    def _write(self, topic: str, count: int) -> None:
        producer = Producer({"bootstrap.servers": self._servers, "linger.ms": 5})
        for value in self._values[:count]:
            while True:
                try:
                    producer.produce(topic, value)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(_WAIT_SECONDS) == 0

    def _topic(self, name: str = "") -> str:
        """Make a topic of one partition."""
        name = name or f"bench-{uuid.uuid4().hex[:8]}"
        admin = AdminClient({"bootstrap.servers": self._servers})
        admin.create_topics([NewTopic(name, 1, 1, config={"max.message.bytes": "16000000"})])[
            name
        ].result(30)
        return name

    def _reading(self, others: dict[str, Any]) -> dict[str, Any]:
        return {
            "bootstrap.servers": self._servers,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 50,
            **others,
        }


def _rate(arrivals: Any) -> float:
    """Return how many came a second, from the first ones on."""
    first = int((arrivals == arrivals[0]).sum())
    return float((len(arrivals) - first) / (arrivals[-1] - arrivals[0]))


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    main()
