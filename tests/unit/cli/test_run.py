"""`stream-dedup run` from outside: what it decides, remembers, tells and refuses."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import zstandard

from stream_dedup.cli import main
from stream_dedup.config import IndexSettings
from stream_dedup.engine import Matcher
from stream_dedup.index.rocksdb import RocksIndex


class Printed(NamedTuple):
    """How a run ended and what it printed."""

    exit_code: int
    out: bytes
    err: str

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def types(self) -> list[tuple[str, str]]:
        return [(verdict["document"]["id"], verdict["type"]) for verdict in self.verdicts]


Run = Callable[..., Printed]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], alone: None) -> Run:
    """Run the command in this process and an empty directory, with no settings but those given."""

    def call(*arguments: object) -> Printed:
        exit_code = main(["run", *map(str, arguments)])
        captured = capfdbinary.readouterr()
        return Printed(exit_code, captured.out, captured.err.decode())

    return call


def text(seed: int) -> str:
    """Draw a text, unlike that of any other seed."""
    random = Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(random.choices(letters, k=random.randrange(3, 9))) for _ in range(60))


def line(identity: object, content: object = None, **more: object) -> bytes:
    """Write a document, or with other fields alone something else."""
    fields = {"id": identity} | ({} if content is None else {"text": content}) | more
    return json.dumps(fields).encode() + b"\n"


A1, B1, A2, C1, A3 = (
    line("a1", text(1), source="reuters", published_at="2026-03-01T08:00:00Z"),
    line("b1", text(2), published_at="2026-03-01T09:00:00Z"),
    line("a2", f"{text(1)} edited", source="afp"),
    line("c1", text(3), published_at="2026-03-01T10:00:00+02:00"),
    line("a3", text(1)),
)
TYPES = [
    ("a1", "unique"),
    ("b1", "unique"),
    ("a2", "duplicate"),
    ("c1", "unique"),
    ("a3", "duplicate"),
]


def write(content: bytes, name: str = "feed.jsonl") -> str:
    """Write a file in the directory of the run."""
    Path(name).write_bytes(content)
    return name


# What is decided


def test_copies_are_told_as_they_come(run: Run) -> None:
    """A document that resembles an earlier one gets a verdict that names it, in input order."""
    done = run("--input", write(A1 + B1 + A2 + C1 + A3))

    assert (done.exit_code, done.err) == (0, "")
    assert done.types == [("a2", "duplicate"), ("a3", "duplicate")]
    near, exact = done.verdicts
    assert near["matches"][0]["id"] == "a1"
    assert near["matches"][0]["kind"] == "near"
    assert near["record"] == {"topic": "feed.jsonl", "partition": 0, "offset": 2}
    assert exact["matches"][0] | {"id": "a1", "kind": "exact"} == exact["matches"][0]
    assert exact["cluster"] == {"id": "a1", "size": 3}


@pytest.mark.parametrize(
    ("emit", "expected"),
    [("all", TYPES), ("matches", [TYPES[2], TYPES[4]]), ("none", [])],
)
def test_what_is_told_is_chosen(run: Run, emit: str, expected: list[tuple[str, str]]) -> None:
    """--emit tells of all documents, of those that match, or of none."""
    done = run("--input", write(A1 + B1 + A2 + C1 + A3), "--emit", emit)

    assert done.types == expected


def test_a_document_without_a_date_is_shown_without_one(run: Run) -> None:
    """Times are published_at in UTC; the first documents may have none at all."""
    done = run("--input", write(A3 + A1 + B1 + A2 + C1 + line("d1", text(4))), "--emit", "all")

    assert [verdict["document"]["seen_at"] for verdict in done.verdicts] == [
        None,
        "2026-03-01T08:00:00.000Z",
        "2026-03-01T09:00:00.000Z",
        None,
        "2026-03-01T08:00:00.000Z",
        None,
    ]


@pytest.mark.parametrize(("window", "expected"), [("1h", []), ("3h", ["a9"]), ("none", ["a9"])])
def test_what_is_older_than_the_window_is_forgotten(
    run: Run, window: str, expected: list[str]
) -> None:
    """The window counts in times of publication; `none` forgets nothing."""
    late = line("a9", text(1), published_at="2026-03-01T10:30:00Z")
    done = run("--input", write(A1 + B1 + late), "--window", window)

    assert [identity for identity, _ in done.types] == expected


def test_a_line_deletes(run: Run) -> None:
    """A deleted document is matched no more."""
    done = run("--input", write(A1 + line("a1", deleted=True) + A2 + A3), "--emit", "all")

    assert done.types[1:] == [("a1", "deleted"), ("a2", "unique"), ("a3", "duplicate")]


def test_settings_are_heard(run: Run) -> None:
    """Fields and similarity follow options, and the index lies where it is told to."""
    lines = [json.dumps({"url": str(n), "body": text(n // 2)}).encode() + b"\n" for n in range(4)]
    options = ("--id-field", "url", "--text-field", "body", "--threshold", "0.9", "--index", "here")
    done = run("--input", write(b"".join(lines)), *options)

    assert done.types == [("1", "duplicate"), ("3", "duplicate")]
    assert Path("here", "CURRENT").exists()
    assert not Path("index").exists()


# Going on


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.compress])
def test_a_run_goes_on_where_the_last_one_stopped(
    run: Run, compress: Callable[[bytes], bytes]
) -> None:
    """A file that grew is read on, with numbers and times from before; the output is added to."""
    feed = write(compress(A1 + B1))
    arguments = ("--input", feed, "--output", "out", "--emit", "all")
    assert run(*arguments).exit_code == 0
    first = Path("out").read_bytes()
    assert run(*arguments).exit_code == 0
    assert Path("out").read_bytes() == first
    with Path(feed).open("ab") as file:
        file.write(compress(A2 + C1))
    assert run(*arguments).exit_code == 0
    whole = write(compress(A1 + B1 + A2 + C1), "whole")
    expected = run("--input", whole, "--emit", "all", "--index", "other").verdicts
    verdicts = [json.loads(verdict) for verdict in Path("out").read_bytes().splitlines()]

    for verdict in expected + verdicts:
        del verdict["event_id"], verdict["record"]["topic"]
    assert verdicts == expected


def test_another_input_is_compared_with_the_first(run: Run) -> None:
    """An index remembers one feed while it reads the next, each from its own beginning."""
    assert run("--input", write(A1 + B1)).types == []
    assert run("--input", write(C1 + A2, "second")).types == [("a2", "duplicate")]
    write(A1 + B1 + A3)
    assert run("--input", "feed.jsonl").types == [("a3", "duplicate")]
    assert run("--input", "second").types == []


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b""])
def test_a_last_line_needs_no_end(run: Run, ending: bytes) -> None:
    """A whole document at the end of a file counts, and its end may come later."""
    feed = write(A1 + A2.rstrip())
    assert run("--input", feed).types == [("a2", "duplicate")]
    with Path(feed).open("ab") as file:
        file.write(ending + A3 if ending else b"")
    again = run("--input", feed)

    assert again.types == ([("a3", "duplicate")] if ending else [])
    assert [verdict["record"]["offset"] for verdict in again.verdicts] == [2][: len(again.types)]


def test_half_a_last_line_is_left_for_the_next_run(run: Run) -> None:
    """A last line that is no document yet is told and read again when the file has grown."""
    feed = write(A1 + A2[:100])
    first = run("--input", feed, "--rejected", "rejected")
    again = run("--input", feed, "--rejected", "rejected")
    write(A1 + A2)
    grown = run("--input", feed, "--rejected", "rejected")

    assert first.exit_code == again.exit_code == 0
    assert first.err == again.err
    assert "skipped feed.jsonl:2: JSON: " in first.err
    assert grown.types == [("a2", "duplicate")]
    assert grown.err == ""
    assert Path("rejected").read_bytes() == b""


def test_a_pipe_is_new_at_each_start(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input is read from where it stands; its records go on being numbered."""
    verdicts = []
    for content in (A1 + B1, A2 + A3.rstrip()):
        with Path(write(content)).open("rb") as stream:
            monkeypatch.setattr("sys.stdin", stream)
            verdicts += run("--input", "-", "--emit", "all").verdicts

    assert [verdict["type"] for verdict in verdicts] == ["unique", "unique"] + ["duplicate"] * 2
    assert [verdict["record"]["offset"] for verdict in verdicts] == [0, 1, 2, 3]
    assert {verdict["record"]["topic"] for verdict in verdicts} == {"-"}
    assert len({verdict["event_id"] for verdict in verdicts}) == 4


def test_a_crash_before_the_first_commit_leaves_no_trace(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines that were written and never remembered are known to be ours, and written again."""

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    arguments = ("--input", write(A1 + A2), "--output", "out")
    with monkeypatch.context() as patch:
        patch.setattr(Matcher, "remember", crash)
        assert run(*arguments).exit_code == 130
    before = Path("out").read_bytes()
    assert before != b""
    assert run(*arguments).exit_code == 0
    assert Path("out").read_bytes() == before


# Rejected lines


def test_rejected_lines_are_told_and_kept(run: Run) -> None:
    """A line that is no document is named on stderr, and kept with its reason if so asked."""
    feed = write(A1 + b"\n{oops\n" + A2 + b'{"text": "no id"}\n')
    done = run("--input", feed, "--rejected", "rejected")
    kept = [json.loads(rejection) for rejection in Path("rejected").read_bytes().splitlines()]

    assert done.exit_code == 0
    assert done.types == [("a2", "duplicate")]
    assert [(rejection["record"]["offset"], rejection["line"]) for rejection in kept] == [
        (2, "{oops"),
        (4, '{"text": "no id"}'),
    ]
    assert done.err.splitlines() == [
        f"skipped feed.jsonl:3: {kept[0]['reason']}",
        f"skipped feed.jsonl:5: {kept[1]['reason']}",
        "lines skipped: 2",
    ]


def test_too_many_rejected_lines_stop_the_run(run: Run) -> None:
    """A wrong feed is refused with the ways out; what came before stays decided."""
    feed = write(A1 + A2 + b"oops\n" * 11 + A3)
    options = ("--set", "events.rejected_ratio_max=0.001", "--set", "kafka.batch_size_max=1")
    done = run("--input", feed, *options)

    assert done.exit_code == 3
    assert done.types == [("a2", "duplicate")]
    assert "error: 11 of the last 10,000 records were no documents" in done.err
    assert run("--input", feed).types == [("a3", "duplicate")]


# What is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "out"], "name the input: stream-dedup run --input FILE"),
        (["--input", "none"], "cannot read none: No such file"),
        (["--input", "."], "cannot read .: it is a directory"),
        (["--input", "feed", "--output", "feed"], "feed: it is the input"),
        (["--input", "feed", "--output", "./feed"], "feed: it is the input"),
        (["--input", "feed", "--rejected", "link"], "feed: it is the input"),
        (["--input", "feed", "--output", "."], ": it is a directory"),
        (["--input", "feed", "--output", "none/out"], "cannot write none/out: No such file"),
        (["--input", "feed", "--output", "index/out"], "in the directory of the index"),
        (["--input", "feed", "--output", "a", "--rejected", "a"], "need a file each"),
        (["--input", "feed", "--output", "a", "--rejected", "./a"], "need a file each"),
        (["--input", "feed", "--window", "soon"], "--window"),
        (["--input", "/dev/null", "--follow"], "--follow is for files"),
    ],
)
def test_wrong_usage_is_told(run: Run, arguments: list[str], message: str) -> None:
    """Nothing is written where it should not be, and one line says why."""
    write(A1, "feed")
    Path("link").symlink_to("feed")
    done = run(*arguments)

    assert done.exit_code == 2
    assert done.out == b""
    assert done.err.startswith("error: ")
    assert message in done.err
    assert Path("feed").read_bytes() == A1


def test_an_input_that_was_replaced_is_refused(run: Run) -> None:
    """A file of the same name with other content is not read on; the output stays as it is."""
    arguments = ("--input", write(A1 + A2), "--output", "out")
    assert run(*arguments).exit_code == 0
    before = Path("out").read_bytes()
    write(B1 + A2 + A3)
    done = run(*arguments)

    assert done.exit_code == 3
    assert "feed.jsonl is not the file that was read before" in done.err
    assert Path("out").read_bytes() == before


def test_an_output_that_lost_lines_is_refused(run: Run) -> None:
    """An output shorter than what was written to it is told, with the ways out."""
    arguments = ("--input", write(A1 + A2), "--output", "out")
    assert run(*arguments).exit_code == 0
    Path("out").unlink()
    done = run(*arguments)

    assert done.exit_code == 3
    assert "out is shorter than what was written to it" in done.err
    assert not Path("out").exists()


def test_an_output_of_something_else_is_refused(run: Run) -> None:
    """A file that holds lines already, none of this index, is not written over."""
    Path("out").write_bytes(b"mine\n")
    done = run("--input", write(A1 + A2), "--output", "out")

    assert done.exit_code == 3
    assert Path("out").read_bytes() == b"mine\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is full")
def test_an_output_that_is_full_is_told(run: Run) -> None:
    """One line names the output; what was not written is given again by the next run."""
    command = ("--input", write(A1 + A2), "--emit", "all", "--output")
    full = run(*command, "/dev/full")
    after = run(*command, "-")

    assert (full.exit_code, full.err.strip().splitlines()[-1:]) == (
        1,
        ["error: cannot write /dev/full: No space left on device"],
    )
    assert after.out.count(b"\n") == 2


def test_other_signatures_are_refused(run: Run) -> None:
    """An index made with other shingles cannot be gone on with."""
    assert run("--input", write(A1)).exit_code == 0
    done = run("--input", "feed.jsonl", "--size", "9")

    assert done.exit_code == 3
    assert "made with size = 5, the settings say 9" in done.err


def test_an_index_in_use_is_refused(run: Run) -> None:
    """One process at a time writes an index."""
    index = RocksIndex.open("index", IndexSettings())
    done = run("--input", write(A1))
    index.close()

    assert done.exit_code == 3
    assert done.err.startswith("error: ")
