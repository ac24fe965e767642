from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from stream_dedup import metrics as listed
from stream_dedup.cli.metrics import metrics as list_metrics
from stream_dedup.metrics import METRICS, PREFIX, Metric, Metrics

DOCUMENTED = Path(__file__).parents[2] / "deploy/METRICS.md"


def samples(metrics: Metrics) -> dict[tuple[str, frozenset[str]], float]:
    """Read what Prometheus reads: values by name and values of labels."""
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics.exposition().decode())
        for sample in family.samples
    }


def moved(metric: Metric, metrics: Metrics) -> None:
    labels = metric.labels
    if metric.kind == "histogram":
        metrics.observe(metric, 1, *labels)
    else:
        (metrics.add if metric.kind == "counter" else metrics.set)(metric, 1, *labels)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_what_is_told_is_shown(metric: Metric) -> None:
    """Prometheus reads each metric under its name, with its labels and its meaning."""
    metrics = Metrics()
    moved(metric, metrics)
    suffix = {"counter": "_total", "gauge": "", "histogram": "_sum"}[metric.kind]
    families = text_string_to_metric_families(metrics.exposition().decode())
    (family,) = [family for family in families if family.name == metric.name]

    assert family.type == metric.kind
    assert family.documentation == metric.meaning
    assert samples(metrics)[metric.name + suffix, frozenset(metric.labels)] == 1


def test_names_follow_the_conventions() -> None:
    """Each is named once, by the unit it is in, and no counter says `total` itself."""
    names = [metric.name for metric in METRICS]

    assert len(set(names)) == len(names)
    assert all(name.startswith(PREFIX) for name in names)
    assert not [name for name in names if name.endswith(("_total", "_ms", "_count", "_sum"))]
    assert not {"id", "document", "text"} & {label for metric in METRICS for label in metric.labels}


@given(st.lists(st.lists(st.floats(-1, 20_000) | st.integers(0, 2000), max_size=20), max_size=5))
def test_a_histogram_counts_as_its_bounds_say(batches: list[list[float]]) -> None:
    """A value counts at the first bound that is not below it; sum and count are those of all."""
    metrics = Metrics()
    for batch in batches:
        metrics.observe(listed.LATENCY, batch)
    values = [value for batch in batches for value in batch]
    shown = samples(metrics)

    for bound in listed.LATENCY.bounds:
        expected = sum(value <= bound for value in values)
        name = f"{listed.LATENCY.name}_bucket"
        assert shown.get((name, frozenset([str(bound)])), 0) == expected
    if batches:
        assert shown[f"{listed.LATENCY.name}_count", frozenset()] == len(values)
        np.testing.assert_allclose(shown[f"{listed.LATENCY.name}_sum", frozenset()], sum(values))


def test_threads_lose_no_count() -> None:
    """What several threads count at once is all there."""
    metrics = Metrics()

    def count() -> None:
        for _ in range(2000):
            metrics.add(listed.DOCUMENTS, 1, "unique")
            metrics.observe(listed.CANDIDATES, [1, 2])

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert metrics.value(listed.DOCUMENTS, "unique") == 8000
    assert sum(metrics.counts(listed.CANDIDATES)) == 16_000


def test_a_value_can_be_forgotten() -> None:
    """What is not known any more is not shown."""
    metrics = Metrics()
    metrics.set(listed.RECALL, 0.9, "share")
    metrics.forget(listed.RECALL, "share")

    assert metrics.value(listed.RECALL, "share") is None
    assert (listed.RECALL.name, frozenset(["share"])) not in samples(metrics)


def test_the_process_is_measured_too() -> None:
    """Memory, processor time and open files of the process are among the metrics."""
    shown = {name for name, _ in samples(Metrics())}

    assert {"process_resident_memory_bytes", "process_cpu_seconds_total"} <= shown
    assert {"process_open_fds", "python_info"} <= shown


def test_the_document_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of METRICS.md is what `stream-dedup metrics` prints."""
    list_metrics()

    assert DOCUMENTED.read_text().endswith(f"\n{capsys.readouterr().out}")
