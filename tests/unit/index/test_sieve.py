"""The sieve: it may let pass what was never written, and must never hold back what was."""

import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.index import sieve as sieves
from stream_dedup.index.sieve import Sieve, Sieves
from stream_dedup.interfaces import Keyspace, Puts

Chunks = list[list[bytes]]

SPACE = 1 << 20
keys = st.lists(st.binary(max_size=20), max_size=20)


def numbered(numbers: range) -> list[bytes]:
    """Make as many keys, evenly spread as in an index: others for each start."""
    flat = random.Random(numbers.start).randbytes(6 * len(numbers))
    return [flat[at : at + 6] for at in range(0, len(flat), 6)]


def new(bytes_max: int = SPACE) -> Sieve:
    """Make the sieve of a family without keys."""
    return Sieve(lambda: iter(()), 0, bytes_max)


def share_passing(sieve: Sieve, among: Sequence[bytes]) -> float:
    return len(sieve.passing(among)) / len(among)


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each call take in one portion."""
    monkeypatch.setattr(sieves, "_SECONDS_MAX", 0.0)


@given(written=st.lists(keys, max_size=4), added=st.lists(keys, max_size=4))
def test_what_was_written_always_passes(written: Chunks, added: Chunks) -> None:
    """Before an opening or after it, while the keys that were there are still taken in or later."""
    before = [key for portion in written for key in portion]
    sieve = Sieve(lambda: iter(written), len(before), SPACE)
    there = list(before)

    for portion in [*added, [], [], [], []]:
        sieve.catch_up()
        sieve.add(portion)
        there += portion
        if sieve.is_whole:
            assert sieve.passing(there) == list(range(len(there)))


@pytest.mark.usefixtures("no_time")
def test_it_may_not_be_asked_before_it_has_all_keys() -> None:
    """After an opening the keys that are there come a portion a write; what is written as well."""
    there = [numbered(range(start, start + 100)) for start in (0, 100, 200)]
    sieve = Sieve(lambda: iter(there), 300, SPACE)
    later = numbered(range(1000, 1100))

    states = []
    for portion in (later[:50], later[50:], [], []):
        sieve.catch_up()
        sieve.add(portion)
        states.append(sieve.is_whole)

    assert states == [False, False, False, True]
    assert share_passing(sieve, [key for portion in (*there, later) for key in portion]) == 1
    assert share_passing(sieve, numbered(range(5000, 6000))) == 0


def test_what_was_never_written_seldom_passes() -> None:
    """Of two hundred such keys about one does, where there are as many as there is room for."""
    sieve = new()
    sieve.add(numbered(range(680_000)))

    assert 0.003 < share_passing(sieve, numbered(range(1_000_000, 1_100_000))) < 0.008


def test_one_that_is_too_small_is_followed_by_a_larger_one() -> None:
    """It grows from the keys of the family, as far as it may, and answers meanwhile."""
    there: Chunks = []
    sieve = Sieve(lambda: iter(list(there)), 0, 3 * SPACE)
    sizes = []
    for start in range(0, 2_400_000, 200_000):
        portion = numbered(range(start, start + 200_000))
        sieve.catch_up()
        sieve.add(portion)
        there.append(portion)
        assert share_passing(sieve, portion[:1000]) == 1
        sizes.append(sieve.size_bytes)

    for _ in range(100):
        sieve.catch_up()
    assert sizes[0] == SPACE
    assert max(sizes) <= (1 + 3) * SPACE, "for the time in which one follows the other"
    assert sieve.size_bytes == 3 * SPACE
    assert all(share_passing(sieve, portion) == 1 for portion in there)
    assert share_passing(sieve, numbered(range(5_000_000, 5_020_000))) < 0.03


def test_keys_written_again_need_no_room() -> None:
    """A bucket that is rewritten over and over makes nothing grow."""
    sieve = new()
    portion = numbered(range(1000))
    for _ in range(1000):
        sieve.catch_up()
        sieve.add(portion)

    assert sieve.size_bytes == SPACE


def test_filling_takes_a_share_of_the_time_between_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter, and of a long time no more than 25 ms, so that no write is held up."""
    tick, clock = 1 / 1024, [0.0]
    monkeypatch.setattr(sieves, "monotonic", lambda: clock[0])

    def slowly() -> Iterator[list[bytes]]:
        for number in range(100):
            clock[0] += tick
            yield numbered(range(number, number + 1))

    sieve = Sieve(slowly, 100, SPACE)
    taken = []
    for pause in (8, 8, 8, 40, 9999):
        clock[0] += pause * tick
        before = clock[0]
        sieve.catch_up()
        taken.append((clock[0] - before) / tick)
    assert taken == [2, 2, 2, 10, 26]


@pytest.mark.usefixtures("no_time")
def test_a_family_that_cannot_be_read_leaves_it_unused() -> None:
    """Where the keys that are there end in an error it is told, each time, and nothing is lost."""

    def damaged() -> Iterator[list[bytes]]:
        yield numbered(range(10))
        raise OSError("damaged")

    sieve = Sieve(damaged, 20, SPACE)
    for _ in range(3):
        sieve.catch_up()
        with pytest.raises(OSError, match="damaged"):
            sieve.catch_up()
        assert not sieve.is_whole


@given(written=st.lists(st.binary(min_size=6, max_size=6)), other=st.binary(min_size=6, max_size=6))
def test_it_says_the_same_if_told_how_long_keys_are(written: list[bytes], other: bytes) -> None:
    """That saves measuring each, and nothing else."""
    answers = []
    for key_bytes in (None, 6):
        sieve = Sieve(lambda: iter(()), 0, SPACE, key_bytes)
        sieve.add(written)
        answers.append(sieve.passing([*written, other]))

    assert answers[0] == answers[1]
    assert answers[0][: len(written)] == list(range(len(written)))


def test_keys_of_another_length_are_refused() -> None:
    """They would be taken for others."""
    with pytest.raises(ValueError, match="6 bytes"):
        Sieve(lambda: iter(()), 0, SPACE, 6).add([b"12345", b"123456"])


def test_keys_of_any_length_are_told_apart() -> None:
    """Also those that begin alike, or end alike, or differ by a zero."""
    sieve = new()
    there = [b"x" * length for length in range(1, 200, 2)]
    sieve.add(there)

    assert sieve.passing([key + b"\0" for key in there] + [b"\0" + key for key in there]) == []
    assert sieve.passing([b"x" * length for length in range(0, 200, 2)]) == []
    assert len(sieve.passing(there)) == len(there)


@pytest.mark.usefixtures("no_time")
def test_sieves_are_filled_one_after_the_other() -> None:
    """A write is held up by one portion of keys, however many sieves there are to fill."""
    portions = 0

    def counted() -> Iterator[list[bytes]]:
        nonlocal portions
        for start in (0, 100, 200):
            portions += 1
            yield numbered(range(start, start + 100))

    def unfilled() -> dict[Keyspace, Sieve]:
        return {
            keyspace: Sieve(counted, 300, SPACE) for keyspace in (Keyspace.BUCKETS, Keyspace.IDS)
        }

    both = Sieves(unfilled(), unfilled())
    added = {Keyspace.IDS: Puts([b"added"], [b""])}
    taken: list[int] = []
    while not both.are_whole and len(taken) < 100:
        before = portions
        both.add(added)
        taken.append(portions - before)

    assert both.are_whole
    assert max(taken) == 1
    assert sum(taken) == 4 * 3
    assert both.current[Keyspace.IDS].passing([b"added"]) == [0]
    assert both.current[Keyspace.BUCKETS].passing([b"added"]) == []


def test_the_sieve_of_a_generation_that_is_full_stays_as_it_is() -> None:
    """Once another is the current one nothing is written to it: to grow would be work in vain."""
    there = numbered(range(400_000))  # more than a small one likes
    sieve = Sieve(lambda: iter([there]), 0, 3 * SPACE)
    sieve.add(there)

    rotated = Sieves({Keyspace.BUCKETS: sieve}).rotated({})

    rotated.add({})
    assert rotated.previous == {Keyspace.BUCKETS: sieve}
    assert sieve.size_bytes == SPACE
    assert sieve.passing(there) == list(range(len(there)))
