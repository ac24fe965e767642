import asyncio
from threading import Event

import pytest

from stream_dedup.web.pace import Bucket, Busy, Threads


def test_a_bucket_lets_its_rate_through() -> None:
    """After a pause as many as a second's; then one for each part of a second."""
    now = [0.0]
    bucket = Bucket(10, lambda: now[0])

    assert [bucket.take() for _ in range(12)] == [True] * 10 + [False] * 2
    now[0] = 0.05
    assert not bucket.take()
    now[0] = 0.11
    assert [bucket.take(), bucket.take()] == [True, False]
    now[0] = 1000.0
    assert sum(bucket.take() for _ in range(30)) == 10


def test_what_was_given_up_is_counted_until_it_ends() -> None:
    """Questions that nobody waits for any more still hold their threads."""
    asyncio.run(given_up())


async def given_up() -> None:
    threads, go_on = Threads(1, 1), Event()
    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await threads.run(go_on.wait)
    # The one that had not begun is not counted any more, the other is.
    waiting, refused, _ = await asyncio.gather(
        threads.run(lambda: 7), threads.run(lambda: 8), opened(go_on), return_exceptions=True
    )

    assert waiting == 7
    assert isinstance(refused, Busy)
    assert await asyncio.wait_for(threads.run(lambda: 9), 5) == 9


async def opened(gate: Event) -> None:
    gate.set()


def test_what_fails_is_told_and_ends() -> None:
    """An error reaches who asked, and frees the thread."""
    asyncio.run(failing())


async def failing() -> None:
    threads = Threads(1, 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 // 0)
