"""What a role tells of itself while it works: numbers under its name, and what it is doing."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np

from stream_dedup.engine import Matched
from stream_dedup.errors import DocumentRejected
from stream_dedup.health import Phase
from stream_dedup.kafka.follower import Step
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.metrics import (
    BATCH,
    BUCKET_SIZE,
    CANDIDATES,
    CAPPED,
    CLUSTER_SIZE,
    COMPARED,
    DOCUMENTS,
    EVICTED,
    FENCED,
    LATENCY,
    MATCHES,
    PASSED_OVER,
    PRODUCERS,
    REJECTED,
    RESTORES,
    SIMILARITY,
    STEP,
    TRANSACTIONS,
    Metric,
)
from stream_dedup.panel import Panel
from stream_dedup.tracing import Link


class Vitals:
    """The part of a panel that belongs to one role."""

    def __init__(self, role: str, panel: Panel) -> None:
        self._role = role
        self._metrics, self._health, self._live, self._tracing = panel
        self.tell("starting")
        # What never happened is told as well: else its first time is no increase.
        for result in ("committed", "aborted", "unknown"):
            self.count(TRANSACTIONS, result, amount=0)
        for metric in (FENCED, PRODUCERS):
            self.count(metric, amount=0)

    def tell(self, phase: Phase, reason: str = "") -> None:
        """Say what the role does; often, for silence means that it hangs."""
        self._health.tell(self._role, phase, reason)

    def count(self, metric: Metric, *labels: str, amount: float = 1) -> None:
        """Count under the role's name."""
        self._metrics.add(metric, amount, self._role, *labels)

    def put(self, metric: Metric, value: float) -> None:
        """Say how it is now, under the role's name where more than one can know."""
        labels = [self._role] if metric.labels else []
        self._metrics.set(metric, value, *labels)

    def timed(self, step: str) -> AbstractContextManager[None]:
        """Time a step of a batch."""
        return self._metrics.timed(self._role, step)

    def traced(self, topic: str) -> AbstractContextManager[Link]:
        """Be around the work on a batch of records of this topic."""
        return self._tracing.batch(self._role, topic)

    def restored(self) -> None:
        """Count an index that is level with the log again."""
        self._metrics.add(RESTORES)

    def signed(self, records: int, rejections: Sequence[DocumentRejected]) -> None:
        """Count a batch that was signed and committed."""
        self._metrics.observe(BATCH, records, self._role)
        self._metrics.add(DOCUMENTS, len(rejections), "rejected")
        for kind, count in Counter(rejection.kind for rejection in rejections).items():
            self._metrics.add(REJECTED, count, kind)

    def matched(self, step: Step) -> None:
        """Count a batch that was decided and committed; its verdicts can be read by now."""
        now, matched = time.time(), step.matched
        self._metrics.observe(BATCH, matched.batch.size, self._role)
        self._metrics.add(PASSED_OVER, step.left_out)
        arrived = np.array([extra.arrived for extra in step.extras], np.int64)
        seconds = now - arrived[arrived != UNDATED] / 1000
        self._metrics.observe(LATENCY, np.maximum(seconds, 0))
        self._count_decisions(matched)
        self._count_surveys(matched)
        self._live.decided(matched, now)

    def _count_decisions(self, matched: Matched) -> None:
        add, decisions = self._metrics.add, matched.decisions
        outcomes = Counter(
            decision.found[0].kind if decision.type == "duplicate" else decision.type
            for decision in decisions
        )
        for outcome, count in outcomes.items():
            add(DOCUMENTS, count, outcome)
        kinds = Counter(found.kind for decision in decisions for found in decision.found)
        for kind, count in kinds.items():
            add(MATCHES, count, kind)
        add(CAPPED, sum(decision.capped > 0 for decision in decisions))
        add(EVICTED, sum(decision.evicted for decision in decisions))
        duplicates = [decision for decision in decisions if decision.type == "duplicate"]
        sizes = [decision.cluster.size for decision in duplicates if decision.cluster]
        self._metrics.observe(CLUSTER_SIZE, sizes)

    def _count_surveys(self, matched: Matched) -> None:
        observe, look_up, verify = self._metrics.observe, 0.0, 0.0
        highest = np.full(matched.batch.size, -1.0)  # of events that have nothing to resemble
        for survey in matched.surveys():
            observe(CANDIDATES, survey.candidates)
            highest[survey.events] = survey.highest
            observe(BUCKET_SIZE, survey.bucket_sizes)
            self._metrics.add(COMPARED, survey.matched, "matched")
            self._metrics.add(COMPARED, int(survey.candidates.sum()) - survey.matched, "below")
            look_up += survey.look_up_seconds
            verify += survey.verify_seconds
        for place, decision in enumerate(matched.decisions):
            if decision.type == "repeat":
                highest[place] = -1
            elif decision.found and decision.found[0].kind == "exact":
                highest[place] = 1
        observe(SIMILARITY, highest[highest >= 0])
        observe(STEP, look_up, self._role, "look_up")
        observe(STEP, verify, self._role, "verify")
