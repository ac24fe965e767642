"""Write dashboard.json, which Grafana takes as it is, from panels.yaml.

python deploy/grafana/dashboard.py
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

SOURCE = Path(__file__).with_name("panels.yaml")
TARGET = Path(__file__).with_name("dashboard.json")
CHOSEN = 'job="$job", instance=~"$instance"'
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 24, 8

Panel = Mapping[str, Any]


def written() -> str:
    """Return the dashboard as JSON."""
    rows = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    return json.dumps(_dashboard(rows), indent=1, ensure_ascii=False) + "\n"


def _dashboard(rows: Mapping[str, list[Panel]]) -> dict[str, Any]:
    return {
        "uid": "stream-dedup",
        "title": "stream_dedup",
        "tags": ["stream-dedup"],
        "schemaVersion": 39,
        "version": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "graphTooltip": 1,  # one cross-hair over all panels
        "templating": {"list": list(_variables())},
        "panels": list(_panels(rows)),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "Source", "type": "datasource", "query": "prometheus"}
    queries = {
        "job": "label_values(stream_dedup_ready, job)",
        "instance": 'label_values(stream_dedup_ready{job="$job"}, instance)',
    }
    for name, query in queries.items():
        several = {"includeAll": True, "multi": True, "allValue": ".*"}
        yield {
            "name": name,
            "label": name.capitalize(),
            "type": "query",
            "datasource": DATASOURCE,
            "query": query,
            "refresh": 2,  # whenever the time range changes
            **(several if name == "instance" else {}),
        }


def _panels(rows: Mapping[str, list[Panel]]) -> Iterator[dict[str, Any]]:
    """Lay the rows out from left to right and from top to bottom."""
    number, y = 0, 0
    for row, panels in rows.items():
        number += 1
        place = {"x": 0, "y": y, "w": WIDTH, "h": 1}
        yield {"id": number, "type": "row", "title": row, "collapsed": False, "gridPos": place}
        x, y = 0, y + 1
        for panel in panels:
            number += 1
            width = panel.get("width", 8)
            if x + width > WIDTH:
                x, y = 0, y + HEIGHT
            yield _panel(number, panel, {"x": x, "y": y, "w": width, "h": HEIGHT})
            x += width
        y += HEIGHT


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    kind = panel.get("kind", "timeseries")
    return {
        "id": number,
        "type": kind,
        "title": panel["title"],
        "description": panel["tells"],
        "datasource": DATASOURCE,
        "gridPos": place,
        "targets": [
            _target(chr(ord("A") + index), legend, expression, kind == "table")
            for index, (legend, expression) in enumerate(panel["lines"].items())
        ],
        "fieldConfig": {"defaults": _look(panel, kind), "overrides": []},
    }


def _target(letter: str, legend: str, expression: str, is_table: bool) -> dict[str, Any]:
    return {
        "refId": letter,
        "datasource": DATASOURCE,
        "expr": expression.replace("CHOSEN", CHOSEN),
        "legendFormat": legend,
        "instant": is_table,
        "format": "table" if is_table else "time_series",
    }


def _look(panel: Panel, kind: str) -> dict[str, Any]:
    look = {"unit": panel.get("unit", "short"), "min": 0}
    if kind != "timeseries":
        return look
    stacked = panel.get("stacked", False)
    custom = {
        "stacking": {"mode": "normal" if stacked else "none"},
        "fillOpacity": 20 if stacked else 0,
        "showPoints": "never",
    }
    return {**look, "custom": custom}


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
