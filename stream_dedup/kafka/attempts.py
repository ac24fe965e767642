"""Which records were being signed when the process ended, so that one that ends it is found.

What is under way stands in a file beside the index. Records that are found there at the next start
are taken one by one; one that is found there alone often enough is rejected.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from stream_dedup.config import Settings
from stream_dedup.errors import Unavailable
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.offsets import next_offsets


class UnderWay(Struct, frozen=True):
    """Offsets by partition, from the first to behind the last, and how often they were tried."""

    ranges: dict[int, tuple[int, int]]
    tries: int

    def holds(self, record: Incoming) -> bool:
        """Tell whether a record is among them."""
        first, end = self.ranges.get(record.partition, (0, 0))
        return first <= record.offset < end

    @property
    def is_single(self) -> bool:
        return sum(end - first for first, end in self.ranges.values()) == 1


class Attempts:
    """Writes down what is tried, and knows what was when the process ended last."""

    def __init__(self, settings: Settings) -> None:
        kafka = settings.kafka
        directory = Path(settings.index.directory)
        self._path = directory.with_name(f"{directory.name}.{kafka.application}.{kafka.instance}")
        self._tries_max = kafka.attempts_max
        self._before = self._read()

    def portions(self, records: Sequence[Incoming]) -> Iterator[Sequence[Incoming]]:
        """Yield the records as they are to be tried: all at once, or one by one where in doubt."""
        rest = list(records)
        while rest and self._before is not None and self._before.holds(rest[0]):
            yield [rest.pop(0)]
        if rest:
            self._before = None
            yield rest

    def is_exhausted(self, record: Incoming) -> bool:
        """Tell whether a record was alone under way each time the process ended."""
        before = self._before
        return (
            before is not None
            and before.is_single
            and before.holds(record)
            and before.tries >= self._tries_max
        )

    @contextmanager
    def trying(self, records: Sequence[Incoming]) -> Iterator[None]:
        """Write down that these are tried, until they are through."""
        under_way = UnderWay(_ranges(records), 1)
        if self._before is not None and self._before.ranges == under_way.ranges:
            under_way = UnderWay(under_way.ranges, self._before.tries + 1)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_bytes(msgspec.json.encode(under_way))
        except OSError as error:
            raise Unavailable(
                f"cannot write {self._path}: {error.strerror}. Make room on its disk or mend it; "
                "index.directory says where it is"
            ) from None
        yield
        # Another process of this name, which is about to be told, may have taken it away.
        self._path.unlink(missing_ok=True)

    def _read(self) -> UnderWay | None:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=UnderWay)
        except (FileNotFoundError, msgspec.DecodeError):
            return None


def _ranges(records: Sequence[Incoming]) -> dict[int, tuple[int, int]]:
    firsts: dict[int, int] = {}
    for record in records:
        firsts.setdefault(record.partition, record.offset)
    return {number: (firsts[number], end) for number, end in next_offsets(records).items()}
