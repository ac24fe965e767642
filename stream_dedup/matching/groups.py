"""Groups of identical texts: who belongs to one, who of them is living. Pure.

A group is living as long as one of its members is: neither deleted nor replaced, and seen no longer
ago than the window. `Group.last_seen` is kept to be that of its living member seen last.
"""

import math
from bisect import bisect_left, bisect_right
from typing import Literal, NamedTuple

from stream_dedup.index.layout import Group, Member, Stretch

Scope = Literal["any", "same_source", "other_source"]

# Enough for who spread a text first; a text that thousands share must not make a row of thousands.
MEMBERS_KEPT = 16
# The others are counted by stretches of time, as long as the one seen last in each. So many make a
# window: a count is too high by those at most that left it within its last 64th part, and a row
# stays short.
_STRETCHES = 64
_ALL_TIME = 1 << 62  # two stretches as long hold all times, and what has none


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
    return Reported(found[0], len(found) + (counted(group, horizon) if scope == "any" else 0))


def living_members(group: Group, horizon: int) -> int:
    """Return how many members are living."""
    return sum(member.seen >= horizon for member in group.members) + counted(group, horizon)


def counted(group: Group, horizon: int) -> int:
    """Return how many members are living of those that are only counted."""
    return sum(stretch.documents for stretch in group.others if stretch.until >= horizon)


def stretch_of(window: int | None) -> int:
    """Return for how long members that are only counted count as seen at one time."""
    return _ALL_TIME if window is None else math.ceil(window / _STRETCHES)


def join(group: Group, member: Member, horizon: int, stretch: int) -> None:
    """Take in a member, the newest; forget those that are not living any more."""
    group.members = [known for known in group.members if known.seen >= horizon]
    group.members.append(member)
    group.last_seen = member.seen
    group.others = [known for known in group.others if known.until >= horizon]
    if len(group.members) > MEMBERS_KEPT:
        _count(group, group.members.pop(_least_telling(group.members)).seen, stretch)


def renew(group: Group, member: Member, seen: int, horizon: int, stretch: int) -> None:
    """See a member again, after `seen`: it keeps its place among the members."""
    for place, known in enumerate(group.members):
        if known.id == member.id:
            group.members[place] = member
            group.last_seen = member.seen
            return
    _discount(group, seen)
    join(group, member, horizon, stretch)


def leave(group: Group, document_id: str, seen: int) -> bool:
    """Let a member go that was last seen then; tell whether any is left, living or not."""
    kept = [member for member in group.members if member.id != document_id]
    if len(kept) == len(group.members):
        _discount(group, seen)
    group.members = kept
    left = [member.seen for member in kept] + [known.until for known in group.others]
    group.last_seen = min(group.last_seen, max(left, default=group.last_seen))
    return bool(left)


def _count(group: Group, seen: int, stretch: int) -> None:
    """Count a member that is not kept."""
    place = bisect_right(group.others, seen // stretch, key=lambda known: known.until // stretch)
    if not place or group.others[place - 1].until // stretch != seen // stretch:
        group.others.insert(place, Stretch(seen, 0))
        place += 1
    known = group.others[place - 1]
    known.until, known.documents = max(seen, known.until), known.documents + 1


def _discount(group: Group, seen: int) -> None:
    """Count a member no more; of another window the stretch it was counted in may be another."""
    if not group.others:
        return
    place = bisect_left(group.others, seen, key=lambda known: known.until)
    place = min(place, len(group.others) - 1)
    group.others[place].documents -= 1
    if not group.others[place].documents:
        del group.others[place]


def _least_telling(members: list[Member]) -> int:
    """Choose the oldest whose source was seen again later, or else the oldest but for the first."""
    later: set[str] = set()
    choice = 1
    for place in range(len(members) - 1, 0, -1):
        if members[place].source in later:
            choice = place
        later.add(members[place].source)
    return choice
