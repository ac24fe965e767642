"""`make live`: the page on a feed of made-up news, and nothing left of it in the end."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path
from time import monotonic

from tests.integration.brokers import ENVIRONMENT, free_port, needs_jars, needs_java_and_maven

ROOT = Path(__file__).parents[2]
START_SECONDS_MAX = 90.0
STOP_SECONDS_MAX = 60.0


@needs_java_and_maven
@needs_jars
def test_it_shows_documents_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """The page counts what comes in; Ctrl-C ends broker, service and feed, and their files go."""
    assert "deploy/live.py --port '$(PORT)'" in (ROOT / "Makefile").read_text()
    port = str(free_port())
    command = [sys.executable, str(ROOT / "deploy/live.py"), "--port", port, "--rate", "200"]
    environment = ENVIRONMENT | {"TMPDIR": str(tmp_path)}
    log = tmp_path / "said"
    with log.open("w") as said, subprocess.Popen(command, stderr=said, env=environment) as live:
        try:
            address = _address(live, log)
            _await_documents(f"{address}/v1/live", live)
            live.send_signal(signal.SIGINT)
            assert live.wait(STOP_SECONDS_MAX) == 0, log.read_text()
        finally:
            live.kill()

    assert [path.name for path in tmp_path.iterdir()] == ["said"]


def _address(live: "subprocess.Popen[bytes]", log: Path) -> str:
    """Return where the page is, as soon as that is told."""
    give_up = monotonic() + START_SECONDS_MAX
    while not (found := re.search(r"The page: (\S+)/ ", log.read_text())):
        assert live.poll() is None, log.read_text()
        assert monotonic() < give_up, log.read_text()
        with suppress(subprocess.TimeoutExpired):
            live.wait(0.1)
    return found[1]


def _await_documents(address: str, live: "subprocess.Popen[bytes]") -> None:
    give_up = monotonic() + START_SECONDS_MAX
    while True:
        with urllib.request.urlopen(address, timeout=60) as answer:
            outcomes = json.load(answer)["outcomes"]
        if outcomes.get("unique", 0) > 100 and outcomes.get("near", 0) > 0:
            return
        assert monotonic() < give_up, outcomes
        with suppress(subprocess.TimeoutExpired):
            live.wait(0.1)
