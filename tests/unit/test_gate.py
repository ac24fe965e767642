"""Many inside together, or one alone."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from stream_dedup.gate import Gate

WAIT_SECONDS = 30


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Give threads, which must all have ended."""
    with ThreadPoolExecutor(8) as threads:
        yield threads


def test_many_are_inside_together(pool: ThreadPoolExecutor) -> None:
    """Those who share wait for nobody."""
    gate, together = Gate(), Barrier(4, timeout=WAIT_SECONDS)

    def share() -> None:
        with gate.shared():
            together.wait()

    for inside in [pool.submit(share) for _ in range(4)]:
        inside.result(WAIT_SECONDS)


def test_who_is_alone_meets_nobody(pool: ThreadPoolExecutor) -> None:
    """Sums that are changed in two steps are never seen between them, whoever comes."""
    gate, account = Gate(), [0, 0]

    def move() -> None:
        for _ in range(300):
            with gate.alone():
                account[0] -= 1
                account[1] += 1

    def look() -> None:
        for _ in range(300):
            with gate.shared():
                seen.add(sum(account))

    seen: set[int] = set()
    for done in [pool.submit(task) for task in (move, look, move, look, move, look)]:
        done.result(WAIT_SECONDS)

    assert seen == {0}
    assert account == [-900, 900]


def test_who_waits_to_be_alone_goes_first(pool: ThreadPoolExecutor) -> None:
    """New visitors wait behind who asked to be alone, so that visits cannot keep it out."""
    gate, inside, leave = Gate(), Event(), Event()
    order: list[str] = []

    def stay() -> None:
        with gate.shared():
            inside.set()
            leave.wait(WAIT_SECONDS)

    def change() -> None:
        with gate.alone():
            order.append("alone")

    def visit() -> None:
        with gate.shared():
            order.append("shared")

    tasks: list[Future[None]] = [pool.submit(stay)]
    inside.wait(WAIT_SECONDS)
    tasks.append(pool.submit(change))
    while not gate.claimed:
        pass
    tasks.append(pool.submit(visit))
    leave.set()
    for task in tasks:
        task.result(WAIT_SECONDS)

    assert order == ["alone", "shared"]


@pytest.mark.parametrize("way", ["shared", "alone"])
def test_an_error_inside_leaves_the_gate_open(way: str) -> None:
    """Whoever fails inside has left."""
    gate = Gate()
    with pytest.raises(ZeroDivisionError), getattr(gate, way)():
        raise ZeroDivisionError

    with gate.alone(), pytest.raises(RuntimeError, match="inside"):
        raise RuntimeError("inside")
    with gate.shared():
        assert not gate.claimed
