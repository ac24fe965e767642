"""Every error raised on purpose, sorted by what happens next; each docstring says what to do."""

from typing import ClassVar, Literal

# Kinds of reasons, few enough to be counted apart.
RejectionKind = Literal["invalid", "missing", "too large", "not UTF-8", "not signable"]


class StreamDedupError(Exception):
    """Stop while running. The message says what failed; mend that and start again."""

    exit_code: ClassVar[int] = 1


class DocumentRejected(StreamDedupError):
    """Reject this document, count it, go on. Read the reason and mend what produced it."""

    def __init__(self, reason: str, kind: RejectionKind = "invalid") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class Unavailable(StreamDedupError):
    """Back off and try again, with a bound. If it lasts, look at the broker or disk it names."""


class Refused(StreamDedupError):
    """Stop: going on could lose or falsify matches. Choose a way out that the message names."""

    exit_code: ClassVar[int] = 3


class UsageError(StreamDedupError):
    """Stop before any work is done. Correct the command line and run it again."""

    exit_code: ClassVar[int] = 2


class SettingsError(UsageError):
    """Stop: a setting is unknown or not allowed. Correct it where the message says it came from."""


class InputError(UsageError):
    """Stop: an input cannot be read. Correct the file or its name; the message says which line."""
