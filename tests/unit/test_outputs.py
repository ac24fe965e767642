"""Lines that are written, cut back and refused to be written."""

import os
from pathlib import Path

import pytest

from stream_dedup.checkpoint import Checkpoint, output_entry
from stream_dedup.errors import Refused, Unavailable, UsageError
from stream_dedup.outputs import STANDARD_OUTPUT, Output, OutputFile, OutputStream, open_output
from stream_dedup.trail import Mark


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "matches.jsonl"


def committed(output: Output) -> Checkpoint:
    """Remember what was written so far, as the index does."""
    assert output.written is not None
    return Checkpoint(output_entry(*output.written))


def write(path: Path, checkpoint: Checkpoint, *pieces: bytes) -> Checkpoint:
    """Open the file, append to it and remember its length."""
    output = open_output(str(path), checkpoint)
    for piece in pieces:
        output.append(piece)
    output.close()
    return committed(output)


NOTHING = Checkpoint({})


def test_lines_are_appended_over_several_runs(path: Path) -> None:
    """What one run wrote stays; the next one adds to it."""
    first = write(path, NOTHING, b"1\n", b"", b"2\n" * 5000)
    write(path, first, b"3\n")

    assert path.read_bytes() == b"1\n" + b"2\n" * 5000 + b"3\n"


def test_what_was_not_committed_is_cut_off(path: Path) -> None:
    """Lines beyond the committed length, whole or half, go before anything is added."""
    first = write(path, NOTHING, b"1\n")
    with path.open("ab") as file:
        file.write(b"2\n3")
    write(path, first, b"4\n")

    assert path.read_bytes() == b"1\n4\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "shorter than what was written to it: 0 of 8 bytes"),
        (lambda path: path.write_bytes(b"one\n"), "shorter than what was written to it: 4 of 8"),
        (lambda path: path.write_bytes(b"one\nTWO\n..."), "not the file that was written to"),
    ],
    ids=["removed", "shorter", "another"],
)
def test_a_file_that_lost_lines_is_refused(path: Path, change: object, message: str) -> None:
    """A file that is gone, shorter or another one is left as it is, and the ways out are named."""
    before = write(path, NOTHING, b"one\n", b"two\n")
    assert callable(change)
    change(path)
    left = path.read_bytes() if path.exists() else None

    with pytest.raises(Refused, match=message) as refused:
        open_output(str(path), before)

    assert "--index" in str(refused.value)
    assert (path.read_bytes() if path.exists() else None) == left


def test_a_strangers_file_is_refused(path: Path) -> None:
    """A file with lines that this index knows nothing of is not written to; an empty one is."""
    path.write_bytes(b"mine\n")
    with pytest.raises(Refused, match="is not empty, and this index has written nothing to it"):
        open_output(str(path), NOTHING)

    assert path.read_bytes() == b"mine\n"
    path.write_bytes(b"")
    write(path, NOTHING, b"1\n")
    assert path.read_bytes() == b"1\n"


def test_one_file_by_two_names_is_one_output(path: Path) -> None:
    """The real path counts, so a link leads to the same committed length."""
    first = write(path, NOTHING, b"1\n")
    link = path.with_name("link")
    link.symlink_to(path)
    write(link, first, b"2\n")

    assert path.read_bytes() == b"1\n2\n"


def test_where_nothing_can_be_written_is_wrong_usage(tmp_path: Path) -> None:
    """A missing directory is named before any work is done."""
    with pytest.raises(UsageError, match=f"cannot write {tmp_path}/none/out: No such file"):
        open_output(f"{tmp_path}/none/out", NOTHING)


def test_a_disk_that_fails_is_told_by_the_files_name(path: Path) -> None:
    """An error while writing names the file."""
    output = OutputFile(path, None)
    output.close()
    reading = os.open(path, os.O_RDONLY)
    output._file = os.fdopen(reading, "rb", 0)
    with pytest.raises(Unavailable, match=f"cannot write {path}: "):
        output.append(b"1\n")
    output.close()


def test_a_pipe_gets_lines_at_once_and_has_no_length(tmp_path: Path) -> None:
    """What goes to a pipe is there when append returns, and cannot be taken back."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    output = open_output(str(fifo), NOTHING)
    output.append(b"1\n")

    assert os.read(reading, 100) == b"1\n"
    assert output.written is None
    output.close()
    os.close(reading)


def test_standard_output_is_left_open(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """`-` is standard output, which stays open for whoever comes after."""
    output = open_output(STANDARD_OUTPUT, NOTHING)
    output.append(b"1\n")
    output.close()
    output.append(b"2\n")

    assert isinstance(output, OutputStream)
    assert capfdbinary.readouterr().out == b"1\n2\n"


def test_the_mark_is_of_what_was_written(path: Path) -> None:
    """The committed mark counts all bytes, over all runs."""
    first = write(path, NOTHING, b"12345\n")
    output = open_output(str(path), first)
    output.append(b"6\n")
    output.close()

    assert output.written is not None
    key, mark = output.written
    assert (key, mark.bytes) == (os.path.realpath(path), 8)
    assert mark != Mark(bytes=8, digest=mark.digest[::-1])
