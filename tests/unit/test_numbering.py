"""Records out of lines: positions, times and references."""

from pathlib import Path

import pytest

from stream_dedup.checkpoint import Checkpoint, InputProgress, input_entry
from stream_dedup.config import EventsSettings
from stream_dedup.engine import UNDATED
from stream_dedup.events import Deletion, DocumentDecoder
from stream_dedup.inputs import Input, Portion
from stream_dedup.numbering import Numbering
from stream_dedup.trail import Trail

DOCUMENT = b'{"id": "a", "text": "x"}'
DATED = b'{"id": "b", "text": "x", "published_at": "1970-01-01T00:00:02.0015+00:00"}'
EARLY = b'{"id": "c", "deleted": true, "published_at": "1969-12-31T23:59:59.999Z"}'


@pytest.fixture
def source(tmp_path: Path) -> Input:
    (tmp_path / "feed").touch()
    return Input(str(tmp_path / "feed"))


def numbering(source: Input, position: int = 0) -> Numbering:
    return Numbering(source, DocumentDecoder(EventsSettings()), position)


def portion(*lines: bytes, first_line: int = 0, ended: bool = True) -> Portion:
    trail = Trail().after(b"\n".join(lines))
    return Portion(first_line, list(lines), ended, trail.length, trail, trail.length)


def progress(source: Input, entries: dict[str, bytes] | None) -> InputProgress:
    assert entries is not None
    return Checkpoint(entries).input(source.key)


def test_positions_count_records_and_offsets_count_lines(source: Input) -> None:
    """Blank and rejected lines have no position, but each line has its number in the input."""
    lines = (DOCUMENT, b"", b" \r", b"oops", DATED)
    decoded = numbering(source, position=7).decode(portion(*lines, first_line=100))

    assert [record.position for record in decoded.records] == [7, 8]
    assert [record.reference.offset for record in decoded.records] == [100, 104]
    assert {record.reference.topic for record in decoded.records} == {source.topic}
    assert {place: rejection.line for place, rejection in decoded.rejected.items()} == {1: "oops"}
    assert progress(source, decoded.entries).lines == 105


def test_a_record_has_the_time_of_its_document(source: Input) -> None:
    """Times are whole milliseconds; a deletion may have one too, and who has none is undated."""
    records = numbering(source).decode(portion(DOCUMENT, DATED, DOCUMENT, EARLY)).records

    assert [record.time for record in records] == [UNDATED, 2001, UNDATED, -1]
    assert isinstance(records[3].event, Deletion)


def test_what_was_read_is_remembered_with_each_portion(source: Input) -> None:
    """The entries say how far the input was read; of a pipe they count lines only."""
    lines = portion(DOCUMENT, b"oops")
    pipe = Input("/dev/null")

    assert progress(source, numbering(source).decode(lines).entries).read == lines.trail.mark()
    assert progress(pipe, numbering(pipe).decode(lines).entries) == InputProgress(lines=2)


@pytest.mark.parametrize("name", ["file", "pipe"])
@pytest.mark.parametrize("line", [DOCUMENT, b"oops", b"  "])
def test_half_a_last_line_of_a_file_is_left(source: Input, name: str, line: bytes) -> None:
    """Only a file can be read again, and only what is a document already is taken."""
    source = Input("/dev/null") if name == "pipe" else source
    decoded = numbering(source).decode(portion(line, ended=False))

    assert (decoded.entries is None) == (name == "file" and line != DOCUMENT)
    assert len(decoded.records) + len(decoded.rejected) == (line != b"  ")


def test_inputs_are_remembered_side_by_side() -> None:
    """What is known of one input says nothing of another."""
    known = InputProgress(lines=3)
    checkpoint = Checkpoint(input_entry("/a", known))

    assert checkpoint.input("/a") == known
    assert checkpoint.input("/b") == InputProgress()
    assert checkpoint.output("/a") is None
