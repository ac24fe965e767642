"""How a service is at one moment, as the live page draws it. Keys of mappings are labels."""

from math import inf

import numpy as np
from msgspec import Struct

from stream_dedup import __version__
from stream_dedup.config import Settings
from stream_dedup.similarity.plan import Plan
from stream_dedup.similarity.scheme import settings_fingerprint
from stream_dedup.similarity.sketch import Sketcher


class LatestMatch(Struct, frozen=True, kw_only=True):
    """A document that was decided lately, and the best of what it matched."""

    number: int  # among all matches since the start
    decided_at: float
    type: str
    id: str
    source: str
    namespace: str
    seen_at: str | None
    kind: str
    similarity: float
    error: float
    containment: float
    matched_id: str
    matched_source: str
    matched_seen_at: str | None
    match_count: int
    cluster_id: str | None
    cluster_size: int | None


class GrowingCluster(Struct, frozen=True, kw_only=True):
    """A cluster that documents joined of late."""

    id: str
    namespace: str
    size: int
    gained: int
    gained_last_minute: int


class Series(Struct, frozen=True, kw_only=True):
    """One value a slice of time, oldest first; none before the start, or where none was measured.

    The slice under way is left out: it would always look like a drop.
    """

    until: float
    slice_seconds: int
    documents: list[int | None]
    duplicates: list[int | None]
    p50_seconds: list[float | None]
    p99_seconds: list[float | None]
    lag_seconds: list[float | None]


class Histogram(Struct, frozen=True, kw_only=True):
    """How many values fell between each two bounds, the last beyond all."""

    bounds: tuple[float, ...]
    counts: list[int]


class InForce(Struct, frozen=True, kw_only=True):
    """What is decided by, and what it promises."""

    version: str
    application: str
    instance: str
    fingerprint: str
    measure: str
    unit: str
    size: int
    hashes: int
    threshold: float
    bands: int
    rows: int
    verify: str
    window_seconds: float | None  # none: nothing is forgotten
    scope: str
    emit: str
    recall_at_threshold: float
    half_point: float
    curve: list[float]  # how likely a pair becomes a candidate, by similarity: 0, 0.01, … 1


class Snapshot(Struct, frozen=True, kw_only=True):
    """All of it. Times are seconds since the epoch, of the service's own clock."""

    at: float
    started_at: float
    outcomes: dict[str, int]
    outcomes_last_minute: dict[str, int]
    p50_seconds: float | None  # of the last minute
    p99_seconds: float | None
    series: Series
    lag_records: dict[str, float]
    lag_seconds: dict[str, float]
    restore_remaining: float | None
    index_bytes: float | None
    index_keys: dict[str, float]
    disk_free_bytes: float | None
    log_time: float | None  # what the window counts back from, to `oldest`
    oldest: float | None
    recall: dict[str, float]
    recall_pairs: dict[str, float]
    similarity: Histogram
    matches: int  # since the start
    latest: list[LatestMatch]  # newest first
    growing: list[GrowingCluster]  # those that gained most first
    settings: InForce


def in_force(settings: Settings) -> InForce:
    """Say what of the settings the page shows, bands and rows as planned."""
    similarity, sketcher = settings.similarity, Sketcher.planned(settings.similarity)
    bands, rows = sketcher.bands, sketcher.rows
    plan = Plan(similarity.measure, similarity.threshold, similarity.hashes, bands, rows)
    window = settings.index.window
    return InForce(
        version=__version__,
        application=settings.kafka.application,
        instance=settings.kafka.instance,
        fingerprint=settings_fingerprint(settings),
        measure=similarity.measure,
        unit=similarity.unit,
        size=similarity.size,
        hashes=similarity.hashes,
        threshold=similarity.threshold,
        bands=bands,
        rows=rows,
        verify=similarity.verify,
        window_seconds=None if window == inf else float(window),
        scope=settings.matching.scope,
        emit=settings.events.emit,
        recall_at_threshold=plan.recall,
        half_point=plan.half_point,
        curve=plan.probability(np.linspace(0.0, 1.0, 101)).round(6).tolist(),
    )
