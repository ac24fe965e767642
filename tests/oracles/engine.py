"""The reference for the engine: what is said of each event of a stream, by searching everything.

Nothing is indexed, packed or forgotten: groups stay in lists for ever, and whether one is still
there is asked each time. What texts have in common is looked up in a table that the test brings.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

CONTAINED_MIN = 0.95
SHORTER_MAX = 0.9
ROUNDING = 1e-9


class Event(NamedTuple):
    """A document, or a deletion where there is no text; time in milliseconds, None if unknown."""

    id: str
    namespace: str
    source: str
    time: int | None
    text: int | None


class Texts(Protocol):
    """What there is to know of numbered texts."""

    def is_empty(self, text: int) -> bool:
        """Tell whether nothing is left of the text."""
        ...

    def sizes(self, a: int, b: int) -> tuple[int, int]:
        """Return the numbers of elements, as they are known when the two are compared."""
        ...

    def same(self, a: int, b: int) -> bool:
        """Tell whether the normalised texts are the same."""
        ...

    def similarity(self, a: int, b: int) -> tuple[float, float]:
        """Return the similarity, by estimate or exactly, and its error."""
        ...

    def within_reach(self, a: int, b: int, threshold: float) -> bool:
        """Tell whether the similarity is worth computing where that takes the texts themselves."""
        ...

    def buckets(self, text: int) -> Sequence[Hashable]:
        """Return the bucket of each band."""
        ...


class Rules(NamedTuple):
    """The settings that decide; the window in milliseconds, None if nothing is ever forgotten."""

    threshold: float
    window: int | None
    bucket_size_max: int
    scope: str
    matches_max: int
    measure: str


class Found(NamedTuple):
    """A match; `seen_at` is the time that its own record bore."""

    id: str
    source: str
    seen_at: int | None
    kind: str
    bands: int
    similarity: float
    error: float
    containment: float


class Answer(NamedTuple):
    """What is said of one event."""

    type: str
    matches: tuple[Found, ...] = ()
    match_count: int = 0
    cluster: tuple[str, int] | None = None
    previous: tuple[float, float] | None = None
    capped: int = 0


@dataclass(eq=False)
class Member:
    """What an id stands for: the time of its last record, and the log time of that sighting."""

    id: str
    source: str
    time: int | None
    seen: int | None


@dataclass(eq=False)
class Group:
    """The documents of one text, in the order in which they joined."""

    position: int
    text: int
    members: list[Member]
    cluster: "Cluster | None" = None


@dataclass(eq=False)
class Cluster:
    """Groups around a representative, and how many documents joined and were not taken back."""

    representative: Group
    size: int


@dataclass(eq=False)
class Bucket:
    """Groups in the order of their arrival; whether some living one had to make room."""

    entries: list[Group] = field(default_factory=list)
    hides: bool = False


@dataclass(eq=False)
class Namespace:
    """What is remembered of one tenant."""

    groups: list[Group] = field(default_factory=list)
    buckets: defaultdict[Hashable, Bucket] = field(default_factory=lambda: defaultdict(Bucket))


class Oracle:
    """Answers each event in turn."""

    def __init__(self, texts: Texts, rules: Rules) -> None:
        self.texts = texts
        self.rules = rules
        self._count = 0
        self._now: int | None = None  # log time
        self._first_time: int | None = None
        self._horizon = -math.inf
        self._namespaces: defaultdict[str, Namespace] = defaultdict(Namespace)

    def tell(self, event: Event) -> Answer:
        """Answer an event and remember it."""
        self._count += 1
        self._advance(event.time)
        space = self._namespaces[event.namespace]
        known = self._stands_for(space, event.id)
        if event.text is None or self.texts.is_empty(event.text):
            if known:
                self._remove(*known)
            return Answer("deleted" if event.text is None else "skipped")
        if known and self.texts.same(known[0].text, event.text):
            return self._repeat(*known, event)
        answer = self._place(space, event, known)
        if known:
            answer = answer._replace(previous=self.texts.similarity(event.text, known[0].text))
        return answer

    def _advance(self, time: int | None) -> None:
        if time is not None:
            self._first_time = time if self._first_time is None else self._first_time
            self._now = time if self._now is None else max(self._now, time)
        if self._now is not None and self.rules.window is not None:
            self._horizon = max(self._horizon, self._now - self.rules.window)

    # Who is still there

    def _is_living(self, member: Member) -> bool:
        seen = self._first_time if member.seen is None else member.seen
        return seen is None or seen >= self._horizon

    def _living(self, group: Group) -> list[Member]:
        return [member for member in group.members if self._is_living(member)]

    def _in_scope(self, group: Group, source: str) -> list[Member]:
        """Return the living members with which a document of this source may match."""
        return [
            member
            for member in self._living(group)
            if self.rules.scope == "any"
            or (member.source == source) == (self.rules.scope == "same_source")
        ]

    def _stands_for(self, space: Namespace, id: str) -> tuple[Group, Member] | None:
        for group in space.groups:
            for member in self._living(group):
                if member.id == id:
                    return group, member
        return None

    def _group_of(self, space: Namespace, text: int) -> Group | None:
        for group in space.groups:
            if self._living(group) and self.texts.same(group.text, text):
                return group
        return None

    # What an event changes

    def _remove(self, group: Group, member: Member) -> None:
        group.members.remove(member)
        if group.cluster:
            group.cluster.size -= 1

    def _repeat(self, group: Group, member: Member, event: Event) -> Answer:
        member.source, member.time, member.seen = event.source, event.time, self._now
        if not self._is_open(group.cluster):
            group.cluster = Cluster(group, len(self._living(group)))
        return Answer("repeat", cluster=self._named(group))

    def _place(self, space: Namespace, event: Event, known: tuple[Group, Member] | None) -> Answer:
        """Let the document join the group of its text, or start one."""
        assert event.text is not None
        if known:
            self._remove(*known)
        member = Member(event.id, event.source, event.time, self._now)
        group = self._group_of(space, event.text)
        if group:
            return self._join(space, group, member)
        group = Group(self._count, event.text, [])
        matching, answer = self._look_up(space, group, event.source)
        group.members.append(member)
        self._join_cluster(group, matching)
        self._insert(space, group)
        space.groups.append(group)
        return answer._replace(cluster=self._named(group))

    def _join(self, space: Namespace, group: Group, member: Member) -> Answer:
        earlier = self._in_scope(group, member.source)
        if earlier:
            first, bands = earlier[0], len(self.texts.buckets(group.text))
            found = Found(first.id, first.source, first.time, "exact", bands, 1.0, 0.0, 1.0)
            answer = Answer("duplicate", (found,), len(earlier))
        else:
            _, answer = self._look_up(space, group, member.source)
        group.members.append(member)
        self._renew_cluster(group)
        return answer._replace(cluster=self._named(group))

    # Buckets

    def _look_up(self, space: Namespace, group: Group, source: str) -> tuple[list[Group], Answer]:
        """Return the groups that match, best first, and the answer without its cluster."""
        matching = [
            other
            for other in space.groups
            if self._shared(space, group, other)
            and self._in_scope(other, source)
            and self.texts.within_reach(group.text, other.text, self.rules.threshold)
            and self._similarity(group, other) >= self.rules.threshold
        ]
        matching.sort(key=lambda other: (-self._similarity(group, other), other.position))
        count = sum(len(self._in_scope(other, source)) for other in matching)
        kept = matching[: self.rules.matches_max]
        return matching, Answer(
            "duplicate" if count else "unique",
            tuple(self._found(space, group, other, source) for other in kept),
            count,
            capped=sum(self._hides(bucket) for bucket in self._buckets(space, group)),
        )

    def _buckets(self, space: Namespace, group: Group) -> Iterator[Bucket]:
        for key in self.texts.buckets(group.text):
            yield space.buckets[key]

    def _shared(self, space: Namespace, group: Group, other: Group) -> int:
        """Count the buckets of a text in which another group is to be seen."""
        return sum(other in bucket.entries for bucket in self._buckets(space, group))

    def _is_full(self, bucket: Bucket) -> bool:
        living = sum(bool(self._living(entry)) for entry in bucket.entries)
        return living >= self.rules.bucket_size_max

    def _hides(self, bucket: Bucket) -> bool:
        return bucket.hides and self._is_full(bucket)

    def _insert(self, space: Namespace, group: Group) -> None:
        for bucket in self._buckets(space, group):
            bucket.hides = self._hides(bucket)
            bucket.entries = [entry for entry in bucket.entries if self._living(entry)]
            while self._is_full(bucket):
                evictable = [entry for entry in bucket.entries if not self._leads(entry)]
                bucket.entries.remove((evictable or bucket.entries)[0])
                bucket.hides = True
            bucket.entries.append(group)

    # Clusters

    def _leads(self, group: Group) -> bool:
        """Tell whether a group represents others, or more than one document of its own."""
        cluster = group.cluster
        return cluster is not None and cluster.representative is group and cluster.size >= 2

    def _is_open(self, cluster: Cluster | None) -> bool:
        return cluster is not None and bool(self._living(cluster.representative))

    def _join_cluster(self, group: Group, matching: Sequence[Group]) -> None:
        """Let a new group join the best match that represents a cluster, or start its own."""
        for other in matching:
            if other.cluster and other.cluster.representative is other:
                group.cluster = other.cluster
                group.cluster.size += 1
                return
        group.cluster = Cluster(group, 1)

    def _renew_cluster(self, group: Group) -> None:
        """Count a document that has joined a group."""
        if group.cluster and self._is_open(group.cluster):
            group.cluster.size += 1
        else:
            group.cluster = Cluster(group, len(self._living(group)))

    def _named(self, group: Group) -> tuple[str, int]:
        """Name the cluster by its representative's earliest member."""
        assert group.cluster
        return self._living(group.cluster.representative)[0].id, group.cluster.size

    # Matches

    def _similarity(self, group: Group, other: Group) -> float:
        return self.texts.similarity(group.text, other.text)[0]

    def _found(self, space: Namespace, group: Group, other: Group, source: str) -> Found:
        similarity, error = self.texts.similarity(group.text, other.text)
        size, other_size = self.texts.sizes(group.text, other.text)
        contained = self._containment(similarity, size, other_size)
        containing = self._containment(similarity, other_size, size)
        first = self._in_scope(other, source)[0]
        return Found(
            first.id,
            first.source,
            first.time,
            _kind(contained, containing, size, other_size),
            self._shared(space, group, other),
            similarity,
            error,
            contained,
        )

    def _containment(self, similarity: float, size: int, other_size: int) -> float:
        """Return the share of a text found in another, as it follows from similarity and sizes."""
        if self.rules.measure == "jaccard":
            shared = similarity * (size + other_size) / (1 + similarity)
        else:
            shared = similarity * math.sqrt(size * other_size)
        return min(1.0, shared / size)


def _kind(contained: float, containing: float, size: int, other_size: int) -> str:
    """Say how two different texts are alike."""
    least, most = CONTAINED_MIN - ROUNDING, SHORTER_MAX + ROUNDING
    if containing >= least and other_size <= most * size:
        return "extension"
    if contained >= least and size <= most * other_size:
        return "excerpt"
    return "near"
