"""Groups of identical texts: who belongs to one, who of them is living. Pure.

A group is living as long as one of its members is: neither deleted nor replaced, and seen no longer
ago than the window. `Group.last_seen` is kept to be that of its living member seen last.
"""

from typing import Literal, NamedTuple

from stream_dedup.index.layout import Group, Member

Scope = Literal["any", "same_source", "other_source"]

# Enough for who spread a text first; a text that thousands share must not make a row of thousands.
MEMBERS_KEPT = 16


class Reported(NamedTuple):
    """What a verdict says of a group."""

    member: Member  # the earliest that is living and in scope
    documents: int  # how many are


def reported(group: Group, horizon: int, scope: Scope, source: str) -> Reported | None:
    """Return what a document of this source is told of the group, or nothing."""
    same = scope == "same_source"
    found = [
        member
        for member in group.members
        if member.seen >= horizon and (scope == "any" or (member.source == source) is same)
    ]
    if not found:
        return None
    return Reported(found[0], len(found) + (group.others if scope == "any" else 0))


def living_members(group: Group, horizon: int) -> int:
    """Return how many members are living; those that are only counted live as long as the group."""
    return sum(member.seen >= horizon for member in group.members) + group.others


def join(group: Group, member: Member, horizon: int) -> None:
    """Take in a member, the newest; forget those that are not living any more."""
    group.members = [known for known in group.members if known.seen >= horizon]
    group.members.append(member)
    group.last_seen = member.seen
    if len(group.members) > MEMBERS_KEPT:
        del group.members[_least_telling(group.members)]
        group.others += 1


def renew(group: Group, member: Member, horizon: int) -> None:
    """See a member again: it keeps its place among the members."""
    for place, known in enumerate(group.members):
        if known.id == member.id:
            group.members[place] = member
            group.last_seen = member.seen
            return
    group.others -= 1
    join(group, member, horizon)


def leave(group: Group, document_id: str) -> bool:
    """Let a member go; tell whether any is left, living or not."""
    kept = [member for member in group.members if member.id != document_id]
    if len(kept) == len(group.members):
        group.others -= 1
    group.members = kept
    if not group.others:
        group.last_seen = max((member.seen for member in kept), default=group.last_seen)
    return bool(kept or group.others)


def _least_telling(members: list[Member]) -> int:
    """Choose the oldest whose source was seen again later, or else the oldest but for the first."""
    later: set[str] = set()
    choice = 1
    for place in range(len(members) - 1, 0, -1):
        if members[place].source in later:
            choice = place
        later.add(members[place].source)
    return choice
