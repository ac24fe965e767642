"""What an index remembers of one document."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from stream_dedup.index import layout
from stream_dedup.index.layout import Group, Member
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.matching import groups
from stream_dedup.signing import decompressed
from stream_dedup.upkeep.standing import Standing
from stream_dedup.upkeep.statistics import moment


class Reference(Struct, frozen=True, kw_only=True):
    """The record that the document came with."""

    topic: str
    partition: int
    offset: int
    position: int  # in the log of the index, of the first document with this text


class KnownMember(Struct, frozen=True, kw_only=True):
    """A document with the same text."""

    id: str
    source: str
    seen: str | None
    living: bool


class KnownGroup(Struct, frozen=True, kw_only=True):
    """The documents whose texts are identical."""

    living: int
    kept: int
    first: KnownMember | None
    latest: KnownMember | None
    members: list[KnownMember]
    first_seen: str | None
    last_seen: str | None
    sources: list[str]
    elements: int  # shingles of the text


class KnownCluster(Struct, frozen=True, kw_only=True):
    """The group of copies that the text belongs to."""

    id: str | None  # of the representative; None if it is gone, and the cluster closed
    size: int
    last: list[str]  # one document of each text that joined last and is still there


class Remembered(Struct, frozen=True, kw_only=True):
    """All that `index get` tells."""

    id: str
    namespace: str
    expired: bool
    seen: str | None
    record: Reference
    group: KnownGroup | None
    cluster: KnownCluster | None
    text: str | None


def remembered(
    index: Index, state: Standing, document_id: str, namespace: str
) -> Remembered | None:
    """Look a document up; one that the window has let go may lie there still, as expired."""
    value = index.read(Keyspace.IDS, [layout.id_key(namespace, document_id)])[0]
    if value is None:
        return None
    sighting = layout.decode_sighting(value)
    living = state.is_living(sighting.seen)
    group = next(_groups(index, state, [sighting.position]), None) if living else None
    return Remembered(
        id=document_id,
        namespace=namespace,
        expired=not living,
        seen=moment(sighting.seen),
        record=Reference(
            topic=sighting.topic,
            partition=sighting.partition,
            offset=sighting.offset,
            position=sighting.position,
        ),
        group=_known_group(group, state) if group else None,
        cluster=_known_cluster(index, state, group) if group else None,
        text=_text(index, sighting.position) if living else None,
    )


def _groups(index: Index, state: Standing, positions: Iterable[int]) -> Iterator[Group]:
    """Yield the living groups at these positions, in ascending order."""
    keys = [layout.position_key(position) for position in sorted(set(positions))]
    for key, value in zip(keys, index.read(Keyspace.TEXTS, keys), strict=True):
        if value is not None and state.is_living((group := state.group(key, value)).last_seen):
            yield group


def _known_group(group: Group, state: Standing) -> KnownGroup:
    known = {member.id: _known_member(member, state) for member in group.members}
    latest = max(group.members, key=lambda member: member.seen, default=None)
    return KnownGroup(
        living=groups.living_members(group, state.log_time.horizon),
        kept=len(known),
        first=next(iter(known.values()), None),
        latest=known[latest.id] if latest else None,
        members=list(known.values()),
        first_seen=moment(group.first_seen),
        last_seen=moment(group.last_seen),
        sources=sorted({member.source for member in known.values() if member.living}),
        elements=group.size,
    )


def _known_member(member: Member, state: Standing) -> KnownMember:
    return KnownMember(
        id=member.id,
        source=member.source,
        seen=moment(member.seen),
        living=state.is_living(member.seen),
    )


def _known_cluster(index: Index, state: Standing, group: Group) -> KnownCluster:
    key = layout.position_key(group.cluster)
    value = index.read(Keyspace.CLUSTERS, [key])[0]
    joined = layout.decode_cluster(value) if value else layout.Cluster(1, [group.position])
    there = list(_groups(index, state, [*joined.positions, group.cluster]))
    representative = [_spokesman(row, state) for row in there if row.position == group.cluster]
    return KnownCluster(
        id=representative[0] if representative else None,
        size=joined.size,
        last=[_spokesman(row, state) for row in there if row.cluster == group.cluster],
    )


def _spokesman(group: Group, state: Standing) -> str:
    """Return the id by which verdicts name a group: that of its earliest living member."""
    living = [member.id for member in group.members if state.is_living(member.seen)]
    return living[0] if living else f"a text at position {group.position}"


def _text(index: Index, position: int) -> str | None:
    original = index.read(Keyspace.ORIGINALS, [layout.position_key(position)])[0]
    return None if original is None else decompressed(original)
