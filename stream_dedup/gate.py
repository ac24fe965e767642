"""A gate for threads of one process: many who look, or one who changes things."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Gate:
    """Lets any number in together, or one alone; nobody enters before who waits to be alone."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self.claimed = False  # somebody is alone, or will be as soon as the others have left

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Be inside with others."""
        with self._changed:
            self._changed.wait_for(lambda: not self.claimed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be inside alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self.claimed)
            self.claimed = True
        try:
            with self._changed:
                self._changed.wait_for(lambda: not self._inside)
            yield
        finally:
            with self._changed:
                self.claimed = False
                self._changed.notify_all()
