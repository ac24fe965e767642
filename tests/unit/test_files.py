"""Lines out of files and pipes, compressed or not, whole or damaged."""

import array
import fcntl
import gzip
import os
import random
import struct
import termios
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.errors import InputError
from stream_dedup.files import STANDARD_INPUT, Block, Source

LINE_BYTES_MAX = 1000
# Several blocks of a megabyte, hardly compressible.
LINES = [random.Random(n).randbytes(500).hex().encode() for n in range(3000)]
CONTENT = b"\n".join(LINES) + b"\n"


def zstd(content: bytes, checksum: bool = False, size: bool = True) -> bytes:
    compressor = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size)
    return compressor.compress(content)


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gzip": lambda content: gzip.compress(content, 1),
    "zstd": zstd,
    "zstd without size": lambda content: zstd(content, size=False),
}
encodings = pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS.keys())
compressions = pytest.mark.parametrize("encode", [gzip.compress, zstd], ids=["gzip", "zstd"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    # The name says nothing of the content.
    return tmp_path / "feed.zst.gz.jsonl"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def blocks_of(path: Path, content: bytes) -> list[Block]:
    path.write_bytes(content)
    return list(Source(str(path), LINE_BYTES_MAX).blocks())


def lines_of(blocks: list[Block]) -> list[bytes]:
    return [line for block in blocks for line in block.lines]


def assert_numbered(blocks: list[Block]) -> None:
    counts = [len(block.lines) for block in blocks]
    assert [block.first_line for block in blocks] == list(accumulate(counts, initial=1))[:-1]


def write_in_pieces(path: Path, pieces: list[bytes]) -> None:
    """Write each piece only when those before it were read."""
    unread = array.array("i", [0])
    with path.open("wb", buffering=0) as pipe:
        for piece in pieces:
            pipe.write(piece)
            unread[0] = 1
            while unread[0]:
                fcntl.ioctl(pipe, termios.FIONREAD, unread)


@encodings
def test_lines_come_as_they_are(file: Path, encode: Callable[[bytes], bytes]) -> None:
    """Compression is known by the first bytes; lines are numbered, and all bytes are counted."""
    blocks = blocks_of(file, encode(CONTENT))

    assert lines_of(blocks) == LINES
    assert_numbered(blocks)
    assert {block.source for block in blocks} == {str(file)}
    assert sum(block.bytes_read for block in blocks) == file.stat().st_size
    assert Source(str(file), LINE_BYTES_MAX).size == file.stat().st_size


@encodings
def test_a_source_is_read_again(file: Path, encode: Callable[[bytes], bytes]) -> None:
    """A second reading gives the same blocks."""
    file.write_bytes(encode(CONTENT))
    source = Source(str(file), LINE_BYTES_MAX)

    assert list(source.blocks()) == list(source.blocks())


@encodings
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a", [b"a"]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\n\nb\n", [b"a", b"", b"b"]),
        (b"a\r\nb\r\n", [b"a\r", b"b\r"]),
        (b"a\rb\x0cc\x85\xe2\x80\xa8d\n", [b"a\rb\x0cc\x85\xe2\x80\xa8d"]),
        (b"\x1f\n(\xb5/\n", [b"\x1f", b"(\xb5/"]),
    ],
)
def test_a_line_ends_at_a_line_feed_alone(
    file: Path, encode: Callable[[bytes], bytes], content: bytes, expected: list[bytes]
) -> None:
    """An empty file has no line, the last may lack its end, a carriage return stays in its line."""
    assert lines_of(blocks_of(file, encode(content))) == expected


@given(st.lists(st.sampled_from([b"", b"a", b"b" * 600]), max_size=20), st.booleans())
def test_lines_are_those_between_line_feeds(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ended: bool
) -> None:
    """Splitting at line feeds gives the same lines, but for nothing after the last."""
    content = b"\n".join(lines) + b"\n" * ended
    expected = content.split(b"\n")
    path = tmp_path_factory.mktemp("lines") / "file"

    assert lines_of(blocks_of(path, content)) == expected[: -1 if expected[-1] == b"" else None]


@compressions
def test_members_follow_each_other(file: Path, encode: Callable[[bytes], bytes]) -> None:
    """Compressed files may be concatenated, empty ones among them."""
    pieces = [b"", CONTENT, b"", b"a\nb", b"c\n", b""]

    blocks = blocks_of(file, b"".join(encode(piece) for piece in pieces))

    assert lines_of(blocks) == [*LINES, b"a", b"bc"]


def test_what_zstd_says_to_skip_is_skipped(file: Path) -> None:
    """Between frames there may be frames of something else."""
    skipped = struct.pack("<II", 0x184D2A53, 5) + b"index"

    assert lines_of(blocks_of(file, zstd(b"a\n") + skipped + zstd(b"b\n"))) == [b"a", b"b"]


@compressions
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_a_file_cut_short_is_an_error(
    file: Path, encode: Callable[[bytes], bytes], share: float
) -> None:
    """Wherever it was cut, in its header, middle or last byte: the message names the file."""
    whole = encode(CONTENT)
    end = min(max(6, int(share * len(whole))), len(whole) - 1)

    with pytest.raises(InputError, match=rf"{file}: damaged or cut short"):
        blocks_of(file, whole[:end])


@compressions
def test_a_second_member_cut_short_is_an_error(
    file: Path, encode: Callable[[bytes], bytes]
) -> None:
    """A whole file is not taken for the end of the one after it."""
    whole = encode(b"a\n" * 1000)

    with pytest.raises(InputError, match=rf"{file}: damaged or cut short"):
        blocks_of(file, whole + whole[:-1])


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(CONTENT)[:2000] + b"\0\xff\0\xff" + gzip.compress(CONTENT)[2004:],
        zstd(CONTENT, checksum=True)[:2000] + b"\0\xff\0\xff" + zstd(CONTENT)[2004:],
        gzip.compress(CONTENT) + b"and more",
        zstd(CONTENT) + b"and more",
        b"\x1f\x8b" + b"\xff" * 100,
        b"\x28\xb5\x2f\xfd" + b"\xff" * 100,
    ],
    ids=["gzip", "zstd", "after gzip", "after zstd", "gzip header", "zstd header"],
)
def test_a_damaged_file_is_an_error(file: Path, content: bytes) -> None:
    """What was overwritten, or is followed by something else, is refused by the file's name."""
    with pytest.raises(InputError, match=rf"{file}: damaged or cut short"):
        blocks_of(file, content)


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """A missing file and a directory are named before anything is read."""
    with pytest.raises(InputError, match=rf"cannot read {tmp_path}/none: No such file"):
        Source(f"{tmp_path}/none", LINE_BYTES_MAX)
    with pytest.raises(InputError, match=rf"cannot read {tmp_path}: it is a directory"):
        Source(str(tmp_path), LINE_BYTES_MAX)


def test_a_file_that_went_away_is_an_error(file: Path) -> None:
    """A file deleted between two readings is named."""
    file.write_bytes(b"a\n")
    source = Source(str(file), LINE_BYTES_MAX)
    file.unlink()

    with pytest.raises(InputError, match=rf"cannot read {file}: No such file"):
        list(source.blocks())


def test_a_file_that_was_written_anew_is_an_error(file: Path) -> None:
    """A second reading never gives other lines than the first."""
    file.write_bytes(b"a\n")
    source = Source(str(file), LINE_BYTES_MAX)
    assert lines_of(list(source.blocks())) == [b"a"]
    file.write_bytes(b"a\nb\n")

    with pytest.raises(InputError, match=f"{file} changed while it was read"):
        list(source.blocks())


@encodings
def test_a_line_without_an_end_does_not_fill_the_memory(
    file: Path, encode: Callable[[bytes], bytes]
) -> None:
    """A line of 30 MB comes cut, longer than allowed and no more than a block, and is one line."""
    blocks = blocks_of(file, encode(b"first\n" + b"x" * 30_000_000 + b"\nlast\n"))
    first, long, last = lines_of(blocks)

    assert (first, last) == (b"first", b"last")
    assert LINE_BYTES_MAX < len(long) <= LINE_BYTES_MAX + 1 + (1 << 20)
    assert_numbered(blocks)


@encodings
@pytest.mark.parametrize("keep", [False, True])
def test_a_pipe_is_read_like_a_file(
    pipe: Path, background: ThreadPoolExecutor, encode: Callable[[bytes], bytes], keep: bool
) -> None:
    """Its size is unknown, its lines are the same; if it is kept, they are so a second time."""
    written: Future[int] = background.submit(pipe.write_bytes, encode(CONTENT))
    source = Source(str(pipe), LINE_BYTES_MAX, keep)
    blocks = list(source.blocks())
    written.result()

    assert source.size is None
    assert lines_of(blocks) == LINES
    assert_numbered(blocks)
    if keep:
        again = list(source.blocks())
        assert [block.lines for block in again] == [block.lines for block in blocks]
        assert lines_of(list(source.blocks())) == LINES


@encodings
@pytest.mark.parametrize("keep", [False, True])
def test_a_pipe_may_be_slow(
    pipe: Path, background: ThreadPoolExecutor, encode: Callable[[bytes], bytes], keep: bool
) -> None:
    """Compression is known even if the first bytes come one by one."""
    content = encode(b"a\nb\n")
    pieces = [content[at : at + 1] for at in range(len(content))]
    written = background.submit(write_in_pieces, pipe, pieces)
    blocks = list(Source(str(pipe), LINE_BYTES_MAX, keep).blocks())
    written.result()

    assert lines_of(blocks) == [b"a", b"b"]


@pytest.mark.parametrize("already_read", [0, 2])
def test_standard_input_is_read_from_where_it_stands(
    file: Path, monkeypatch: pytest.MonkeyPatch, already_read: int
) -> None:
    """A file given as standard input is read again from the same place, and goes by that name."""
    file.write_bytes(b"a\nb\nc\n")
    with file.open("rb", buffering=0) as stream:
        stream.read(already_read)
        monkeypatch.setattr("sys.stdin", stream)
        source = Source(STANDARD_INPUT, LINE_BYTES_MAX, keep=True)
        first, second = list(source.blocks()), list(source.blocks())

    expected = [b"a", b"b", b"c"][already_read // 2 :]
    assert lines_of(first) == lines_of(second) == expected
    assert first[0].source == "standard input"


def test_damaged_standard_input_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of an error says that it was standard input."""
    file.write_bytes(zstd(CONTENT)[:-1])
    with file.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(InputError, match="cannot read standard input: damaged"):
            list(Source(STANDARD_INPUT, LINE_BYTES_MAX).blocks())
