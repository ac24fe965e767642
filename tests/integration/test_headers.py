"""Headers as only clients without our own one's types can write them: any bytes as a name."""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import confluent_kafka

from stream_dedup.kafka.dead_letters import read_dead_letter
from stream_dedup.kafka.messages import ORIGINAL_TIMESTAMP
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names
from tests.integration.kafka_trial import Trial

FLUSH_MILLISECONDS_MAX = 90_000
TOPIC, PARTITION, VALUE, COPY, HEADERS, END = 1, 3, 4, 7, 10, 0  # of rd_kafka_vtype_t
COPIED = 2
DOCUMENT = (
    b'{"id": "%d", "text": "The harbour of the old town was closed on Monday after a storm."}'
)

RawHeader = tuple[bytes, bytes | None]


def write_raw(broker: Broker, topic: str, headers: Sequence[Sequence[RawHeader]]) -> None:
    """Write a document with each of these, by librdkafka itself."""
    libraries = Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs"
    library = ctypes.CDLL(str(next(libraries.glob("librdkafka*"))))
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_headers_new"):
        getattr(library, name).restype = ctypes.c_void_p
    error = ctypes.create_string_buffer(512)
    settings = ctypes.c_void_p(library.rd_kafka_conf_new())
    servers = broker.bootstrap_servers.encode()
    assert library.rd_kafka_conf_set(settings, b"bootstrap.servers", servers, error, 512) == 0
    producer = ctypes.c_void_p(library.rd_kafka_new(0, settings, error, 512))
    assert producer, error.value
    for number, pairs in enumerate(headers):
        made = ctypes.c_void_p(library.rd_kafka_headers_new(ctypes.c_size_t(len(pairs))))
        for label, value in pairs:
            sizes = ctypes.c_ssize_t(len(label)), ctypes.c_ssize_t(len(value or b""))
            assert library.rd_kafka_header_add(made, label, sizes[0], value, sizes[1]) == 0
        document = DOCUMENT % number
        words: list[Any] = [TOPIC, topic.encode(), PARTITION, ctypes.c_int32(0)]
        words += [VALUE, document, ctypes.c_size_t(len(document)), COPY, COPIED, HEADERS, made, END]
        assert library.rd_kafka_producev(producer, *words) == 0
    assert library.rd_kafka_flush(producer, FLUSH_MILLISECONDS_MAX) == 0
    library.rd_kafka_destroy(producer)


def test_names_that_are_no_text_are_rejected(broker: Broker, names: Names, tmp_path: Path) -> None:
    """Values of any bytes travel, and none; a record whose header has no readable name is told."""
    trial = Trial(broker, names, tmp_path)
    topics = trial.settings.kafka.topics
    odd = [("null", None), ("bytes", b"\xff\0")]
    raw = [(name.encode(), value) for name, value in odd]
    write_raw(broker, topics.documents, [raw, [*raw, (b"\xff\xfe", b"1")], []])
    with trial.process() as running:
        trial.await_verdicts(running, 2)
        running.stops()

    answered = read_all(broker, topics.matches)
    assert [record.headers[:-1] for record in answered] == [odd, []]
    assert {record.headers[-1][0] for record in answered} == {ORIGINAL_TIMESTAMP}
    (rejected,) = read_all(broker, topics.rejected)
    letter = read_dead_letter(rejected)
    assert (letter.offset, letter.reason) == (1, "headers: a name is not UTF-8")
    assert (letter.value, letter.truncated_from) == (DOCUMENT % 1, len(DOCUMENT % 1))
