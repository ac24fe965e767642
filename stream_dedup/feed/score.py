"""Verdicts held against what was planted: what was found, what was missed, what was wrong."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from stream_dedup.events import Document, Verdict
from stream_dedup.feed.newsroom import Role
from stream_dedup.feed.planting import COPIES, NO_COPIES, SAME_ID, Planted


class Mistake(NamedTuple):
    """A text, and the texts that it should have been matched with, or should not."""

    role: Role
    text: str
    others: tuple[str, ...]


class Score:
    """Counts documents, each once, whatever the number of its matches."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self.planted: Counter[Role] = Counter()
        self.found: Counter[Role] = Counter()  # copies recognised as what they are copies of
        self.reported: Counter[Role] = Counter()  # as a copy of anything, rightly or not
        self.missed: list[Mistake] = []
        self.wrong: list[Mistake] = []

    def add(self, planted: Planted, verdict: Verdict, standing: Mapping[str, Document]) -> None:
        """Judge the verdict; `standing` holds by id all documents as they were before it."""
        document = planted.event
        if not isinstance(document, Document):
            return
        role, matched = planted.role, {match.id for match in verdict.matches}
        renewed = self._known_by_id(verdict)
        found = renewed if role in SAME_ID else bool(matched & planted.copies)
        self.planted[role] += 1
        self.found[role] += found
        self.reported[role] += bool(matched) or renewed
        if role in COPIES and not found:
            sources = {document.id} if role in SAME_ID else planted.copies
            self.missed.append(_mistake(planted, document.text, sources, standing))
        if strangers := matched - planted.copies:
            self.wrong.append(_mistake(planted, document.text, strangers, standing))

    def _known_by_id(self, verdict: Verdict) -> bool:
        """Tell whether it was recognised as what its id stood for, or as a revision of that."""
        if verdict.previous is not None:
            return verdict.previous.similarity >= self._threshold
        return verdict.type == "repeat"

    @property
    def copies(self) -> int:
        """How many documents were planted as copies."""
        return sum(self.planted[role] for role in COPIES)

    @property
    def recall(self) -> float | None:
        """The share of planted copies that were found."""
        return 1 - len(self.missed) / self.copies if self.copies else None

    @property
    def precision(self) -> float | None:
        """The share of reported documents all of whose matches are right."""
        reported = self.reported.total()
        return 1 - len(self.wrong) / reported if reported else None

    def rows(self, copies: bool) -> list[tuple[Role, int, int]]:
        """List the roles of copies, or of others, with how many there were and were reported."""
        if copies:
            return [(role, self.planted[role], self.found[role]) for role in COPIES]
        return [(role, self.planted[role], self.reported[role]) for role in NO_COPIES]


def _mistake(
    planted: Planted, text: str, ids: frozenset[str] | set[str], standing: Mapping[str, Document]
) -> Mistake:
    return Mistake(planted.role, text, tuple(standing[identity].text for identity in sorted(ids)))
