"""Write made-up news to the topic of documents, at a steady rate, until stopped.

    python deploy/produce_demo.py --bootstrap-servers localhost:9092 --rate 50

Agencies write, papers print it with edits, corrections and footers of their own: the feed of
`stream-dedup demo`, three days of news after three days of news, each with ids of its own.
"""

import argparse
import itertools
import signal
import sys
import time
from collections.abc import Iterator
from threading import Event

import msgspec
from confluent_kafka import KafkaError, Message, Producer

from stream_dedup.events import Deletion, Document
from stream_dedup.feed.planting import news_feed

NEWS = 3000  # documents of three days
UNDELIVERED_SECONDS_MAX = 60  # a broker may be started after this
EXIT_FAILED = 1


class Record(msgspec.Struct):
    """A document as the topic has it; its time is that of its arrival."""

    id: str
    text: str
    source: str


def events(seed: int) -> Iterator[tuple[str, bytes | None]]:
    """Yield keys and values for ever; no value withdraws what the key names."""
    for edition in itertools.count(seed):
        for planted in news_feed(edition, NEWS):
            key = f"{edition}-{planted.event.id}"
            yield key, _value(key, planted.event)


def _value(key: str, event: Document | Deletion) -> bytes | None:
    if isinstance(event, Deletion):
        return None
    return msgspec.json.encode(Record(key, event.text, event.source))


class Feed:
    """Writes records and knows when one could not be delivered."""

    def __init__(self, servers: str, topic: str) -> None:
        self._topic = topic
        self.failed: KafkaError | None = None
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "linger.ms": 5,
                "delivery.timeout.ms": 1000 * UNDELIVERED_SECONDS_MAX,
            }
        )

    def write(self, key: str, value: bytes | None) -> None:
        """Hand a record over; wait while too many are under way."""
        while True:
            try:
                self._producer.produce(self._topic, value, key, on_delivery=self._delivered)
            except BufferError:
                self._producer.poll(0.1)
            else:
                self._producer.poll(0)
                return

    def close(self) -> int:
        """Wait for what is under way; return how much was not delivered."""
        return self._producer.flush(UNDELIVERED_SECONDS_MAX)

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        self.failed = self.failed or error


def produce(feed: Feed, seed: int, rate: float, count: int | None, stopped: Event) -> int:
    """Write at a rate until stopped, or until a record is lost; return how many were written."""
    started = time.monotonic()
    written = 0
    for key, value in itertools.islice(events(seed), count):
        if feed.failed or stopped.wait(max(0.0, started + written / rate - time.monotonic())):
            break
        feed.write(key, value)
        written += 1
    return written


def _positive(text: str) -> float:
    number = float(text)
    if number <= 0:
        raise argparse.ArgumentTypeError("must be above 0")
    return number


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--bootstrap-servers", default="localhost:9092")
    parser.add_argument("--topic", default="documents")
    parser.add_argument("--rate", type=_positive, default=50.0, help="documents a second")
    parser.add_argument("--count", type=int, help="stop after so many")
    parser.add_argument("--seed", type=int, default=1, help="another number makes up other news")
    return parser.parse_args()


def main() -> int:
    """Produce as the command line says; return the exit code."""
    asked = _arguments()
    stopped = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    feed = Feed(asked.bootstrap_servers, asked.topic)
    written = produce(feed, asked.seed, asked.rate, asked.count, stopped)
    left = feed.close()
    if feed.failed or left:
        sys.stderr.write(f"error: not all was delivered: {feed.failed or 'the broker is away'}\n")
        return EXIT_FAILED
    sys.stderr.write(f"{written} records written to {asked.topic}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
