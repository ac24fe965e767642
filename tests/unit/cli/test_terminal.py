import os
import pty
import subprocess
import sys

# Fills a bar, and stays in a block until the notice about it has been printed.
WATCHED = """
import threading
from stream_dedup.cli import terminal

with terminal.progress("reading", total=4) as advance:
    advance(1)
    advance(3)
with terminal.notice_if_slow("this takes a while", seconds=0.01):
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()
with terminal.notice_if_slow("never shown", seconds=3600):
    pass
"""


def stderr_of(program: str, on_terminal: bool) -> str:
    """Run a program and return what its stderr, a terminal or a pipe, received."""
    ours, theirs = pty.openpty() if on_terminal else os.pipe()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}
    with subprocess.Popen([sys.executable, "-c", program], stderr=theirs, env=environment) as done:
        os.close(theirs)
        received = b""
        try:
            while part := os.read(ours, 4096):
                received += part
        except OSError:  # how a terminal says that its other end is closed
            pass
        os.close(ours)
    assert done.returncode == 0
    return received.decode()


def test_a_terminal_shows_progress_and_a_notice() -> None:
    """Somebody who watches sees what is done of how much, and why nothing seems to happen."""
    shown = stderr_of(WATCHED, on_terminal=True)

    assert "reading" in shown
    assert "4/4" in shown
    assert "this takes a while" in shown
    assert "never shown" not in shown


def test_a_pipe_sees_nothing() -> None:
    """Logs and pipes are kept free of progress and notices."""
    assert stderr_of(WATCHED, on_terminal=False) == ""
