"""Traces: what a collector of OpenTelemetry hears of the service."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

import pytest
from confluent_kafka import Producer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from stream_dedup.config import EventsSettings, IndexSettings, Settings, TracingSettings
from stream_dedup.panel import Panel
from stream_dedup.tracing import NoTracing, tracing
from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.threads import Steps, service

SECONDS_MAX = 180.0
PARENTS = [f"00-{number:032x}-{number:016x}-01" for number in (11, 12)]


class Collector:
    """Takes spans over HTTP, as collectors do."""

    def __init__(self) -> None:
        spans: SimpleQueue[Any] = SimpleQueue()
        self.spans = spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    for scope in resource.scope_spans:
                        for span in scope.spans:
                            spans.put(span)
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}/v1/traces"

    def await_links(self, *names: str) -> dict[str, set[str]]:
        """Collect what spans of these names are linked to, until each is linked to all parents."""
        found: dict[str, set[str]] = {name: set() for name in names}
        give_up = monotonic() + SECONDS_MAX
        while not all(len(links) == len(PARENTS) for links in found.values()):
            assert monotonic() < give_up, found
            try:
                span = self.spans.get(timeout=1)
            except Empty:
                continue
            links = (f"00-{link.trace_id.hex()}-{link.span_id.hex()}-01" for link in span.links)
            found[span.name].update(links)
        return found


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector that listens."""
    collector = Collector()
    thread = Thread(target=collector.server.serve_forever)
    thread.start()
    yield collector
    collector.server.shutdown()
    thread.join(SECONDS_MAX)
    collector.server.server_close()


def test_spans_of_both_roles_are_linked_to_where_documents_come_from(
    broker: Broker, names: Names, tmp_path: Path, collector: Collector
) -> None:
    """Each batch is a span, linked to every `traceparent` of its records, and to nothing else."""
    settings = Settings(
        events=EventsSettings(emit="all"),
        index=IndexSettings(directory=str(tmp_path / "index")),
        kafka=names.kafka(broker, instance="one"),
        tracing=TracingSettings(endpoint=collector.endpoint),
    )
    panel = Panel.of(settings)
    topics = names.topics()
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    with service(settings, panel, Steps()):
        for number, parent in enumerate([*PARENTS, "no parent"]):
            value, headers = (
                b'{"text": "a text"}',
                dict[str, str | bytes | None](traceparent=parent),
            )
            producer.produce(topics.documents, value, str(number), 0, headers=headers)
        assert producer.flush(SECONDS_MAX) == 0
        spans = (f"sign {topics.documents}", f"match {topics.signatures}")
        found = collector.await_links(*spans)
    panel.tracing.close()

    assert found == {name: set(PARENTS) for name in spans}


def test_without_an_address_nothing_is_traced() -> None:
    """Who does not ask for traces pays nothing for them."""
    assert isinstance(tracing("", "one"), NoTracing)
