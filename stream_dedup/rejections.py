"""Records that are no documents: what is kept of them, and when there are too many."""

from base64 import b64encode
from collections import deque
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from stream_dedup.errors import Refused
from stream_dedup.events import RecordReference

_WATCHED = 10_000  # records
_WAYS_OUT = (
    "Correct the feed or the names of its fields, or raise events.rejected_ratio_max; the next "
    "start goes on where this one stopped"
)


class Rejection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record that is no document: where it was read, why, and what it was.

    What is not UTF-8 is kept as base64.
    """

    record: RecordReference
    reason: str
    line: str | None = None
    line_base64: str | None = None

    @classmethod
    def of(cls, record: RecordReference, reason: str, line: bytes) -> "Rejection":
        """Keep a line as text if it is text."""
        try:
            return cls(record=record, reason=reason, line=line.decode())
        except UnicodeDecodeError:
            encoded = b64encode(line).decode()
            return cls(record=record, reason=reason, line_base64=encoded)

    def encode(self) -> bytes:
        """Write it as one line of JSON."""
        return msgspec.json.encode(self)


class RejectedShare:
    """Watches the last records: if too many of them are rejected, the feed is wrong, not they."""

    def __init__(self, ratio_max: float) -> None:
        self._ratio_max = ratio_max
        self._seen = 0
        self._rejected: deque[int] = deque()  # the numbers of those among the last records

    def add(self, accepted: int, rejected: Mapping[int, Rejection]) -> None:
        """Count records, the rejected by their places among them; refuse too many."""
        for place, rejection in rejected.items():
            number = self._seen + place
            while self._rejected and self._rejected[0] <= number - _WATCHED:
                self._rejected.popleft()
            self._rejected.append(number)
            if len(self._rejected) > self._ratio_max * _WATCHED:
                raise Refused(
                    f"{len(self._rejected):,} of the last {_WATCHED:,} records were no documents; "
                    f"the last: {rejection.reason}. {_WAYS_OUT}"
                )
        self._seen += accepted + len(rejected)
