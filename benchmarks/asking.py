"""How long a question takes while documents stream in at a steady rate."""

import json
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread

import numpy as np
from confluent_kafka import Producer

from benchmarks.kafka_processes import service
from benchmarks.records import Questions
from stream_dedup.config import Settings

RATE = 500
_ASKED_PER_SECOND = 20
_SECONDS = 30.0
_WARM_SECONDS = 5.0
_WAIT_SECONDS = 60.0


def question_delays(settings: Settings, values: Sequence[bytes], texts: Sequence[str]) -> Questions:
    """Ask about texts, each over a connection of its own, while these values are written."""
    stopped = Event()
    with service(settings) as log:
        host = _address(log).removeprefix("http://")
        writer = Thread(target=_write, args=(settings, values, stopped))
        writer.start()
        try:
            _await_ready(host)
            waits = [*_questions(host, texts, _WARM_SECONDS)], [*_questions(host, texts, _SECONDS)]
        finally:
            stopped.set()
            writer.join()
    counted = np.array(waits[1]) * 1000
    worst_99 = float(np.percentile(counted, 99))
    return Questions(RATE, len(counted), float(np.median(counted)), worst_99)


def _questions(host: str, texts: Sequence[str], seconds: float) -> list[float]:
    waits = []
    start = time.perf_counter()
    for number in range(int(seconds * _ASKED_PER_SECOND)):
        time.sleep(max(0.0, start + number / _ASKED_PER_SECOND - time.perf_counter()))
        body = json.dumps({"text": texts[number % len(texts)]})
        asked = time.perf_counter()
        connection = HTTPConnection(host, timeout=10)
        connection.request("POST", "/v1/query", body)
        answer = connection.getresponse()
        answer.read()
        waits.append(time.perf_counter() - asked)
        connection.close()
        assert answer.status == 200, answer.status
    return waits


def _write(settings: Settings, values: Sequence[bytes], stopped: Event) -> None:
    """Write at the rate until stopped."""
    producer = Producer({"bootstrap.servers": settings.kafka.bootstrap_servers, "linger.ms": 0})
    start, number = time.perf_counter(), 0
    while not stopped.wait(max(0.0, start + number / RATE - time.perf_counter())):
        producer.produce(settings.kafka.topics.documents, values[number % len(values)])
        producer.poll(0)
        number += 1
    producer.flush()


def _await_ready(host: str) -> None:
    give_up = time.monotonic() + _WAIT_SECONDS
    while True:
        connection = HTTPConnection(host, timeout=10)
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            return
        assert time.monotonic() < give_up, status
        time.sleep(0.1)


def _address(log: Path) -> str:
    """Return where the service says that it serves."""
    give_up = time.monotonic() + _WAIT_SECONDS
    while True:
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        for line in lines:
            if line["message"] == "serving":
                return str(line["address"])
        assert time.monotonic() < give_up, lines
        time.sleep(0.1)
