"""What a service shows of itself, for whoever runs it."""

import platform
from typing import NamedTuple

from stream_dedup import __version__
from stream_dedup.config import Settings
from stream_dedup.health import Health
from stream_dedup.live import Live
from stream_dedup.metrics import BUILD_INFO, SETTINGS_INFO, Metrics
from stream_dedup.similarity.scheme import settings_fingerprint
from stream_dedup.similarity.sketch import Sketcher
from stream_dedup.tracing import Tracing, tracing


class Panel(NamedTuple):
    """Numbers, health, what has just happened, and traces of it."""

    metrics: Metrics
    health: Health
    live: Live
    tracing: Tracing

    @classmethod
    def of(cls, settings: Settings) -> "Panel":
        """Make one that tells what is run, and with which settings."""
        metrics = Metrics()
        metrics.set(BUILD_INFO, 1, __version__, platform.python_version())
        similarity = settings.similarity
        sketcher = Sketcher.planned(similarity)
        told = (
            *(settings_fingerprint(settings), similarity.measure, similarity.unit, similarity.size),
            *(similarity.threshold, sketcher.bands, sketcher.rows, similarity.verify),
            settings.index.window,
        )
        metrics.set(SETTINGS_INFO, 1, *map(str, told))
        traces = tracing(settings.tracing.endpoint, settings.kafka.instance)
        return cls(metrics, Health(), Live(metrics, settings), traces)
