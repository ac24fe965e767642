"""`stream-dedup explain` from outside: what it compares, what it shows, what it refuses."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import zstandard

from stream_dedup.cli import main
from tests.oracles.text import containment, jaccard, shingles

OLD = "Yesterday the minister said that taxes would rise in spring, according to officials."
NEW = "Yesterday the prime minister said that taxes would rise, according to many officials."
FEED = [
    {"id": "r1", "text": OLD},
    {"id": "x7", "text": NEW, "title": "A headline"},
    {"id": "r1", "text": "a later document of the same id"},
    {"id": 12, "text": OLD.upper()},
    {"id": "none", "text": " ... "},
]
CONTENT = b"no document\n" + b"".join(json.dumps(fields).encode() + b"\n" for fields in FEED)


class Printed(NamedTuple):
    """How a run ended and what it printed."""

    exit_code: int
    out: str
    err: str

    @property
    def explained(self) -> Any:
        assert (self.exit_code, self.err) == (0, "")
        return json.loads(self.out)


Run = Callable[..., Printed]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run the command in this process, with no settings but those given."""
    for name in [name for name in os.environ if name.startswith("STREAM_DEDUP_")]:
        monkeypatch.delenv(name)
    terminated = signal.getsignal(signal.SIGTERM)

    def call(*arguments: object) -> Printed:
        exit_code = main(["explain", *map(str, arguments)])
        return Printed(exit_code, *capfd.readouterr())

    yield call
    signal.signal(signal.SIGTERM, terminated)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Write the two texts."""
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(OLD, encoding="utf-8")
    new.write_text(NEW, encoding="utf-8")
    return old, new


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """Write a file of documents."""
    path = tmp_path / "feed.jsonl"
    path.write_bytes(CONTENT)
    return path


def test_json_has_all_figures(run: Run, files: tuple[Path, Path]) -> None:
    """--json prints one object, whose figures are the exact ones."""
    explained = run(*files, "--json").explained
    a, b = shingles(OLD, "char", 5), shingles(NEW, "char", 5)

    assert set(explained) == {
        *("duplicate", "threshold", "measure", "similarity", "estimate", "error"),
        *("bands_shared", "bands", "rows", "candidate_probability", "a", "b", "shared"),
    }
    assert set(explained["a"]) == {"characters", "shingles", "containment", "only"}
    assert explained["similarity"] == jaccard(a, b)
    assert explained["a"]["containment"] == pytest.approx(containment(a, b))
    assert explained["b"]["containment"] == pytest.approx(containment(b, a))
    assert (explained["a"]["shingles"], explained["b"]["shingles"]) == (len(a), len(b))
    assert (explained["threshold"], explained["measure"]) == (0.8, "jaccard")
    assert explained["duplicate"] is False
    assert (explained["bands"], explained["rows"]) == (21, 6)
    assert abs(explained["estimate"] - explained["similarity"]) < 4 * explained["error"]
    assert explained["a"]["only"] == ["in spring"]
    assert explained["b"]["only"] == ["prime", "many"]


def test_people_read_the_verdict_first(run: Run, files: tuple[Path, Path]) -> None:
    """In words: the verdict, the estimate, the bands, both sides, and the passages with signs."""
    shown = run(*files)
    lines = shown.out.splitlines()

    assert (shown.exit_code, shown.err) == (0, "")
    assert lines[0].startswith("no duplicates: jaccard similarity 0.")
    assert lines[0].endswith("< threshold 0.8")
    assert lines[1].startswith("estimated from signatures: 0.")
    assert " of 21 " in lines[2]
    assert "- in spring" in lines
    assert "+ prime" in lines
    assert "+ many" in lines
    assert any(line.startswith("= ") for line in lines)

    assert run(*files, "--threshold", "0.5").out.startswith("duplicates: ")


def test_a_pipe_gets_no_colours(run: Run, files: tuple[Path, Path]) -> None:
    """Colours are for terminals."""
    assert "\x1b" not in run(*files).out
    assert "\x1b" not in run(*files, "--json").out


def test_a_terminal_gets_colours(files: tuple[Path, Path]) -> None:
    """Somebody who watches sees what is shared and what is missing in colours."""
    ours, theirs = os.openpty()
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "stream_dedup", "explain", *map(str, files)]
    with subprocess.Popen(
        command, stdout=theirs, env=environment | {"TERM": "xterm-256color"}
    ) as process:
        os.close(theirs)
        received = b""
        try:
            while part := os.read(ours, 4096):
                received += part
        except OSError:  # how a terminal says that its other end is closed
            pass
        os.close(ours)

    assert process.returncode == 0
    assert b"\x1b[32m= " in received
    assert b"\x1b[31m- in spring" in received


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_two_ids_of_a_file(run: Run, feed: Path, pack: Callable[[bytes], bytes]) -> None:
    """With --input A and B are ids: of the first document that has it, in a file compressed or not.

    The text is compared as `pairs` compares it, and lines that are no documents do not matter.
    """
    feed.write_bytes(pack(CONTENT))

    explained = run("r1", "x7", "--input", feed, "--json").explained

    similarity = jaccard(shingles(OLD, "char", 5), shingles(NEW, "char", 5))
    assert explained["similarity"] == similarity
    assert run("x7", "r1", "--input", feed, "--json").explained["similarity"] == similarity
    assert run("12", "r1", "--input", feed, "--json").explained["duplicate"] is True


def test_a_document_is_like_itself(run: Run, feed: Path) -> None:
    """One id twice, or one file twice, is the same text."""
    for arguments in (("x7", "x7", "--input", feed), (feed, feed)):
        explained = run(*arguments, "--json").explained

        assert (explained["similarity"], explained["estimate"]) == (1, 1)
        assert explained["bands_shared"] == explained["bands"]
        assert explained["duplicate"] is True
        assert explained["a"]["only"] == explained["b"]["only"] == []


def test_standard_input_can_be_searched(
    run: Run, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--input - takes the documents from a pipe."""
    with feed.open(encoding="utf-8") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)

        assert run("r1", "12", "--input", "-", "--json").explained["duplicate"] is True


def test_fields_may_have_other_names(run: Run, tmp_path: Path) -> None:
    """--text-field and --id-field mean what they mean to `pairs`."""
    path = tmp_path / "posts.jsonl"
    posts = [{"url": "x", "head": "One", "body": OLD}, {"url": "y", "head": "One", "body": OLD}]
    path.write_text("\n".join(map(json.dumps, posts)), encoding="utf-8")
    given = ["--input", path, "--id-field", "url", "--text-field", "head,body", "--json"]

    explained = run("x", "y", *given).explained

    assert explained["a"]["characters"] == len(f"One {OLD}") - 2  # a comma and a full stop
    assert explained["duplicate"] is True


def test_no_text_is_no_duplicate(run: Run, tmp_path: Path, feed: Path) -> None:
    """Of empty texts there is nothing to show, and they resemble nothing, not even each other."""
    path = tmp_path / "empty.txt"
    path.touch()

    for arguments in ((path, path), (path, feed), ("none", "none", "--input", feed)):
        shown = run(*arguments)

        assert (shown.exit_code, shown.err) == (0, "")
        assert shown.out.startswith("no duplicates: ")

    assert run(path, path, "--json").explained["duplicate"] is False


def test_passages_are_shown_as_they_are(run: Run, tmp_path: Path) -> None:
    """Brackets are text, not markup, and any script is printed as it is."""
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text("東京 [bold] 🙂 один два [/bold]", encoding="utf-8")
    b.write_text("東京 [red] один два три", encoding="utf-8")

    shown = run(a, b, "--unit", "word", "--size", "1")

    assert "= 東京" in shown.out.splitlines()
    assert "= один два" in shown.out.splitlines()
    assert "- bold" in shown.out.splitlines()
    assert "три" in run(a, b, "--json").out, "not escaped"


@pytest.mark.parametrize("unit", ["char", "word"])
def test_long_texts_are_explained_quickly(run: Run, tmp_path: Path, unit: str) -> None:
    """A megabyte takes seconds, and is shown on a screen."""
    random = Random(20_260_131)
    vocabulary = ["".join(random.choices("abcdefghijklm", k=8)) for _ in range(20_000)]
    words = random.choices(vocabulary, k=110_000)
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text(" ".join(words))
    for place in random.sample(range(len(words)), 300):
        words[place] = f"edited{place}"
    b.write_text(" ".join(words))
    run(a, a, "--unit", unit)  # compiles

    started = time.process_time()
    shown = run(a, b, "--unit", unit)

    assert time.process_time() - started < 15
    assert shown.out.startswith("duplicates: ")
    assert len(shown.out) < 10_000


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "a " * 500_000, "東" * 300_000, "\u0301" * 300_000]
)
def test_odd_texts_are_explained(run: Run, tmp_path: Path, text: str) -> None:
    """A million times the same character is a text like any other."""
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text(text, encoding="utf-8")
    b.write_text(text + " and more", encoding="utf-8")

    shown = run(a, b)

    assert (shown.exit_code, shown.err) == (0, "")
    assert len(shown.out) < 10_000


def test_what_cannot_be_compared_ends_with_2(
    run: Run, tmp_path: Path, feed: Path, files: tuple[Path, Path]
) -> None:
    """A missing or unreadable file and an unknown id are named in one line, with a way out."""
    binary, missing = tmp_path / "binary", tmp_path / "missing"
    binary.write_bytes(b"text\xff")
    cases: list[tuple[tuple[object, ...], str]] = [
        ((files[0], missing), f"cannot read {missing}: No such file or directory"),
        ((files[0], missing), "--input"),
        ((tmp_path, files[0]), f"cannot read {tmp_path}: "),
        ((files[0], binary), f"cannot read {binary}: not UTF-8 at byte 4"),
        (("r1", "unknown", "--input", feed), f"{feed} has no document with the id 'unknown'"),
        (("r1", "x7", "--input", missing), f"cannot read {missing}: No such file or directory"),
        (("r1", "x7", "--input", tmp_path), f"cannot read {tmp_path}: "),
        (("r1",), "Missing argument"),
        ((*files, "--threshold", "2"), "--threshold"),
        ((*files, "--set", "similarity.siez=3"), "similarity.size"),
    ]
    for arguments, message in cases:
        refused = run(*arguments)

        assert (refused.exit_code, refused.out) == (2, "")
        assert refused.err.startswith("error: ")
        assert message in refused.err
        assert refused.err.count("\n") == 1


def test_settings_are_taken_into_account(
    run: Run, tmp_path: Path, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """File < environment < --set < option, as everywhere."""
    config = tmp_path / "settings.toml"
    config.write_text("[similarity]\nsize = 3\nbands = 16\nrows = 8\nunit = 'word'\n")

    explained = run(*files, "--config", config, "--json").explained
    assert explained["similarity"] == jaccard(shingles(OLD, "word", 3), shingles(NEW, "word", 3))
    assert (explained["bands"], explained["rows"]) == (16, 8)

    monkeypatch.setenv("STREAM_DEDUP_SIMILARITY__SIZE", "2")
    explained = run(*files, "--config", config, "--json").explained
    assert explained["similarity"] == jaccard(shingles(OLD, "word", 2), shingles(NEW, "word", 2))

    given = ["--config", config, "--set", "similarity.size=4", "--unit", "char", "--json"]
    explained = run(*files, *given).explained
    assert explained["similarity"] == jaccard(shingles(OLD, "char", 4), shingles(NEW, "char", 4))

    explained = run(*files, "--measure", "cosine", "--json").explained
    assert explained["measure"] == "cosine"
