"""Who waits for a broker, and since when: the end of the service does not wait for such a one.

That is safe wherever it is: what a process does that is killed there is what is done then.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

WAIT_SECONDS_MAX = 3.0  # most answers take milliseconds


class Waits:
    """The threads that can do nothing but wait for an answer."""

    def __init__(self) -> None:
        self._since: dict[int | None, float] = {}

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Say so of this thread; of waits within another the outer one counts."""
        thread = threading.get_ident()
        if thread in self._since:
            yield
            return
        self._since[thread] = time.monotonic()
        try:
            yield
        finally:
            del self._since[thread]

    def is_stuck(self, thread: threading.Thread) -> bool:
        """Tell whether a thread has waited for longer than an answer should take."""
        since = self._since.get(thread.ident)
        return since is not None and time.monotonic() - since > WAIT_SECONDS_MAX
