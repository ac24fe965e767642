"""What a service that makes its index anew says of itself meanwhile."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from statistics import median
from threading import Event
from time import monotonic

from benchmarks.signed_log import commit_offset, write_log
from stream_dedup.config import IndexSettings, Settings
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.topics import ensure
from stream_dedup.panel import Panel
from stream_dedup.query import Reader
from stream_dedup.web.application import Desk, application
from stream_dedup.web.server import Server
from tests.integration.brokers import Broker
from tests.integration.conftest import Names
from tests.integration.threads import Steps, service

SECONDS_MAX = 90.0
DOCUMENTS = 12_000
BUSY_SECONDS_MAX = 10  # other tests run beside this one


def test_probes_answer_while_an_index_is_restored(
    broker: Broker, names: Names, tmp_path: Path
) -> None:
    """At once: it lives, it is not ready, and says how much is to be done; then it is."""
    index = IndexSettings(directory=str(tmp_path / "index"))
    settings = Settings(index=index, kafka=names.kafka(broker, instance="one"))
    ensure(Clients(settings.kafka), settings)
    write_log(settings, DOCUMENTS)
    topics = settings.kafka.topics
    commit_offset(settings.kafka, "match", topics.signatures, DOCUMENTS)
    commit_offset(settings.kafka, "sign", topics.documents, 0)
    panel = Panel.of(settings)
    live, ready, waits = set[int](), list[tuple[int, str]](), list[float]()
    with service(settings, panel, Steps()) as running:
        reader = Reader(running.index, settings, running.matcher)
        desk = Desk(settings, panel.metrics, panel.health, panel.live, reader)
        server = Server(application(desk, ""), "127.0.0.1", 0)
        server.start()
        give_up, pause = monotonic() + SECONDS_MAX, Event()
        while not ready or ready[-1][0] != 200:
            started = monotonic()
            live.add(answer(f"{server.address}/livez")[0])
            ready.append(answer(f"{server.address}/readyz"))
            waits.append(monotonic() - started)
            assert started < give_up, ready[-1]
            pause.wait(0.02)
        server.close()

    restoring = [reasons for status, reasons in ready if "match: restoring" in reasons]
    assert live == {200}
    assert restoring
    assert all("records of" in reasons and "to go" in reasons for reasons in restoring)
    assert median(waits) < 2, "two probes within a second each"
    assert max(waits) < BUSY_SECONDS_MAX


def answer(address: str) -> tuple[int, str]:
    """Ask a probe; return its status, and the reasons."""
    try:
        with urllib.request.urlopen(address, timeout=60) as reply:
            return reply.status, str(json.load(reply)["reasons"])
    except urllib.error.HTTPError as reply:
        with reply:
            return reply.code, str(json.load(reply)["reasons"])
