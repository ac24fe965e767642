from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.index.layout import Group, Member, Stretch
from stream_dedup.matching import groups
from stream_dedup.matching.groups import MEMBERS_KEPT
from stream_dedup.matching.logtime import UNDATED


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
        others=[],
        signature=b"",
        short=b"",
    )
    for member in members[1:]:
        groups.join(group, member, horizon=-1, stretch=1)
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
    groups.renew(group, Member("a", "", 7, 0), seen=1, horizon=0, stretch=1)
    assert (ids(group), group.last_seen) == (["a", "b"], 7)

    assert groups.leave(group, "a", 7)
    assert (ids(group), group.last_seen) == (["b"], 5)
    assert not groups.leave(group, "b", 5)


def test_members_that_expired_make_room() -> None:
    """A member that joins again after its time is one member."""
    group = group_of(Member("a", "", 1, 0), Member("b", "", 5, 0))
    groups.join(group, Member("a", "", 9, 0), horizon=5, stretch=1)

    assert ids(group) == ["b", "a"]


def test_of_many_members_those_that_tell_most_are_kept() -> None:
    """The first stays, and of each source the newest; the rest is counted."""
    crowd = group_of(*members(MEMBERS_KEPT + 3))
    chorus = group_of(Member("f", "x", 0, 0), *members(20, source="one"))
    mixed = group_of(Member("f", "one", 0, 0), *members(14, source="one"), *members(5))

    rare = group_of(Member("f", "one", 0, 0), Member("r", "r", 0, 0), *members(20, source="one"))

    assert ids(rare) == ["f", "r", *map(str, range(6, 20))]
    assert ids(crowd) == ["0", *map(str, range(4, 19))]
    assert crowd.others == [Stretch(1, 1), Stretch(2, 1), Stretch(3, 1)]
    assert ids(chorus) == ["f", *map(str, range(5, 20))]
    assert {member.source for member in mixed.members} == {"one", *map(str, range(5))}
    assert groups.living_members(mixed, 0) == 20
    assert groups.reported(crowd, 0, "any", "") == (crowd.members[0], 19)


def test_members_that_are_only_counted_can_leave_and_come_back() -> None:
    """Their number is right, and the group lives on with them."""
    group = group_of(*members(MEMBERS_KEPT + 2))
    groups.renew(group, Member("1", "1", 50, 0), seen=1, horizon=0, stretch=1)
    assert (groups.counted(group, 0), ids(group)[-1]) == (2, "1")

    assert groups.leave(group, "2", 2)
    assert group.others == [Stretch(3, 1)]
    assert group.last_seen == 50
    for name in ids(group):
        assert groups.leave(group, name, 0)
    assert group.last_seen == 3
    assert not groups.leave(group, "3", 3)
    assert not groups.leave(group, "nobody", 3)


def test_a_row_stays_short_however_long_a_text_keeps_coming() -> None:
    """Stretches that have left the window are forgotten."""
    group = group_of(Member("first", "", 0, 0))
    for now in range(1, 1000):
        groups.join(group, Member(str(now), "", now, 0), horizon=now - 128, stretch=2)
        assert len(group.others) <= 65


def test_a_member_that_leaves_is_counted_no_more_whatever_it_was_counted_in() -> None:
    """Stretches of another window may end before it was seen: the last one is taken then."""
    group = group_of(*members(MEMBERS_KEPT))
    group.others = [Stretch(2, 1), Stretch(5, 2)]

    groups.leave(group, "unlisted", 9)
    assert group.others == [Stretch(2, 1), Stretch(5, 1)]


def test_a_stretch_is_a_part_of_the_window() -> None:
    """Times in it count as one; where nothing is forgotten all do, also what has no time."""
    assert groups.stretch_of(6400) == 100
    assert groups.stretch_of(6401) == 101
    assert groups.stretch_of(1) == 1
    for window, seen, stretches in ((6400, 0, 4), (None, 0, 1), (None, UNDATED, 2)):
        group = group_of(Member("first", "", 0, 0))
        stretch = groups.stretch_of(window)
        for number in range(MEMBERS_KEPT + 399):
            member = Member(str(number), "", number if number > 99 else seen, 0)
            groups.join(group, member, UNDATED, stretch)
        assert len(group.others) == stretches
        assert groups.living_members(group, UNDATED) == MEMBERS_KEPT + 400


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["come", "come", "come", "leave"]),
            st.integers(0, 39),
            st.integers(0, 3),
        ),
        max_size=300,
    ),
    window=st.sampled_from([10, 63, 64 * 2, 64 * 3 + 1, 64 * 5]),
)
def test_members_are_counted_as_long_as_they_live_and_hardly_longer(
    steps: list[tuple[str, int, int]], window: int
) -> None:
    """However many come, come again and leave: a count is exact but for the end of the window.

    It includes, at the most, those who left the window within its last 64th part.
    """
    group = group_of(Member("first", "", 0, 0))
    stretch = groups.stretch_of(window)
    living, left = {"first": 0}, list[int]()
    now = 0
    for kind, number, step in steps:
        now += step
        horizon = now - window
        left += [seen for seen in living.values() if seen < horizon]
        living = {name: seen for name, seen in living.items() if seen >= horizon}
        name = f"d{number}"
        seen = living.pop(name, None)
        if kind == "leave" and seen is not None:
            groups.leave(group, name, seen)
        elif kind == "come" and seen is not None:
            groups.renew(group, Member(name, "", now, 0), seen, horizon, stretch)
        elif kind == "come":
            groups.join(group, Member(name, "", now, 0), horizon, stretch)
        if kind == "come":
            living[name] = now
        of_late = sum(seen >= horizon - stretch for seen in left)
        assert len(living) <= groups.living_members(group, horizon) <= len(living) + of_late
        assert len(group.others) <= 66
        latest = max(living.values(), default=now)
        if living:
            assert group.last_seen >= latest
            assert group.last_seen - latest < stretch
