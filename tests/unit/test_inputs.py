"""Lines of an input from where the last run stopped, of a file that may have grown meanwhile."""

import gzip
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from threading import Event, Semaphore

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.errors import InputError, Refused, UsageError
from stream_dedup.inputs import STANDARD_INPUT, Input, Portion
from stream_dedup.trail import Mark

LINE_BYTES_MAX = 1000
LINES = [Random(n).randbytes(400).hex().encode() for n in range(4000)]
CONTENT = b"\n".join(LINES) + b"\n"

ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda content: content,
    "gzip": lambda content: gzip.compress(content, 1),
    "zstd": lambda content: zstandard.ZstdCompressor().compress(content),
}
encodings = pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS.keys())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "feed"


def read(
    path: Path | str,
    mark: Mark | None = None,
    lines: int = 0,
    lines_max: int = 500,
    count: int | None = None,
) -> list[Portion]:
    """Read what is there, or so many portions of it, from a place on."""
    with closing(Input(str(path)).open(mark, lines, Event())) as reader:
        return list(islice(reader.portions(lines_max, LINE_BYTES_MAX), count))


def on(path: Path, last: Portion) -> list[Portion]:
    """Read on behind a portion, as the next run does."""
    return read(path, last.trail.mark(), last.first_line + len(last.lines))


def lines_of(portions: list[Portion]) -> list[bytes]:
    return [line for portion in portions for line in portion.lines]


def numbered(portions: list[Portion]) -> list[tuple[int, bytes]]:
    return [
        (number, line)
        for portion in portions
        for number, line in enumerate(portion.lines, portion.first_line)
    ]


# Reading on


@encodings
@pytest.mark.parametrize("lines_max", [1, 7, 500, 5000])
def test_reading_on_gives_the_rest(
    file: Path, encode: Callable[[bytes], bytes], lines_max: int
) -> None:
    """Wherever reading stopped, the next reading gives all other lines and goes on counting."""
    file.write_bytes(encode(CONTENT))
    count = Random(lines_max).randrange(1, len(LINES) // lines_max + 2)
    first = read(file, lines_max=lines_max, count=count)

    assert all(0 < len(portion.lines) <= lines_max for portion in first)
    assert numbered(first + on(file, first[-1])) == list(enumerate(LINES))


@encodings
def test_a_file_may_grow(file: Path, encode: Callable[[bytes], bytes]) -> None:
    """What was appended meanwhile is read, and a file that did not grow gives nothing."""
    file.write_bytes(encode(b"a\nb\n"))
    first = read(file)
    assert on(file, first[-1]) == []
    with file.open("ab") as writing:
        writing.write(encode(b"c\n"))

    assert numbered(on(file, first[-1])) == [(2, b"c")]


@given(
    st.lists(st.sampled_from([b"", b"a", b"bb", b"c" * 5000]), min_size=1, max_size=12),
    st.data(),
)
def test_every_cut_of_a_growing_file_gives_its_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    """Runs over a file that grows line by line see each line once, under its number."""
    path = tmp_path_factory.mktemp("growing") / "file"
    path.write_bytes(b"")
    seen: list[tuple[int, bytes]] = []
    last: Portion | None = None
    for line in lines:
        with path.open("ab") as writing:
            writing.write(line + b"\n")
        if data.draw(st.booleans()):
            portions = on(path, last) if last else read(path)
            seen += numbered(portions)
            last = portions[-1]
    seen += numbered(on(path, last) if last else read(path))

    assert seen == [(number, line[: LINE_BYTES_MAX + 1]) for number, line in enumerate(lines)]


@encodings
@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (b"", []),
        (b"\nc\n", [(1, b""), (2, b"c")]),
        (b" \r\nc", [(1, b" \r"), (2, b"c")]),
        (b"b2\nc\n", [(2, b"b2"), (3, b"c")]),
        (b"b2", [(2, b"b2")]),
    ],
)
def test_a_last_line_without_its_end_may_get_one(
    file: Path,
    encode: Callable[[bytes], bytes],
    more: bytes,
    expected: list[tuple[int, bytes]],
) -> None:
    """The end alone is no line of its own; anything else behind such a line is."""
    file.write_bytes(encode(b"a\nb"))
    first = read(file)
    assert [portion.ended for portion in first] == [True, False]
    with file.open("ab") as writing:
        writing.write(encode(more))

    assert numbered(on(file, first[-1])) == expected


@encodings
def test_a_line_that_is_too_long_comes_cut_at_one_place(
    file: Path, encode: Callable[[bytes], bytes]
) -> None:
    """However it is read, a long line comes one byte longer than allowed, as one line."""
    long = Random(1).randbytes(1_250_000).hex().encode()
    file.write_bytes(encode(b"first\n" + long + b"\nlast\n"))
    expected = [(0, b"first"), (1, long[: LINE_BYTES_MAX + 1]), (2, b"last")]
    first = read(file, lines_max=1, count=1)

    assert numbered(read(file)) == expected
    assert numbered(on(file, first[-1])) == expected[1:]
    assert read(file)[-1].trail.length == len(long) + 12


# What is refused


@encodings
@pytest.mark.parametrize(
    ("other", "message"),
    [
        (CONTENT[:9000], "shorter than what was read of it: 9,000 of 3,204,000 bytes"),
        (b"", "shorter than what was read of it: 0 of"),
        (b"x" + CONTENT[1:], "not the file that was read before"),
        (CONTENT[:-3] + b"x\n" * 20, "not the file that was read before"),
    ],
    ids=["shorter", "empty", "other start", "other end"],
)
def test_another_file_under_the_name_is_refused(
    file: Path, encode: Callable[[bytes], bytes], other: bytes, message: str
) -> None:
    """A file that was cut or written anew is not read on, and the ways out are named."""
    file.write_bytes(encode(CONTENT))
    last = read(file)[-1]
    file.write_bytes(encode(other))

    with pytest.raises(Refused, match=message) as refused:
        on(file, last)

    assert "a name of its own" in str(refused.value)
    assert "--index" in str(refused.value)


def test_what_cannot_be_read_is_an_error(tmp_path: Path, file: Path) -> None:
    """A missing file, a directory and damaged content are named."""
    with pytest.raises(InputError, match=rf"cannot read {file}: No such file"):
        Input(str(file))
    with pytest.raises(InputError, match=rf"cannot read {tmp_path}: it is a directory"):
        Input(str(tmp_path))
    file.write_bytes(gzip.compress(CONTENT)[:-1000])
    with pytest.raises(InputError, match=rf"cannot read {file}: damaged or cut short"):
        read(file)


def test_only_plain_files_are_followed(file: Path) -> None:
    """A pipe and a compressed file are refused where they are to be followed."""
    with pytest.raises(UsageError, match="--follow is for files"):
        Input(os.devnull, follow=True)
    file.write_bytes(gzip.compress(b"a\n"))
    with pytest.raises(UsageError, match=f"--follow is for plain files: {file} is compressed"):
        Input(str(file), follow=True).open(None, 0, Event())


def test_a_file_is_known_by_its_real_path(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Relative names and links lead to one key; the topic is the name as given."""
    file.write_bytes(b"")
    link = tmp_path / "link"
    link.symlink_to(file)
    monkeypatch.chdir(tmp_path)
    inputs = [Input(name) for name in (str(file), "feed", "./link")]

    assert {source.key for source in inputs} == {os.path.realpath(file)}
    assert [source.topic for source in inputs] == [str(file), "feed", "./link"]


# Pipes


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


@encodings
def test_a_pipe_is_read_to_its_end(
    pipe: Path, background: ThreadPoolExecutor, encode: Callable[[bytes], bytes]
) -> None:
    """A pipe gives all lines, the last one without its end too, and counts on from where told."""
    written = background.submit(pipe.write_bytes, encode(CONTENT + b"end"))
    portions = read(pipe, lines=10)
    written.result()

    assert numbered(portions) == list(enumerate([*LINES, b"end"], 10))
    assert [portion.ended for portion in portions][-2:] == [True, False]


def write_in_turns(path: Path, pieces: list[bytes], turn: Semaphore) -> None:
    """Write each piece only when told that those before it have arrived."""
    with path.open("wb", buffering=0) as writing:
        for piece in pieces:
            writing.write(piece)
            turn.acquire()


@encodings
def test_a_line_in_a_pipe_is_not_held_back(
    pipe: Path, background: ThreadPoolExecutor, encode: Callable[[bytes], bytes]
) -> None:
    """Each line is handed over while its writer still waits, however short it is."""
    turn = Semaphore(0)
    lines = [b"", b"{}", b"a", LINES[0]]
    written = background.submit(write_in_turns, pipe, [encode(x + b"\n") for x in lines], turn)
    with closing(Input(str(pipe)).open(None, 0, Event())) as reader:
        portions = reader.portions(500, LINE_BYTES_MAX)
        for number, line in enumerate(lines):
            assert numbered([next(portions)]) == [(number, line)]
            turn.release()

        assert list(portions) == []
    written.result()


@encodings
def test_the_first_bytes_of_a_pipe_may_come_one_by_one(
    pipe: Path, background: ThreadPoolExecutor, encode: Callable[[bytes], bytes]
) -> None:
    """Compression is known even then."""
    content = encode(b"\x1f(\nb\n")
    pieces = [content[at : at + 1] for at in range(len(content))]
    written = background.submit(write_in_turns, pipe, pieces, Semaphore(len(pieces)))
    portions = read(pipe)
    written.result()

    assert lines_of(portions) == [b"\x1f(", b"b"]


def test_waiting_for_a_pipe_can_be_stopped(pipe: Path, background: ThreadPoolExecutor) -> None:
    """A stop ends the reading though the writer is still there, and half a line is no line."""
    turn, stopped = Semaphore(0), Event()
    written = background.submit(write_in_turns, pipe, [b"a\nhalf"], turn)
    with closing(Input(str(pipe)).open(None, 0, stopped)) as reader:
        portions = reader.portions(500, LINE_BYTES_MAX)
        assert lines_of([next(portions)]) == [b"a"]
        stopped.set()

        assert list(portions) == []
    turn.release()
    written.result()


def test_standard_input_is_read_from_where_it_stands(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file given as standard input is read like a pipe, and stays open."""
    file.write_bytes(b"a\nb\n")
    with file.open("rb", buffering=0) as stream:
        stream.read(2)
        monkeypatch.setattr("sys.stdin", stream)
        source = Input(STANDARD_INPUT)
        assert numbered(read(STANDARD_INPUT, lines=7)) == [(7, b"b")]
        assert not stream.closed

    assert (source.name, source.topic, source.key) == ("standard input", "-", "-")
    assert not source.resumable


# Following


@pytest.fixture
def followed(file: Path) -> Iterator[tuple[Iterator[Portion], Event]]:
    """Follow a file that holds one line and a half."""
    file.write_bytes(b"a\nhal")
    stopped = Event()
    reader = Input(str(file), follow=True).open(None, 0, stopped)
    yield reader.portions(500, LINE_BYTES_MAX), stopped
    reader.close()


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as writing:
        writing.write(content)


def test_what_is_appended_is_read_when_its_line_ends(
    file: Path, followed: tuple[Iterator[Portion], Event]
) -> None:
    """A line comes when its end does, never before."""
    portions, stopped = followed
    assert numbered([next(portions)]) == [(0, b"a")]
    append(file, b"f\nb\nc")
    assert numbered([next(portions)]) == [(1, b"half"), (2, b"b")]
    stopped.set()

    assert list(portions) == []


def test_a_stop_reads_what_is_there(file: Path, followed: tuple[Iterator[Portion], Event]) -> None:
    """Whole lines that are there when a stop is asked for are still read."""
    portions, stopped = followed
    append(file, b"f\nb")
    stopped.set()

    assert lines_of(list(portions)) == [b"a", b"half"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: os.truncate(path, 0), "became shorter while it was followed"),
        (lambda path: path.rename(f"{path}.1"), "was removed while it was followed"),
        (lambda path: (path.rename(f"{path}.1"), path.touch()), "was replaced while it was"),
    ],
    ids=["truncated", "removed", "rotated"],
)
def test_a_file_that_is_no_longer_there_is_refused(
    file: Path,
    followed: tuple[Iterator[Portion], Event],
    change: Callable[[Path], object],
    message: str,
) -> None:
    """Truncation, removal and rotation are told, with the ways out."""
    portions, _ = followed
    assert lines_of([next(portions)]) == [b"a"]
    change(file)

    with pytest.raises(Refused, match=message) as refused:
        next(portions)

    assert "a name of its own" in str(refused.value)


def test_a_rotated_file_is_read_to_its_end(
    file: Path, followed: tuple[Iterator[Portion], Event]
) -> None:
    """What was appended before the file was replaced is not lost."""
    portions, _ = followed
    append(file, b"f\nb\n")
    file.rename(f"{file}.1")

    assert lines_of([next(portions)]) == [b"a", b"half", b"b"]
