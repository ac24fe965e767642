"""What `deploy/` asks of Prometheus, and the tools that judge it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from stream_dedup.metrics import METRICS

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
ALERTS = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text(encoding="utf-8"))


def panel_expressions() -> Iterator[str]:
    """Return what the panels of the dashboard ask Prometheus for."""
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel.get("targets", []))


def names_in(expression: str) -> set[str]:
    """Return the metrics of the service that an expression names."""
    return set(re.findall(r"\bstream_dedup_\w+", expression))


def exposed() -> dict[str, str]:
    """Return the names under which Prometheus finds the metrics, with the metric's own."""
    suffixes = {
        "counter": ["_total"],
        "gauge": [""],
        "histogram": ["_bucket", "_sum", "_count"],
    }
    return {
        metric.name + suffix: metric.name for metric in METRICS for suffix in suffixes[metric.kind]
    }


def tool(name: str, is_optional: bool = False) -> str:
    """Find a program; missing, it skips the test, and on CI fails it unless it is optional."""
    place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if found := shutil.which(name, path=place):
        return found
    missing = f"{name} is not installed"
    if "CI" in os.environ and not is_optional:
        pytest.fail(missing)
    pytest.skip(missing)


def output(*command: str | Path, place: Path = DEPLOY) -> str:
    """Run a tool that has to be content; return what it prints."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
