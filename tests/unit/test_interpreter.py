"""Threads that work ahead of others."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from stream_dedup.interpreter import give_way

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only on Linux has a thread a priority"
)
NICE = "from stream_dedup.interpreter import give_way; import os; give_way(); print(os.nice(0))"


def test_a_thread_that_gives_way_comes_behind_the_others() -> None:
    """It comes after the thread that waits for it, which keeps its own priority, and not far after.

    Of a processor that another program wants as well, each step of niceness takes a fifth of what
    it had; beside two busy programs, with fifteen steps a run of three seconds took 34.
    """
    before = _niceness()
    with ThreadPoolExecutor(1, initializer=give_way) as thread:
        assert before < thread.submit(_niceness).result() <= before + 5
    assert _niceness() == before


def test_a_process_that_gives_way_itself_loses_nothing_by_it() -> None:
    """Under `nice` a thread gives way once more: to go before the process would take a right."""
    command = ["nice", "-n", "17", sys.executable, "-c", NICE]
    assert int(subprocess.run(command, capture_output=True, check=True).stdout) == 19


def _niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
