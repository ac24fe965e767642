"""Threads that work ahead of others."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from stream_dedup.interpreter import give_way


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux has a thread a priority")
def test_a_thread_that_gives_way_comes_behind_the_others() -> None:
    """It has a lower priority than the thread that waits for it, which keeps its own."""
    before = _niceness()
    with ThreadPoolExecutor(1, initializer=give_way) as thread:
        assert thread.submit(_niceness).result() > before
    assert _niceness() == before


def _niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
