"""Questions about what is remembered: any thread asks, beside the one that matches."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import asdict

from stream_dedup.config import Settings
from stream_dedup.engine import Matcher, Record, Signer
from stream_dedup.events import Count, Document, Match, Ratio, RecordReference
from stream_dedup.explanation import Explanation, explain_pair
from stream_dedup.index.layout import POSITION_MAX
from stream_dedup.interfaces import Index
from stream_dedup.matching.logtime import UNDATED
from stream_dedup.matching.verdicts import matches
from stream_dedup.similarity.plan import Plan
from stream_dedup.similarity.scheme import scheme_fields
from stream_dedup.snapshot import InForce, in_force
from stream_dedup.upkeep.lookup import KnownCluster, Remembered, remembered
from stream_dedup.upkeep.standing import Standing

# What is asked about has no record.
_NOWHERE = RecordReference(topic="", partition=0, offset=0)


class FoundMatch(Match, frozen=True, kw_only=True, gc=False):
    """A match, and how likely a pair so similar is found at all, where no full bucket hides it."""

    found: Ratio


class QueryAnswer(Struct, frozen=True, kw_only=True):
    """What a new document of this text would match, best first.

    `recall` is the share found of pairs right at `threshold`. `match_count` counts the documents
    behind all matches; of `capped` buckets a part was not seen.
    """

    threshold: Ratio
    recall: Ratio
    match_count: Count
    capped: Count
    matches: tuple[FoundMatch, ...]


class Reader:
    """Answers from the index as it is; nothing that is asked is stored."""

    def __init__(self, index: Index, settings: Settings, matcher: Callable[[], Matcher]) -> None:
        """Ask through whatever matcher is at work, for it knows when the index changes."""
        similarity = settings.similarity
        self._index, self._settings, self._matcher = index, settings, matcher
        self._signer = Signer(settings)
        sketcher = self._signer.sketcher
        self._plan = Plan(
            similarity.measure,
            similarity.threshold,
            similarity.hashes,
            sketcher.bands,
            sketcher.rows,
        )
        self._in_force = in_force(settings)
        # What an index says of itself, said by the settings: it is refused where it says otherwise.
        self._scheme, self._decisions = scheme_fields(settings), Matcher.decisions(settings)

    def query(
        self,
        text: str,
        namespace: str = "",
        source: str = "",
        threshold: float | None = None,
        limit: int | None = None,
    ) -> QueryAnswer:
        """Return what a document of this text would match now, whichever verdicts are published."""
        if threshold is None:
            threshold = self._settings.similarity.threshold
        document = Document(id="?", text=text, namespace=namespace, source=source)
        signed = self._signer.sign([Record(document, POSITION_MAX, UNDATED, _NOWHERE)])
        # No document has the empty id, so this one replaces none.
        decision = self._matcher().find(signed._replace(ids=[""]), threshold)[0]
        return QueryAnswer(
            threshold=threshold,
            recall=self._found(threshold),
            match_count=decision.documents,
            capped=decision.capped,
            matches=tuple(
                FoundMatch(**asdict(match), found=self._chance(match))
                for match in matches(decision, limit or self._settings.matching.matches_max)
            ),
        )

    def explain(self, a: str, b: str, passages_max: int) -> Explanation:
        """Compare two texts, and list up to so many passages of each sort."""
        threshold = self._settings.similarity.threshold
        return explain_pair((a, b), self._signer.sketcher, threshold, passages_max)

    def document(self, document_id: str, namespace: str = "") -> Remembered | None:
        """Return what is remembered of a document, if it is."""
        found = remembered(self._index, self._standing(), document_id, namespace)
        return None if found is None or found.expired else found

    def cluster(self, document_id: str, namespace: str = "") -> KnownCluster | None:
        """Return the group of copies that a document is in, such as the one it represents."""
        found = self.document(document_id, namespace)
        return found.cluster if found else None

    def plan(self) -> InForce:
        """Return what is decided by, and what it promises."""
        return self._in_force

    def _standing(self) -> Standing:
        matcher = self._matcher()
        return Standing(
            self._scheme,
            self._decisions,
            matcher.log_time,
            matcher.tally,
            matcher.next_offset,
            matcher.texts_kept_from,
        )

    def _chance(self, match: Match) -> float:
        """An exact copy is found by its fingerprint, others by their bands."""
        return 1.0 if match.kind == "exact" else self._found(match.similarity)

    def _found(self, similarity: float) -> float:
        return float(self._plan.probability(similarity))
