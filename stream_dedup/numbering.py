"""Records out of lines: each gets its position, its time and its reference."""

from typing import NamedTuple

from stream_dedup.checkpoint import InputProgress, input_entry
from stream_dedup.engine import Record
from stream_dedup.errors import DocumentRejected
from stream_dedup.events import Deletion, Document, DocumentDecoder, RecordReference
from stream_dedup.inputs import Input, Portion
from stream_dedup.rejections import Rejection
from stream_dedup.signing import own_time


class Decoded(NamedTuple):
    """The records of a portion, and what is to be remembered once they are decided."""

    records: list[Record]
    rejected: dict[int, Rejection]  # by their places among all records of the portion
    entries: dict[str, bytes] | None  # None: the portion is left for the next start to read
    bytes_read: int


class Numbering:
    """Numbers records on behind those that the index knows, of whatever input.

    A record's time is its document's; one without a time leaves log time where it is.
    """

    def __init__(self, source: Input, decoder: DocumentDecoder, next_position: int) -> None:
        self._source = source
        self._decoder = decoder
        self._position = next_position

    def decode(self, portion: Portion) -> Decoded:
        """Decode the lines that are not blank.

        A last line of a file that lacks its end and is no document may have been written in part
        only: it is told, and left where it is.
        """
        records: list[Record] = []
        rejected: dict[int, Rejection] = {}
        for number, line in enumerate(portion.lines, portion.first_line):
            if not line or line.isspace():
                continue
            reference = RecordReference(topic=self._source.topic, partition=0, offset=number)
            try:
                records.append(self._record(self._decoder.decode_event(line), reference))
            except DocumentRejected as rejection:
                place = len(records) + len(rejected)
                rejected[place] = Rejection.of(reference, rejection.reason, line)
        left = self._source.resumable and not portion.ended and not records
        entries = None if left else self._entries(portion)
        return Decoded(records, rejected, entries, portion.bytes_read)

    def _record(self, event: Document | Deletion, reference: RecordReference) -> Record:
        position, self._position = self._position, self._position + 1
        return Record(event, position, own_time(event), reference)

    def _entries(self, portion: Portion) -> dict[str, bytes]:
        progress = InputProgress(
            read=portion.trail.mark() if self._source.resumable else None,
            lines=portion.first_line + len(portion.lines),
        )
        return input_entry(self._source.key, progress)
