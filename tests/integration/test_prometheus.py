"""A real Prometheus scrapes the real service under load, and dashboard and alerts ask it."""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
import yaml
from confluent_kafka import Producer

from stream_dedup.metrics import METRICS
from tests.deployment import DEPLOY, RULES, exposed, panel_expressions, tool
from tests.integration.brokers import Broker, free_port
from tests.integration.conftest import Names

SECONDS_MAX = 180.0
LOOK_SECONDS = 0.2
RATE = 150  # documents a second
WINDOW = "10s"  # over which rates are taken: many scrapes, one a second

# What rightly gives nothing while all is well, and why.
SILENT = {
    "stream_dedup_restore_seconds": "the index was never behind the group's offset",
    "stream_dedup_log_purged_offset": "the window has not passed",
    "absent(": "a process is known",
}


class Prometheus(NamedTuple):
    """A running Prometheus, and the service that it scrapes."""

    address: str
    service: str

    def ask(self, expression: str) -> list[Any]:
        """Evaluate an expression; an unreadable one is an error."""
        found = _json(f"{self.address}/api/v1/query?{urlencode({'query': expression})}")
        assert found["status"] == "success", found
        return list(found["data"]["result"])


@pytest.fixture(scope="module")
def prometheus(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Run service, feed and Prometheus until the first rates are there."""
    program = tool("prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    names = Names(f"test-{uuid.uuid4().hex[:12]}")
    service, own = free_port(), free_port()
    with ExitStack() as stack:
        run = _service(broker, names, folder, service)
        running = stack.enter_context(_process(run, folder / "service.log"))
        _await(lambda: _answers(f"http://127.0.0.1:{service}/readyz"), running)
        documents = names.topics().documents
        feed = [sys.executable, str(DEPLOY / "produce_demo.py"), f"--rate={RATE}"]
        feed += [f"--bootstrap-servers={broker.bootstrap_servers}", f"--topic={documents}"]
        stack.enter_context(_process(feed, folder / "feed.log"))
        _write_what_is_no_document(broker, documents)
        command = _prometheus(program, folder, service, own)
        watching = stack.enter_context(_process(command, folder / "prometheus.log"))
        asked = Prometheus(f"http://127.0.0.1:{own}", f"http://127.0.0.1:{service}")
        _await(lambda: _answers(f"{asked.address}/-/ready"), watching)
        yield asked


def _service(broker: Broker, names: Names, folder: Path, port: int) -> list[str]:
    """Write what runs the service as an operator does."""
    given = {
        "kafka.bootstrap_servers": broker.bootstrap_servers,
        "kafka.application": names.application,
        "index.directory": folder / "index",
        "http.port": port,
        "matching.recall_sample": 1.0,  # so that it can be estimated within the test
    }
    topics = names.topics()
    given |= {
        f"kafka.topics.{name}": getattr(topics, name)
        for name in ("documents", "signatures", "matches", "rejected")
    }
    settings = [word for key, value in given.items() for word in ("--set", f"{key}={value}")]
    return [sys.executable, "-m", "stream_dedup", "run", *settings]


def _prometheus(program: str, folder: Path, target: int, port: int) -> list[str]:
    """Write what runs Prometheus on its configuration of deploy/, but faster."""
    source = DEPLOY / "prometheus" / "prometheus.yml"
    settings = yaml.safe_load(source.read_text(encoding="utf-8"))
    settings["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    settings["rule_files"] = [str(source.with_name(name)) for name in settings["rule_files"]]
    settings["scrape_configs"][0]["static_configs"] = [{"targets": [f"127.0.0.1:{target}"]}]
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return [
        program,
        f"--config.file={path}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]


@contextmanager
def _process(command: list[str], log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program beside the test, and end it with the test."""
    with log.open("wb") as lines, subprocess.Popen(command, stdout=lines, stderr=lines) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(SECONDS_MAX)
            finally:
                process.kill()


def _write_what_is_no_document(broker: Broker, topic: str) -> None:
    """A few records that are rejected."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for value in (b"{", b'{"id": "a"}', b"[]"):
        producer.produce(topic, value)
    assert producer.flush(SECONDS_MAX) == 0


def _await(holds: Callable[[], bool], process: "subprocess.Popen[bytes] | None" = None) -> None:
    give_up = monotonic() + SECONDS_MAX
    while not holds():
        assert process is None or process.poll() is None, f"ended with {process.returncode}"
        assert monotonic() < give_up
        Event().wait(LOOK_SECONDS)


def _read(address: str, body: bytes | None = None) -> bytes:
    request = urllib.request.Request(
        address, data=body, headers={"Content-Type": "application/json"} if body else {}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())


def _json(address: str) -> Any:
    return json.loads(_read(address))


def _answers(address: str, body: bytes | None = None) -> bool:
    try:
        _read(address, body)
    except (urllib.error.URLError, ConnectionError):
        return False
    return True


def _as_grafana_asks(expression: str) -> str:
    """Fill in what Grafana fills in."""
    filled = expression.replace("$job", "stream-dedup").replace("$instance", ".*")
    return filled.replace("$__rate_interval", WINDOW)


def _is_silent(text: str) -> bool:
    return any(words in text for words in SILENT)


def _selectors() -> set[str]:
    """Return what alerts look at, each metric with its conditions."""
    found = re.compile(r"(?:absent\()?\b(?:stream_dedup_\w+|process_\w+|up)\b(?:\{[^}]*\})?")
    return {selector for rule in RULES for selector in found.findall(rule["expr"])}


def test_every_panel_shows_something(prometheus: Prometheus) -> None:
    """Each expression of the dashboard is read, and gives data under load."""
    asked = {_as_grafana_asks(text) for text in panel_expressions()}
    missing = {text for text in asked if not _is_silent(text)}

    def is_complete() -> bool:
        # Not answered in time while kernels are compiled, and counted all the same.
        _answers(f"{prometheus.service}/v1/query", b'{"text": "Storm winds closed the harbour."}')
        missing.difference_update([text for text in missing if prometheus.ask(text)])
        return not missing

    assert len(asked) > 40
    try:
        _await(is_complete)
    except AssertionError:
        pytest.fail(f"no data: {sorted(missing)}")
    for text in asked:
        prometheus.ask(text)  # the silent ones are read as well


def test_every_alert_looks_at_something_and_is_quiet(prometheus: Prometheus) -> None:
    """What the rules look at is there, Prometheus evaluates them, and nothing is alarming."""
    missing = {text for text in _selectors() if not _is_silent(text)}

    def is_complete() -> bool:
        missing.difference_update([text for text in missing if prometheus.ask(text)])
        return not missing and all(rule["health"] == "ok" for rule in rules())

    def rules() -> list[dict[str, Any]]:
        groups = _json(f"{prometheus.address}/api/v1/rules")["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    try:
        _await(is_complete)
    except AssertionError:
        pytest.fail(f"no data: {sorted(missing)}; {rules()}")
    assert {rule["name"] for rule in rules()} == {rule["alert"] for rule in RULES}
    assert [rule["name"] for rule in rules() if rule["state"] != "inactive"] == []


def test_prometheus_knows_every_metric(prometheus: Prometheus) -> None:
    """All metrics of the service are scraped, but for those that have nothing to tell yet."""
    silent = {name for name in exposed() if _is_silent(name)}

    def unknown() -> set[str]:
        known = set(_json(f"{prometheus.address}/api/v1/label/__name__/values")["data"])
        return set(exposed()) - known - silent

    try:
        _await(lambda: not unknown())
    except AssertionError:
        pytest.fail(f"not scraped: {sorted(unknown())}")
    assert len(silent) < len(METRICS) / 5


def test_the_exposition_keeps_the_conventions(prometheus: Prometheus) -> None:
    """Prometheus' linter finds no fault with names, kinds and meanings of the metrics."""
    lint = subprocess.run(
        [tool("promtool"), "check", "metrics"],
        input=_read(f"{prometheus.service}/metrics"),
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    assert lint.stderr.decode() == ""
    assert lint.returncode == 0
