"""File mode: read, sign, match, write, remember; one commit for each portion of the input.

Verdicts are on the disk before the index remembers, in one write, what led to them, how far the
input was read and how long the outputs are. So a kill at any moment leaves at most lines that the
index knows nothing of, and the next start cuts them off.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from stream_dedup.checkpoint import output_entry
from stream_dedup.engine import Matched, Matcher, SignedBatch, Signer
from stream_dedup.events import Verdict
from stream_dedup.interpreter import attune, give_way
from stream_dedup.numbering import Decoded, Numbering
from stream_dedup.outputs import Output
from stream_dedup.readahead import ReadAhead
from stream_dedup.recall import Recall
from stream_dedup.rejections import RejectedShare, Rejection


class Done(NamedTuple):
    """What was decided together."""

    types: Mapping[str, int]  # how many verdicts of each type
    rejections: list[Rejection]
    bytes_read: int  # of the file as it lies on disk, in all


class FileRun:
    """Decides on all that an input gives."""

    def __init__(
        self,
        lines: ReadAhead,
        numbering: Numbering,
        signer: Signer,
        matcher: Matcher,
        verdicts: Output,
        rejected: Output | None,
        share: RejectedShare,
        threads: int,
    ) -> None:
        self._lines = lines
        self._numbering = numbering
        self._signer = signer
        self._matcher = matcher
        self._verdicts = verdicts
        self._rejected = rejected
        self._share = share
        self._threads = threads

    def run(self) -> Iterator[Done]:
        """Yield what was done after each commit, until the input ends or is stopped."""
        attune()
        with ThreadPoolExecutor(self._threads, "sign", give_way) as pool, self._lines:
            for decoded, signed in self._signed(pool):
                self._share.add(len(decoded.records), decoded.rejected)
                matched = self._matcher.match(signed)
                if decoded.entries is not None:
                    self._commit(decoded, decoded.entries, matched)
                rejections = list(decoded.rejected.values())
                yield Done(matched.types, rejections, decoded.bytes_read)

    def recall(self) -> Recall:
        """Return what was measured of the pairs found and missed since the start."""
        return self._matcher.recall.recall()

    def _signed(self, pool: ThreadPoolExecutor) -> Iterator[tuple[Decoded, SignedBatch]]:
        """Sign ahead of what is matched, and never hold back what is there."""
        under_way: deque[tuple[Decoded, Future[SignedBatch]]] = deque()
        while True:
            while len(under_way) <= self._threads:
                portion = self._lines.take(wait=not under_way)
                if portion is None:
                    break
                decoded = self._numbering.decode(portion)
                under_way.append((decoded, pool.submit(self._signer.sign, decoded.records)))
            if not under_way:
                return
            decoded, signing = under_way.popleft()
            yield decoded, signing.result()

    def _commit(self, decoded: Decoded, entries: Mapping[str, bytes], matched: Matched) -> None:
        self._verdicts.append(_lines(matched.verdicts))
        if self._rejected is not None:
            self._rejected.append(_lines(decoded.rejected.values()))
        self._matcher.remember(matched, {**entries, **written(self._verdicts, self._rejected)})


def written(*outputs: Output | None) -> dict[str, bytes]:
    """Write for the index how long the outputs are."""
    entries: dict[str, bytes] = {}
    for output in outputs:
        if output is not None and output.written is not None:
            entries |= output_entry(*output.written)
    return entries


def _lines(events: Iterable[Verdict] | Iterable[Rejection]) -> bytes:
    return b"".join(event.encode() + b"\n" for event in events)
