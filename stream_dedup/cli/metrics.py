"""`stream-dedup metrics`: what the service measures, as a table."""

import sys


def metrics() -> None:
    """List the metrics of the service, with what each means, as a table in Markdown.

    A running service gives their values at /metrics, as Prometheus reads them.

    Example: stream-dedup metrics | grep lag
    """
    from stream_dedup.metrics import METRICS

    lines = ["| metric | kind | labels | meaning |", "|---|---|---|---|"]
    for metric in METRICS:
        name = f"{metric.name}_total" if metric.kind == "counter" else metric.name
        meaning = metric.meaning.replace("|", "\\|")
        lines.append(f"| `{name}` | {metric.kind} | {', '.join(metric.labels)} | {meaning} |")
    sys.stdout.write("\n".join([*lines, ""]))
