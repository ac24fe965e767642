"""What can be wrong with a row by itself, or with the numbers of a cluster. Pure."""

from collections.abc import Iterator, Mapping

from stream_dedup.index.layout import Cluster, Group, Sighting
from stream_dedup.matching.groups import MEMBERS_KEPT
from stream_dedup.upkeep.standing import Standing


def group_problems(group: Group, state: Standing) -> Iterator[str]:
    """Yield what is wrong with the numbers of a row of texts."""
    seen = [member.seen for member in group.members]
    latest = max(seen, default=group.last_seen)
    if group.position >= state.next_offset:
        yield f"not before the next offset, {state.next_offset}"
    if group.cluster > group.position:
        yield f"in the cluster of a later text, {group.cluster}"
    if not group.first_seen <= group.last_seen <= state.log_time.now:
        yield (
            f"first seen at {group.first_seen}, last at {group.last_seen}, "
            f"log time is {state.log_time.now}"
        )
    if latest > group.last_seen or (not group.others and latest != group.last_seen):
        yield f"last seen at {group.last_seen}, its latest member at {latest}"
    if not group.size:
        yield "has no elements"
    if not seen and not group.others:
        yield "has no members"
    if len(seen) > MEMBERS_KEPT:
        yield f"lists {len(seen)} members, and {MEMBERS_KEPT} is the limit"
    if len({member.id for member in group.members}) < len(seen):
        yield "lists a member twice"
    until = [stretch.until for stretch in group.others]
    if until != sorted(set(until)) or any(stretch.documents < 1 for stretch in group.others):
        yield "counts members of stretches that are out of order, or of nobody"


def sighting_problems(sighting: Sighting, state: Standing) -> Iterator[str]:
    """Yield what is wrong with the numbers of a row of ids."""
    if sighting.position >= state.next_offset:
        yield f"at {sighting.position}, not before the next offset, {state.next_offset}"
    if sighting.seen > state.log_time.now:
        yield f"seen at {sighting.seen}, log time is {state.log_time.now}"


def cluster_problems(
    position: int, cluster: Cluster, groups: Mapping[int, Group], joined: int, state: Standing
) -> Iterator[str]:
    """Yield what is wrong with a cluster that so many documents have joined, at the least.

    `groups` are the rows of the texts it names. A closed one, whose representative is not living,
    is not asked for more than to be there.
    """
    representative = groups.get(position)
    if representative is None or not state.is_living(representative.last_seen):
        return
    if representative.cluster != position:
        yield f"its representative is in cluster {representative.cluster}"
    if max(cluster.positions, default=0) >= state.next_offset:
        yield f"names a text not before the next offset, {state.next_offset}"
    named = set(cluster.positions) & groups.keys()
    strangers = sorted(name for name in named if groups[name].cluster != position)
    if strangers:
        yield f"names texts of other clusters: {strangers[:3]}"
    documents = joined + living_listed(representative, state)
    if cluster.size < max(1, documents):
        yield f"of {cluster.size} documents, and {documents} are there"


def living_listed(group: Group, state: Standing) -> int:
    """Count the members of a group that are listed and living."""
    return sum(state.is_living(member.seen) for member in group.members)
