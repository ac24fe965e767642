"""`stream-dedup pairs` from outside: what it reads, prints and refuses, and how it ends."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stream_dedup.cli import main
from tests.oracles.text import containment, jaccard, normalise, shingles

COMMAND = [sys.executable, "-m", "stream_dedup", "pairs"]
MODES = ["signature", "exact"]


class Printed(NamedTuple):
    """How a run ended and what it printed."""

    exit_code: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def ids(self) -> list[tuple[str, str]]:
        return [(line["a"], line["b"]) for line in self.lines]


Run = Callable[..., Printed]


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Run]:
    """Run the command in this process, with no settings but those given."""
    for name in [name for name in os.environ if name.startswith("STREAM_DEDUP_")]:
        monkeypatch.delenv(name)
    terminated = signal.getsignal(signal.SIGTERM)

    def call(*arguments: object) -> Printed:
        exit_code = main(["pairs", *map(str, arguments)])
        captured = capfdbinary.readouterr()
        return Printed(exit_code, captured.out, captured.err.decode())

    yield call
    signal.signal(signal.SIGTERM, terminated)


def words(seed: int, number: int = 60) -> list[str]:
    """Draw words."""
    random = Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(random.choices(letters, k=random.randrange(3, 9))) for _ in range(number)]


def text(seed: int, number: int = 60) -> str:
    """Draw a text, unlike that of any other seed."""
    return " ".join(words(seed, number))


def edited(original: str, seed: int, changes: int = 1) -> str:
    """Replace some words."""
    random, edited_words = Random(seed), original.split()
    for place in random.sample(range(len(edited_words)), changes):
        edited_words[place] = f"edited{seed}"
    return " ".join(edited_words)


def line(identity: object, content: object, **more: object) -> bytes:
    """Write a document."""
    return json.dumps({"id": identity, "text": content, **more}).encode() + b"\n"


def write(path: Path, lines: Sequence[bytes]) -> Path:
    """Write a file of documents."""
    path.write_bytes(b"".join(lines))
    return path


# Two stories with copies of each, three that stand alone, and one without text.
TEXTS = {
    "a1": text(1),
    "b1": text(2, 90),
    "c1": text(3),
    "a2": edited(text(1), 11),
    "b2": text(2, 90).upper(),
    "void": " ... ",
    "a3": edited(text(1), 12),
    "d1": text(4),
    "b3": edited(text(2, 90), 13, 2),
    "e1": text(5),
}
FEED = [line(identity, content) for identity, content in TEXTS.items()]


def similarity(a: str, b: str) -> float:
    """Compare two of the texts exactly."""
    return jaccard(shingles(TEXTS[a], "char", 5), shingles(TEXTS[b], "char", 5))


SIMILAR = [
    (a, b)
    for b in TEXTS
    for a in list(TEXTS)[: list(TEXTS).index(b)]
    if similarity(a, b) >= 0.8 and TEXTS[b] != TEXTS["void"]
]


def pairs_of(content: bytes) -> list[tuple[str, str]]:
    """Read the ids of printed pairs."""
    return [(pair["a"], pair["b"]) for pair in map(json.loads, content.splitlines())]


def test_the_feed_has_pairs_of_both_stories() -> None:
    """What the tests below expect is not empty."""
    assert SIMILAR == [
        ("a1", "a2"),
        ("b1", "b2"),
        ("a1", "a3"),
        ("a2", "a3"),
        ("b1", "b3"),
        ("b2", "b3"),
    ]


# What is read


def plain(content: bytes) -> bytes:
    """Leave it as it is."""
    return content


def gzip_members(content: bytes) -> bytes:
    """Compress in two members, as files that were appended to are."""
    return gzip.compress(content[:500]) + gzip.compress(content[500:])


def zstd_frames(content: bytes) -> bytes:
    """Compress in two frames."""
    compress = zstandard.ZstdCompressor().compress
    return compress(content[:500]) + compress(content[500:])


PACKINGS = [plain, gzip.compress, gzip_members, zstandard.ZstdCompressor().compress, zstd_frames]
PACKING_NAMES = ["plain", "gzip", "gzip-members", "zstd", "zstd-frames"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pack", PACKINGS, ids=PACKING_NAMES)
def test_a_file_may_be_compressed_whatever_its_name(
    run: Run, tmp_path: Path, pack: Callable[[bytes], bytes], mode: str
) -> None:
    """Plain, gzip and zstd are told apart by content; several members or frames are one file."""
    path = write(tmp_path / "feed", [pack(b"".join(FEED))])

    found = run(path, "--verify", mode)

    assert (found.exit_code, found.err) == (0, "")
    assert found.ids == SIMILAR


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arguments", [[], ["-"]], ids=["none", "dash"])
@pytest.mark.parametrize("pack", PACKINGS, ids=PACKING_NAMES)
def test_standard_input_may_be_a_pipe(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    pack: Callable[[bytes], bytes],
    arguments: list[str],
    mode: str,
) -> None:
    """Without files, or for -, standard input is read, compressed or not, and twice if need be."""
    reading, writing = os.pipe()
    os.write(writing, pack(b"".join(FEED)))
    os.close(writing)
    with open(reading, encoding="utf-8") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        found = run(*arguments, "--verify", mode)

    assert (found.exit_code, found.err) == (0, "")
    assert found.ids == SIMILAR


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pack", [plain, gzip.compress], ids=["plain", "gzip"])
def test_standard_input_may_be_a_file(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    pack: Callable[[bytes], bytes],
    mode: str,
) -> None:
    """`stream-dedup pairs < FILE` is as good as naming the file."""
    path = write(tmp_path / "feed", [pack(b"".join(FEED))])
    with path.open(encoding="utf-8") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        found = run("--verify", mode)

    assert (found.exit_code, found.err) == (0, "")
    assert found.ids == SIMILAR


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pack", PACKINGS, ids=PACKING_NAMES)
def test_a_named_pipe_may_bring_its_bytes_one_by_one(
    run: Run, tmp_path: Path, pack: Callable[[bytes], bytes], mode: str
) -> None:
    """A pipe is known by its first bytes as a file is, however few of them come at a time."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write_slowly() -> None:
        with path.open("wb", buffering=0) as pipe:
            content = pack(b"".join(FEED))
            for position in range(8):
                pipe.write(content[position : position + 1])
            pipe.write(content[8:])

    with ThreadPoolExecutor() as pool:
        written = pool.submit(write_slowly)
        found = run(path, "--verify", mode)
        written.result()

    assert (found.exit_code, found.err) == (0, "")
    assert found.ids == SIMILAR


@pytest.mark.parametrize("mode", MODES)
def test_several_files_are_one_collection(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Files are read in the order of their names, standard input where - stands among them."""
    first = write(tmp_path / "first.jsonl", FEED[:3])
    second = write(tmp_path / "second.jsonl", FEED[3:5])
    last = write(tmp_path / "last.jsonl.gz", [gzip.compress(b"".join(FEED[5:]))])
    with second.open(encoding="utf-8") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        found = run(first, "-", last, "--verify", mode)

    assert found.ids == SIMILAR

    assert run(last, first, "--verify", mode).ids == [("a3", "a1"), ("b3", "b1")]


@pytest.mark.parametrize("mode", MODES)
def test_the_last_line_may_lack_its_end_and_lines_may_end_in_two_characters(
    run: Run, tmp_path: Path, mode: str
) -> None:
    """Files of other systems and files cut off after the last document are read whole."""
    content = b"\xef\xbb\xbf" + b"".join(FEED).replace(b"\n", b"\r\n").rstrip()

    found = run(write(tmp_path / "feed.jsonl", [content]), "--verify", mode)

    assert (found.exit_code, found.err) == (0, "")
    assert found.ids == SIMILAR


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [[], ["--clusters"]], ids=["pairs", "clusters"])
@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\n \n\t\r\n", gzip.compress(b""), FEED[0], FEED[5] * 3],
    ids=["nothing", "line", "blank", "gzip", "one", "no-text"],
)
def test_nothing_to_find_is_no_error(
    run: Run, tmp_path: Path, content: bytes, more: list[str], mode: str
) -> None:
    """An empty input, blank lines, a single document, documents without text: nothing, and 0."""
    path = write(tmp_path / "feed.jsonl", [content])

    assert run(path, "--verify", mode, *more) == (0, b"", "")


def test_devices_are_read_as_pipes_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that says nothing is an empty input."""
    with open(os.devnull, encoding="utf-8") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)

        assert run("-", os.devnull, "--verify", "exact") == (0, b"", "")


def test_fields_may_have_other_names(run: Run, tmp_path: Path) -> None:
    """--text-field joins several fields, of which some may be missing; --id-field names the id."""
    head, body = text(1, 30), text(2, 30)
    lines = [
        {"url": "x", "head": head, "body": body, "text": "not this", "id": ["nor", "this"]},
        {"url": "y", "body": f"{head}\n{body}"},
        {"url": "z", "head": head, "body": None},
    ]
    path = write(tmp_path / "feed.jsonl", [json.dumps(fields).encode() + b"\n" for fields in lines])

    found = run(path, "--text-field", "head,body", "--id-field", "url")

    assert [(pair["a"], pair["b"], pair["kind"]) for pair in found.lines] == [("x", "y", "exact")]


# What is printed


def test_the_line_of_a_pair(run: Run, tmp_path: Path) -> None:
    """A pair is one line, with the keys in the order in which the help shows them."""
    path = write(tmp_path / "feed.jsonl", [line("r1", text(1)), line("x7", text(1))])

    assert run(path).out == (
        b'{"a": "r1", "b": "x7", "similarity": 1.0, "error": 0.0, "kind": "exact", '
        b'"containment": 1.0}\n'
    )


def test_exact_verification_tells_the_truth(run: Run, tmp_path: Path) -> None:
    """Similarity and containment of b in a are the exact ones, and the error is 0."""
    found = run(write(tmp_path / "feed.jsonl", FEED), "--verify", "exact")

    for pair in found.lines:
        a, b = (shingles(TEXTS[pair[side]], "char", 5) for side in "ab")

        assert pair["similarity"] == round(jaccard(a, b), 6)
        assert pair["containment"] == round(containment(b, a), 6)
        assert pair["error"] == 0


def test_estimates_state_their_error(run: Run, tmp_path: Path) -> None:
    """By signature a pair of long texts has an error, and lies within a few of them."""
    found = run(write(tmp_path / "feed.jsonl", FEED))
    near = [pair for pair in found.lines if pair["kind"] != "exact"]

    assert near != []
    for pair in near:
        assert 0 < pair["error"] < 0.05
        assert abs(pair["similarity"] - similarity(pair["a"], pair["b"])) <= 4 * pair["error"]


@pytest.mark.parametrize("mode", MODES)
def test_pairs_come_in_the_order_of_the_later_document(run: Run, tmp_path: Path, mode: str) -> None:
    """Ordered by b as it came in, and for each by a; a is the earlier one. Both modes agree."""
    lines = [line(number, edited(text(number % 3), number)) for number in range(30)]

    found = run(write(tmp_path / "feed.jsonl", lines), "--verify", mode).ids

    order = [(int(b), int(a)) for a, b in found]
    assert order == sorted(order)
    assert all(a < b for b, a in order)
    assert found == [(str(a), str(b)) for b in range(30) for a in range(b) if a % 3 == b % 3], (
        "every two of the same story"
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("earlier", "later", "kind"),
    [
        (text(1), text(1), "exact"),
        (text(1), "  " + text(1).upper() + " ...", "exact"),
        (text(1), text(1, 51), "excerpt"),
        (text(1, 51), text(1), "extension"),
        (text(1), edited(text(1), 1), "near"),
        (text(1), text(1, 59), "near"),
        (text(1, 59), text(1), "near"),
    ],
)
def test_the_kind_says_how_b_relates_to_a(
    run: Run, tmp_path: Path, earlier: str, later: str, kind: str, mode: str
) -> None:
    """The same text, a part of a, a with more around it, or a near copy of equal standing."""
    path = write(tmp_path / "feed.jsonl", [line("a", earlier), line("b", later)])

    (pair,) = run(path, "--verify", mode).lines

    a, b = shingles(earlier, "char", 5), shingles(later, "char", 5)
    assert pair["kind"] == kind
    assert pair["containment"] == pytest.approx(containment(b, a), abs=0.06)
    assert pair["containment"] <= 1
    assert (normalise(earlier) == normalise(later)) == (kind == "exact")


@pytest.mark.parametrize("mode", MODES)
def test_identical_texts_have_no_error(run: Run, tmp_path: Path, mode: str) -> None:
    """However long, the same text is known for certain; so is each of its copies."""
    lines = [line(number, text(1, 2000)) for number in range(5)]

    found = run(write(tmp_path / "feed.jsonl", lines), "--verify", mode).lines

    assert [(pair["a"], pair["b"]) for pair in found] == [
        (str(a), str(b)) for b in range(5) for a in range(b)
    ]
    assert {(pair["similarity"], pair["error"], pair["kind"]) for pair in found} == {
        (1.0, 0.0, "exact")
    }


@pytest.mark.parametrize("mode", MODES)
def test_same_shingles_in_another_order_are_not_the_same_text(
    run: Run, tmp_path: Path, mode: str
) -> None:
    """Two texts of the same set of shingles have similarity 1 and are near copies."""
    path = write(tmp_path / "feed.jsonl", [line("a", "ab" * 50), line("b", "ab" * 60)])

    (pair,) = run(path, "--verify", mode).lines

    assert (pair["similarity"], pair["error"], pair["kind"]) == (1.0, 0.0, "near")


@pytest.mark.parametrize("mode", MODES)
def test_texts_shorter_than_a_shingle_match_their_like_only(
    run: Run, tmp_path: Path, mode: str
) -> None:
    """A text of fewer characters than a shingle is one shingle: the same text or another one."""
    contents = ["a", "b", "A!", "ab", "abcd", "abcde", "", "...", "", "abcd", "東京", "東京。"]
    lines = [line(number, content) for number, content in enumerate(contents)]

    found = run(write(tmp_path / "feed.jsonl", lines), "--verify", mode)

    assert found.ids == [("0", "2"), ("4", "9"), ("10", "11")]
    assert {pair["kind"] for pair in found.lines} == {"exact"}


IDS = [
    '"quoted"',
    "back\\slash",
    "line\nbreak\r\t",
    "日本語 🙂 \u202e",
    "\x00\x1f\x7f",
    "[b]{}",
    " ",
]


@pytest.mark.parametrize("more", [[], ["--clusters"]], ids=["pairs", "clusters"])
def test_any_id_makes_valid_json(run: Run, tmp_path: Path, more: list[str]) -> None:
    """Quotes, line breaks, other scripts, control characters: an id comes out as it went in."""
    lines = [line(identity, text(1)) for identity in IDS]

    found = run(write(tmp_path / "feed.jsonl", lines), *more).lines

    if more:
        assert found == [{"cluster": IDS[0], "size": len(IDS), "documents": IDS}]
    else:
        expected = {(a, b) for a, b in combinations(IDS, 2)}
        assert {(pair["a"], pair["b"]) for pair in found} == expected


def test_ids_may_be_numbers_and_may_repeat(run: Run, tmp_path: Path) -> None:
    """A number is an id too; two documents of one id are two documents."""
    lines = [line(7, text(1)), line(7, text(1)), line(2**70, text(2)), line("7", text(1))]

    assert run(write(tmp_path / "feed.jsonl", lines)).ids == [("7", "7")] * 3


def test_a_file_named_twice_is_read_twice(run: Run, tmp_path: Path) -> None:
    """Who names a file twice gets each document as a copy of itself."""
    path = write(tmp_path / "feed.jsonl", [FEED[0], FEED[1]])

    assert run(path, path, "--verify", "exact").ids == [("a1", "a1"), ("b1", "b1")]


@pytest.mark.parametrize("mode", MODES)
def test_clusters_do_not_chain(run: Run, tmp_path: Path, mode: str) -> None:
    """Where a is like b and b like c but a not like c, c is no member of the cluster of a."""
    middle = text(1, 100)
    first, last = f"{text(2, 16)} {middle}", f"{middle} {text(3, 16)}"
    lines = [line("first", first), line("middle", middle), line("last", last)]
    path = write(tmp_path / "feed.jsonl", lines)

    assert run(path, "--verify", mode).ids == [("first", "middle"), ("middle", "last")]
    assert run(path, "--verify", mode, "--clusters").lines == [
        {"cluster": "first", "size": 2, "documents": ["first", "middle"]}
    ]


@pytest.mark.parametrize("mode", MODES)
def test_clusters_are_named_after_their_first_document(run: Run, tmp_path: Path, mode: str) -> None:
    """One line a group of two or more, in the order of their first documents."""
    found = run(write(tmp_path / "feed.jsonl", FEED), "--clusters", "--verify", mode)

    assert found.lines == [
        {"cluster": "a1", "size": 3, "documents": ["a1", "a2", "a3"]},
        {"cluster": "b1", "size": 3, "documents": ["b1", "b2", "b3"]},
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [[], ["--clusters"]], ids=["pairs", "clusters"])
def test_output_goes_to_the_file_named(
    run: Run, tmp_path: Path, more: list[str], mode: str
) -> None:
    """--output gets what standard output would have got, and replaces what was there."""
    path, output = write(tmp_path / "feed.jsonl", FEED), tmp_path / "out.jsonl"
    output.write_text("old " * 10_000)
    expected = run(path, "--verify", mode, *more).out

    assert expected != b""
    assert run(path, "--verify", mode, *more, "--output", output) == (0, b"", "")
    assert output.read_bytes() == expected


# What is skipped

NO_DOCUMENTS = [
    (b"no json", "JSON"),
    (b"[1, 2]", "JSON"),
    (b'"text"', "JSON"),
    (b'{"id": "x", "text": "cut', "JSON"),
    (b'{"id": "x", "text": "more"} {}', "JSON"),
    (b'{"id": "x"}', "no text"),
    (b'{"id": "x", "text": null}', "no text"),
    (b'{"id": "x", "text": 7}', "text"),
    (b'{"text": "who?"}', "id"),
    (b'{"id": "", "text": "who?"}', "id is empty"),
    (b'{"id": ["x"], "text": "who?"}', "id"),
    (b'{"id": "x", "text": "\xff\xfe"}', "UTF-8"),
    (b"[" * 100_000, "JSON"),
    (b"\x00\x01[red]\x1b[31m", "JSON"),
]


def test_lines_that_are_no_documents_are_told_and_skipped(run: Run, tmp_path: Path) -> None:
    """Each is named by file, line number and reason, and all are counted; the others are kept."""
    bad = tmp_path / "[bad].jsonl"
    write(bad, [FEED[0], b"\n", *(reason_less + b"\n" for reason_less, _ in NO_DOCUMENTS), FEED[3]])
    more = write(tmp_path / "more.jsonl", [b"\n", b'{"text": ""}\n', FEED[6]])

    found = run(bad, more)

    *told, total = found.err.splitlines()
    expected = [(f"{bad}:{number}: ", reason) for number, (_, reason) in enumerate(NO_DOCUMENTS, 3)]
    expected.append((f"{more}:2: ", "id"))
    assert found.exit_code == 0
    assert len(told) == len(expected)
    for told_line, (place, reason) in zip(told, expected, strict=True):
        assert told_line.startswith(f"skipped {place}")
        assert reason in told_line.removeprefix(f"skipped {place}")
    assert total == f"lines skipped: {len(expected)}"
    assert found.ids == [("a1", "a2"), ("a1", "a3"), ("a2", "a3")]


def test_many_bad_lines_are_counted_not_listed(run: Run, tmp_path: Path) -> None:
    """A file of another kind does not flood the terminal: some lines are told, all are counted."""
    path = write(tmp_path / "feed.jsonl", [b"bad\n"] * 12_345 + FEED)

    found = run(path)

    told = found.err.splitlines()
    assert len(told) < 30
    assert told[0].startswith(f"skipped {path}:1: ")
    assert told[-1] == "lines skipped: 12,345"
    assert found.ids == SIMILAR


def test_strict_stops_at_the_first_bad_line(run: Run, tmp_path: Path) -> None:
    """--strict ends with 2 and names the file, the line and the reason."""
    path = write(tmp_path / "feed.jsonl", [*FEED, b"\n", b"bad\n", b"worse\n"])

    found = run(path, "--strict")

    assert (found.exit_code, found.out) == (2, b"")
    assert found.err.startswith(f"error: {path}:{len(FEED) + 2}: JSON: ")
    assert found.err.count("\n") == 1

    assert run(write(tmp_path / "good.jsonl", FEED), "--strict").ids == SIMILAR


@pytest.mark.parametrize("mode", MODES)
def test_a_line_that_is_too_long_is_skipped(run: Run, tmp_path: Path, mode: str) -> None:
    """A line above events.document_bytes_max is rejected by its size, and the rest goes on."""
    huge = line("huge", "x" * 3_000_000)
    limit = max(map(len, FEED))
    path = write(tmp_path / "feed.jsonl", [*FEED[:3], huge, *FEED[3:], huge.rstrip()])

    found = run(path, "--verify", mode, "--set", f"events.document_bytes_max={limit}")

    assert found.exit_code == 0
    assert found.ids == SIMILAR
    told = found.err.splitlines()
    assert [message.split(": ")[0] for message in told[:-1]] == [
        f"skipped {path}:4",
        f"skipped {path}:{len(FEED) + 2}",
    ]
    assert all(f"events.document_bytes_max = {limit}" in message for message in told[:-1])


good_or_bad = st.one_of(
    st.just(None),
    st.binary(max_size=40).filter(lambda content: b"\n" not in content),
    st.sampled_from(NO_DOCUMENTS).map(lambda case: case[0][:2000]),
    st.integers(0, len(FEED[1]) - 2).map(lambda length: FEED[1][:length]),
    st.tuples(st.integers(0, 60), st.binary(min_size=1, max_size=3)).map(
        lambda change: (FEED[1][: change[0]] + change[1] + FEED[1][change[0] :]).replace(b"\n", b"")
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(good_or_bad, max_size=25), mode=st.sampled_from(MODES))
def test_bad_lines_never_take_good_ones_with_them(
    run: Run, tmp_path: Path, lines: list[bytes | None], mode: str
) -> None:
    """Whatever stands between them, all documents are kept, and nothing ends in a traceback."""
    good = [f"good {number}" for number, content in enumerate(lines) if content is None]
    kept = iter(good)
    content = [line(next(kept), text(1)) if bad is None else bad + b"\n" for bad in lines]

    found = run(write(tmp_path / "feed.jsonl", content), "--verify", mode)

    assert found.exit_code == 0
    assert "Traceback" not in found.err
    pairs = [
        pair for pair in found.ids if pair[0].startswith("good") and pair[1].startswith("good")
    ]
    assert sorted(pairs) == sorted(combinations(good, 2))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.sampled_from([b"", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd"]),
    rest=st.binary(max_size=200),
    mode=st.sampled_from(MODES),
)
def test_no_bytes_make_a_traceback(
    run: Run, tmp_path: Path, start: bytes, rest: bytes, mode: str
) -> None:
    """Any file is either read, perhaps with all lines skipped, or refused in one line."""
    found = run(write(tmp_path / "feed", [start + rest]), "--verify", mode)

    assert (found.exit_code, found.out) in {(0, b""), (2, b"")}
    assert "Traceback" not in found.err
    if found.exit_code == 2:
        assert found.err.startswith("error: cannot read ")
        assert found.err.count("\n") == 1


# What is refused


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "No such file or directory"),
        ("directory", "directory"),
        ("cut.gz", "cut short"),
        ("bad.gz", "damaged"),
        ("garbage.gz", "damaged"),
        ("cut.zst", "cut short"),
        ("bad.zst", "damaged"),
        ("locked", "Permission denied"),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_what_cannot_be_read_ends_with_2(
    run: Run, tmp_path: Path, name: str, reason: str, mode: str
) -> None:
    """A missing, locked, damaged or cut file is named in one line with the reason."""
    path = tmp_path / name
    content = b"".join(line(number, text(number)) for number in range(50))
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(content)
    if not name.endswith(".zst"):
        packed = gzip.compress(content)
    match name.partition(".")[0]:
        case "directory":
            path.mkdir()
        case "cut":
            path.write_bytes(packed[: len(packed) // 2])
        case "bad":
            path.write_bytes(packed[:300] + bytes(8) + packed[308:])
        case "garbage":
            path.write_bytes(packed + b"garbage")
        case "locked":
            path.touch(mode=0)
            if os.access(path, os.R_OK):
                pytest.skip("nothing is locked for this user")

    found = run(path, "--verify", mode)

    assert (found.exit_code, found.out) == (2, b"")
    assert found.err.startswith(f"error: cannot read {path}: ")
    assert reason in found.err
    assert found.err.count("\n") == 1


def test_what_cannot_be_written_ends_with_2(run: Run, tmp_path: Path) -> None:
    """A file that cannot be written is named in one line before any work is done."""
    path = write(tmp_path / "feed.jsonl", FEED)
    for output in (tmp_path, tmp_path / "no" / "such" / "directory"):
        found = run(path, "--output", output)

        assert (found.exit_code, found.out) == (2, b"")
        assert found.err.startswith(f"error: cannot write {output}: ")
        assert found.err.count("\n") == 1


def test_an_input_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    """--output that names an input, by whatever name, is refused, and the input is left alone."""
    path, alias = write(tmp_path / "feed.jsonl", FEED), tmp_path / "alias"
    alias.symlink_to(path)
    for output in (path, alias):
        found = run(path, "--output", output)

        assert (found.exit_code, found.out) == (2, b"")
        assert found.err.startswith(f"error: cannot write {output}: ")
        assert path.read_bytes() == b"".join(FEED)


def test_standard_input_is_asked_for_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """- twice, or no standard input at all, is wrong usage."""
    with open(os.devnull, encoding="utf-8") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)

        assert run("-", "-").exit_code == 2

    monkeypatch.setattr(sys, "stdin", None)
    for arguments in ([], ["-"]):
        found = run(*arguments)

        assert (found.exit_code, found.out) == (2, b"")
        assert "name a file" in found.err


def test_nobody_waits_for_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a file and without a pipe the command says what to do instead of waiting."""
    _, terminal = os.openpty()
    with open(terminal, encoding="utf-8") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        found = run()

    assert (found.exit_code, found.out) == (2, b"")
    assert "name a file" in found.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--threshold", "0"],
        ["--threshold", "1.1"],
        ["--threshold", "nan"],
        ["--size", "0"],
        ["--unit", "line"],
        ["--verify", "never"],
        ["--measure", "hamming"],
        ["--set", "similarity.treshold=1"],
        ["--set", "similarity.hashes=0"],
        ["--config", "/does/not/exist.toml"],
        ["--text-field", ""],
        ["--threshold", "0.01"],
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(
    run: Run, tmp_path: Path, arguments: list[str]
) -> None:
    """Values that are not allowed, or that no bands can serve, are told in a line on stderr."""
    found = run(write(tmp_path / "feed.jsonl", FEED), *arguments)

    assert (found.exit_code, found.out) == (2, b"")
    assert found.err.startswith("error: ")
    assert found.err.count("\n") == 1


# Settings


def test_the_nearer_source_of_a_setting_wins(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File < environment < --set < the option: each hides what the one before it said."""
    path = write(tmp_path / "feed.jsonl", [FEED[0], FEED[3]])
    config = tmp_path / "settings.toml"
    config.write_text("[similarity]\nthreshold = 0.999\n")
    none: list[tuple[str, str]] = []
    one = [("a1", "a2")]

    assert run(path).ids == one
    assert run(path, "--config", config).ids == none
    monkeypatch.setenv("STREAM_DEDUP_SIMILARITY__THRESHOLD", "0.7")
    assert run(path, "--config", config).ids == one
    given = ["--config", config, "--set", "similarity.threshold=0.999"]
    assert run(path, *given).ids == none
    assert run(path, *given, "--threshold", "0.7").ids == one


def test_any_setting_can_be_given(run: Run, tmp_path: Path) -> None:
    """--set reaches what has no option: html, verify, the bands themselves."""
    marked = "".join(f"<p class='{number}'>{word}</p>" for number, word in enumerate(words(1)))
    path = write(tmp_path / "feed.jsonl", [FEED[0], line("marked", marked)])

    assert run(path).ids == []
    assert run(path, "--set", "similarity.html=strip").ids == [("a1", "marked")]

    feed = write(tmp_path / "other.jsonl", FEED)
    exact = run(feed, "--verify", "exact").out
    assert run(feed, "--set", "similarity.verify=exact").out == exact
    bands = ["--set", "similarity.bands=32", "--set", "similarity.rows=4"]
    assert run(feed, *bands, "--verify", "exact").out == exact
    assert run(feed, "--set", "similarity.seed=7", "--verify", "exact").out == exact


@pytest.mark.parametrize("mode", MODES)
def test_shingles_and_measure_can_be_chosen(run: Run, tmp_path: Path, mode: str) -> None:
    """--unit, --size and --measure change what similarity means."""
    once, thrice = text(1), " ".join([text(1)] * 2 + [text(2)])
    path = write(tmp_path / "feed.jsonl", [line("once", once), line("thrice", thrice)])
    cosine = ["--measure", "cosine", "--set", "similarity.hashes=1024", "--verify", mode]

    assert run(path, "--verify", mode).ids == []
    assert run(path, *cosine).ids == [("once", "thrice")]

    path = write(tmp_path / "words.jsonl", [line("a", "one two three"), line("b", "two three one")])
    assert run(path, "--unit", "word", "--size", "2", "--verify", mode).ids == []
    assert run(path, "--unit", "word", "--size", "1", "--verify", mode).ids == [("a", "b")]


# What happens meanwhile


def replaced_by(content: bytes | None) -> Callable[[Path], object]:
    """Return what changes a file: its content, or that it is gone."""
    return lambda path: path.unlink() if content is None else path.write_bytes(content)


@pytest.mark.parametrize(
    "change",
    [
        replaced_by(b"".join(FEED[:5])),
        replaced_by(b""),
        replaced_by(None),
        replaced_by(b"bad\n" * len(FEED)),
        replaced_by(b"\n" + b"".join(FEED)),
        replaced_by(b"".join(FEED[::-1])),
        replaced_by(b"".join(line(number, text(100 + number)) for number in range(20))),
    ],
    ids=["shorter", "empty", "gone", "bad", "moved", "reversed", "other"],
)
def test_a_file_that_changes_between_two_readings_is_refused(
    run: Run, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    """--verify exact never compares texts other than those it signed: it ends with 2 and says so.

    The change comes when the first file was read and the second, a pipe, is waited for.
    """
    path, pipe = write(tmp_path / "feed.jsonl", FEED), tmp_path / "pipe"
    os.mkfifo(pipe)

    def change_and_go_on() -> None:
        with pipe.open("wb"):
            change(path)

    with ThreadPoolExecutor() as pool:
        changed = pool.submit(change_and_go_on)
        found = run(path, pipe, "--verify", "exact")
        changed.result()

    assert (found.exit_code, found.out) == (2, b"")
    assert found.err.startswith("error: ")
    assert found.err.count("\n") == 1


def start(*arguments: object, **more: Any) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), **more
    )


def environment() -> dict[str, str]:
    """Return an environment without settings."""
    plain = {name: value for name, value in os.environ.items() if "STREAM_DEDUP" not in name}
    return plain | {"PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.parametrize(
    ("sent", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)], ids=["ctrl-c", "term"]
)
@pytest.mark.parametrize("mode", MODES)
def test_a_signal_stops_it_while_it_reads(
    tmp_path: Path, sent: signal.Signals, exit_code: int, mode: str
) -> None:
    """Ctrl-C ends with 130 and a termination with 0, at once, without a word and without pairs."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with start(pipe, "--verify", mode) as process:
        with pipe.open("wb") as writing:  # opened once the process reads
            writing.writelines(FEED)
            writing.flush()
            process.send_signal(sent)
        out, err = process.communicate(timeout=30)

    assert (process.returncode, out, err) == (exit_code, b"", b"")


@pytest.mark.parametrize("mode", MODES)
def test_a_reader_that_has_had_enough_ends_it_quietly(tmp_path: Path, mode: str) -> None:
    """`stream-dedup pairs … | head -1` gets its line, and no complaint follows."""
    lines = [line(f"{number:0200}", text(1)) for number in range(100)]
    path = write(tmp_path / "feed.jsonl", lines)
    with start(path, "--verify", mode) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()

    assert json.loads(first)["kind"] == "exact"
    assert (process.returncode, err) == (0, b"")


def test_the_command_works_as_a_filter(tmp_path: Path) -> None:
    """Started by a shell, from a pipe to a pipe, it is silent but for the pairs."""
    with start(stdin=subprocess.PIPE) as process:
        out, err = process.communicate(gzip.compress(b"".join(FEED)), timeout=60)

    assert (process.returncode, err) == (0, b"")
    assert pairs_of(out) == SIMILAR


def test_without_standard_output_a_file_is_asked_for(tmp_path: Path) -> None:
    """Started with a closed standard output, it says so; with --output it needs none."""
    path, output = write(tmp_path / "feed.jsonl", FEED), tmp_path / "out.jsonl"
    closed = f"exec {' '.join(COMMAND)} {path} >&-"

    def shell(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", command],
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            check=False,
        )

    refused = shell(closed)
    assert refused.returncode == 2
    assert "--output" in refused.stderr
    assert refused.stderr.count("\n") == 1

    assert shell(f"{closed} --output {output}").returncode == 0
    assert pairs_of(output.read_bytes()) == SIMILAR
