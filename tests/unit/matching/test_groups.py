from stream_dedup.index.layout import Group, Member
from stream_dedup.matching import groups
from stream_dedup.matching.groups import MEMBERS_KEPT


def group_of(*members: Member) -> Group:
    """Make a group as its members join, none of them too late."""
    first = members[0]
    group = Group(
        position=0,
        fingerprint=bytes(16),
        namespace="",
        cluster=0,
        size=1,
        first_seen=first.seen,
        last_seen=first.seen,
        members=[first],
        others=0,
        signature=b"",
        short=b"",
    )
    for member in members[1:]:
        groups.join(group, member, horizon=-1)
    return group


def members(count: int, source: str = "") -> list[Member]:
    return [Member(str(number), source or str(number), number, 0) for number in range(count)]


def ids(group: Group) -> list[str]:
    return [member.id for member in group.members]


def test_the_earliest_living_member_in_scope_is_reported() -> None:
    """Expired members and those out of scope are neither named nor counted."""
    group = group_of(Member("a", "x", 1, 0), Member("b", "y", 2, 0), Member("c", "x", 3, 0))

    assert groups.reported(group, 0, "any", "x") == (group.members[0], 3)
    assert groups.reported(group, 2, "any", "x") == (group.members[1], 2)
    assert groups.reported(group, 2, "same_source", "x") == (group.members[2], 1)
    assert groups.reported(group, 2, "other_source", "x") == (group.members[1], 1)
    assert groups.reported(group, 4, "any", "x") is None
    assert groups.reported(group, 0, "same_source", "z") is None


def test_a_group_lives_as_long_as_its_member_seen_last() -> None:
    """When that one leaves, the others decide; who is seen again keeps its place."""
    group = group_of(Member("a", "", 1, 0), Member("b", "", 5, 0))
    groups.renew(group, Member("a", "", 7, 0), horizon=0)
    assert (ids(group), group.last_seen) == (["a", "b"], 7)

    assert groups.leave(group, "a")
    assert (ids(group), group.last_seen) == (["b"], 5)
    assert not groups.leave(group, "b")


def test_members_that_expired_make_room() -> None:
    """A member that joins again after its time is one member."""
    group = group_of(Member("a", "", 1, 0), Member("b", "", 5, 0))
    groups.join(group, Member("a", "", 9, 0), horizon=5)

    assert ids(group) == ["b", "a"]


def test_of_many_members_those_that_tell_most_are_kept() -> None:
    """The first stays, and of each source the newest; the rest is counted."""
    crowd = group_of(*members(MEMBERS_KEPT + 3))
    chorus = group_of(Member("f", "x", 0, 0), *members(20, source="one"))
    mixed = group_of(Member("f", "one", 0, 0), *members(14, source="one"), *members(5))

    rare = group_of(Member("f", "one", 0, 0), Member("r", "r", 0, 0), *members(20, source="one"))

    assert ids(rare) == ["f", "r", *map(str, range(6, 20))]
    assert ids(crowd) == ["0", *map(str, range(4, 19))]
    assert crowd.others == 3
    assert ids(chorus) == ["f", *map(str, range(5, 20))]
    assert {member.source for member in mixed.members} == {"one", *map(str, range(5))}
    assert groups.living_members(mixed, 0) == 20
    assert groups.reported(crowd, 0, "any", "") == (crowd.members[0], 19)


def test_members_that_are_only_counted_can_leave_and_come_back() -> None:
    """Their number is right, and the group lives on with them."""
    group = group_of(*members(MEMBERS_KEPT + 2))
    groups.renew(group, Member("1", "1", 50, 0), horizon=0)
    assert (group.others, ids(group)[-1]) == (2, "1")

    assert groups.leave(group, "2")
    assert group.others == 1
    assert group.last_seen == 50
