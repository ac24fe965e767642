"""What a producer holds that no broker has taken yet is bounded, and room for every record."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from stream_dedup.kafka.clients import Clients
from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.kafka_trial import Trial

LARGE = bytes(95_000_000)  # somewhat below what one record may have
SECONDS_MAX = 90.0


def test_a_producer_holds_one_of_the_largest_records_and_no_two(
    broker: Broker, names: Names
) -> None:
    """The largest record has to fit, and a feed of such must not fill the memory."""
    producer = Clients(names.kafka(broker)).producer(names.application)
    producer.init_transactions(SECONDS_MAX)
    producer.begin_transaction()
    try:
        producer.produce("nowhere", LARGE)
        with pytest.raises(BufferError):
            producer.produce("nowhere", LARGE)
    finally:
        producer.purge()
        producer.abort_transaction(SECONDS_MAX)


def test_a_record_larger_than_the_queue_is_told(
    broker: Broker, names: Names, tmp_path: Path
) -> None:
    """Nobody waits for room that never comes: the setting that makes it is named."""
    trial = Trial(broker, names, tmp_path)
    kafka = trial.settings.kafka
    small = replace(kafka, client={**kafka.client, "queue.buffering.max.kbytes": 1})
    trial.write(b'{"id": "%s", "text": "The harbour was closed."}' % (b"a" * 3000), "a")

    said = trial.is_refused(settings=replace(trial.settings, kafka=small))

    assert "queue.buffering.max.kbytes" in said
    with trial.process() as running:
        trial.await_verdicts(running, 1)
        running.stops()
