"""Portions that are read while other work is done."""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from threading import Event, Semaphore

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.errors import InputError
from stream_dedup.inputs import Portion
from stream_dedup.readahead import ReadAhead
from stream_dedup.trail import Trail


def portion(first: int, count: int, ended: bool = True) -> Portion:
    """Make a portion of lines that are their own numbers."""
    lines = [str(number).encode() for number in range(first, first + count)]
    size = sum(map(len, lines))
    return Portion(first, lines, ended, size, Trail(length=first + count), bytes_read=first + count)


def portions_of(counts: list[int]) -> list[Portion]:
    return [portion(a, b - a) for a, b in pairwise(accumulate(counts, initial=0))]


def taken(ahead: ReadAhead) -> Iterator[Portion]:
    while found := ahead.take(wait=True):
        yield found


@given(st.lists(st.integers(1, 10), max_size=60))
def test_no_line_is_lost_or_changes_its_place(counts: list[int]) -> None:
    """All lines come once, in order and numbered, in portions no larger than allowed."""
    with ReadAhead(iter(portions_of(counts)), 10, Event()) as ahead:
        found = list(taken(ahead))

    lines = [line for part in found for line in part.lines]
    assert lines == [str(number).encode() for number in range(sum(counts))]
    for part in found:
        assert part.lines[0] == str(part.first_line).encode()
        assert part.trail.length == part.bytes_read == part.first_line + len(part.lines)
        assert part.size == sum(map(len, part.lines))
        assert len(part.lines) <= 10


def test_what_is_there_is_handed_over_at_once() -> None:
    """A portion is taken while the input still waits for the next one."""
    turn = Semaphore(0)

    def slow() -> Iterator[Portion]:
        for part in portions_of([1, 1, 1]):
            yield part
            turn.acquire()

    with ReadAhead(slow(), 10, Event()) as ahead:
        for number in range(3):
            found = ahead.take(wait=True)
            assert found is not None
            assert found.lines == [str(number).encode()]
            assert ahead.take(wait=False) is None
            turn.release()
        assert ahead.take(wait=True) is None


def test_what_nobody_takes_is_gathered_up_to_a_bound() -> None:
    """While nobody takes anything, portions grow to the allowed size, and reading then waits."""
    read: list[int] = []
    enough = Event()

    def endless() -> Iterator[Portion]:
        for number in range(1_000_000):
            read.append(number)
            if number == 30:
                enough.set()
            yield portion(number, 1)

    with ReadAhead(endless(), 10, Event()) as ahead:
        assert enough.wait(60)
        found = ahead.take(wait=True)
        assert found is not None
        assert len(found.lines) == 10
    assert len(read) < 100


def test_a_line_without_its_end_comes_alone() -> None:
    """The last line of an input is never joined to others if it lacks its end."""
    with ReadAhead(iter([portion(0, 2), portion(2, 1, ended=False)]), 10, Event()) as ahead:
        found = list(taken(ahead))

    assert [(len(part.lines), part.ended) for part in found] == [(2, True), (1, False)]


@pytest.mark.parametrize("error", [InputError("damaged"), ZeroDivisionError()])
def test_an_error_comes_after_all_that_was_read(error: Exception) -> None:
    """What came before an error is taken first; then the error is raised, whatever it is."""

    def damaged() -> Iterator[Portion]:
        yield portion(0, 3)
        raise error

    with ReadAhead(damaged(), 10, Event()) as ahead:
        found = ahead.take(wait=True)
        assert found is not None
        assert len(found.lines) == 3
        assert ahead.take(wait=False) is None
        with pytest.raises(type(error)):
            ahead.take(wait=True)


def test_a_stop_ends_the_reading_not_the_handing_over() -> None:
    """What was read before a stop is still taken, then the input counts as ended."""
    stopped = Event()

    def endless() -> Iterator[Portion]:
        for number in range(1_000_000):
            if number == 5:
                stopped.set()
            yield portion(number, 1)

    with ReadAhead(endless(), 10, stopped) as ahead:
        lines = [line for part in taken(ahead) for line in part.lines]

    assert lines == [b"0", b"1", b"2", b"3", b"4", b"5"]


def test_leaving_early_ends_the_reading() -> None:
    """Whoever leaves without taking all does not wait for an input without an end."""
    with ReadAhead((portion(number, 1) for number in range(10**9)), 10, Event()) as ahead:
        assert ahead.take(wait=True) is not None
