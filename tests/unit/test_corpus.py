"""Documents of several files, signed in order and read again."""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from stream_dedup.config import EventsSettings
from stream_dedup.corpus import Corpus, RejectedLine, Signed, find_texts, map_ordered
from stream_dedup.errors import InputError
from stream_dedup.events import DocumentDecoder
from stream_dedup.files import Source
from stream_dedup.similarity.curve import Measure
from stream_dedup.similarity.ragged import Ragged, stack
from stream_dedup.similarity.shingles import Shingling
from stream_dedup.similarity.sketch import Sketcher, join_sketches

DECODER = DocumentDecoder(EventsSettings())
# Some seven megabytes, and so several blocks.
TEXTS = [f"Story {n}: " + f"one of {n % 17} or {n % 13} kinds. " * (n % 199) for n in range(3000)]


def line(identity: object, text: str) -> bytes:
    return json.dumps({"id": identity, "text": text}).encode() + b"\n"


def corpus_of(
    paths: Sequence[Path], threads: int = 2, measure: Measure = "jaccard", keep: bool = False
) -> Corpus:
    sources = [Source(str(path), 10**7, keep) for path in paths]
    return Corpus(sources, DECODER, Sketcher(Shingling(), 64, 9, 7, measure), threads)


def lines_of(signed: list[Signed]) -> list[int]:
    return [number for part in signed for number in part.lines.tolist()]


def rejected_of(signed: list[Signed]) -> list[RejectedLine]:
    return [rejected for part in signed for rejected in part.rejected]


def elements_of(corpus: Corpus, lines: Sequence[int]) -> Ragged:
    return stack([rows for rows, _ in corpus.elements(np.array(lines, np.int64))])


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Two thirds of the texts in a plain file, the rest in a compressed one."""
    lines = [line(f"n{number}", text) for number, text in enumerate(TEXTS)]
    plain, compressed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_bytes(b"".join(lines[:2000]))
    compressed.write_bytes(gzip.compress(b"".join(lines[2000:])))
    return [plain, compressed]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_documents_are_signed_in_order(paths: list[Path], threads: int) -> None:
    """Ids, sketches and lines come in the order of files and lines, whatever the threads."""
    corpus = corpus_of(paths, threads)
    signed = list(corpus.sign())
    sketches = join_sketches([part.sketches for part in signed])
    expected = corpus.sketcher.sketch(TEXTS)

    assert len(signed) > 4
    assert [identity for part in signed for identity in part.ids] == [f"n{n}" for n in range(3000)]
    assert lines_of(signed) == list(range(3000))
    assert rejected_of(signed) == []
    assert np.array_equal(sketches.signatures, expected.signatures)
    assert np.array_equal(sketches.keys, expected.keys)
    assert np.array_equal(sketches.fingerprints, expected.fingerprints)
    assert np.array_equal(sketches.sizes, expected.sizes)


def test_bytes_are_counted_as_they_lie_on_disk(paths: list[Path]) -> None:
    """What is reported as read adds up to the size, in both readings."""
    corpus = corpus_of(paths)
    size = sum(path.stat().st_size for path in paths)

    assert corpus.size == size
    assert sum(part.bytes_read for part in corpus.sign()) == size
    assert sum(count for _, count in corpus.elements(np.array([5]))) == size


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
def test_elements_are_read_again(paths: list[Path], measure: Measure) -> None:
    """A second reading gives the elements of the texts on the lines that are asked for."""
    corpus = corpus_of(paths, measure=measure)
    lines = [0, 1, 5, 700, 1999, 2000, 2001, 2999]

    again = elements_of(corpus, lines)
    expected = corpus.sketcher.elements([TEXTS[number] for number in lines])

    assert np.array_equal(again.values, expected.values)
    assert np.array_equal(again.bounds, expected.bounds)
    assert elements_of(corpus, []).rows == 0
    assert elements_of(corpus, range(3000)).rows == 3000


def test_bad_lines_are_reported_by_file_and_number(tmp_path: Path) -> None:
    """Lines are numbered from 1 in each file; empty ones are counted and are no error."""
    good = line("x", "text")
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"\xff\n" + good + b"\n  \r\n{\n" + good.replace(b"\n", b"\r\n") + b"[]")
    second.write_bytes(b"\n" * 40_000 + good + b'{"id": "y"}\n' + good)
    corpus = corpus_of([first, second])
    signed = list(corpus.sign())
    rejected = rejected_of(signed)

    assert [(found.source, found.number) for found in rejected] == [
        (str(first), 1),
        (str(first), 5),
        (str(first), 7),
        (str(second), 40_002),
    ]
    assert "missing" in rejected[3].reason
    assert lines_of(signed) == [1, 5, 40_007, 40_009]
    assert elements_of(corpus, lines_of(signed)).rows == 4


def test_bad_lines_far_into_a_file_are_numbered_right(paths: list[Path]) -> None:
    """Across blocks, in plain and compressed files alike, the number is that of the line."""
    plain, compressed = paths
    plain.write_bytes(plain.read_bytes() + b"bad\n" + line("last", "text"))
    compressed.write_bytes(compressed.read_bytes() + gzip.compress(b"bad\nbad"))
    signed = list(corpus_of(paths).sign())

    assert [(found.source, found.number) for found in rejected_of(signed)] == [
        (str(plain), 2001),
        (str(compressed), 1001),
        (str(compressed), 1002),
    ]
    assert lines_of(signed) == [*range(2000), *range(2001, 3002)]


def test_a_line_that_is_too_long_is_rejected(tmp_path: Path) -> None:
    """A document above the limit is a bad line, and the one after it a good one."""
    path = tmp_path / "file"
    path.write_bytes(line("a", "x" * 11_000_000) + line("b", "text"))
    (signed,) = [part for part in corpus_of([path]).sign() if part.ids]
    rejected = rejected_of(list(corpus_of([path]).sign()))

    assert signed.ids == ["b"]
    assert [found.number for found in rejected] == [1]
    assert "more than events.document_bytes_max" in rejected[0].reason


def test_a_corpus_without_documents_is_empty(tmp_path: Path) -> None:
    """No files, and files without lines, give no documents and no error."""
    path = tmp_path / "file"
    path.write_bytes(b"")

    assert list(corpus_of([]).sign()) == []
    assert list(corpus_of([path, path]).sign()) == []
    assert list(corpus_of([path]).elements(np.zeros(0, np.int64))) == []


def test_lines_that_are_not_there_are_an_error(paths: list[Path]) -> None:
    """Documents that are missing at the second reading are missed."""
    with pytest.raises(InputError, match="an input became shorter"):
        elements_of(corpus_of(paths), [2999, 3000])


def test_a_file_that_is_another_one_is_an_error(paths: list[Path]) -> None:
    """A file that was written anew between the two readings is named."""
    corpus = corpus_of(paths)
    assert len(lines_of(list(corpus.sign()))) == 3000
    paths[1].write_bytes(gzip.compress(line("n2000", "text")))

    with pytest.raises(InputError, match=f"{paths[1]} changed"):
        elements_of(corpus, range(3000))


def test_a_line_that_is_no_document_any_more_is_an_error(paths: list[Path]) -> None:
    """What was rejected in the first reading cannot be asked for in the second."""
    corpus = corpus_of(paths)
    paths[0].write_bytes(b"x" + paths[0].read_bytes())

    with pytest.raises(InputError, match=f"{paths[0]} changed"):
        elements_of(corpus, [0])


def test_an_error_while_reading_comes_through(paths: list[Path]) -> None:
    """A damaged file stops the reading with its own error, in both readings."""
    paths[1].write_bytes(paths[1].read_bytes()[:-10])
    corpus = corpus_of(paths)

    with pytest.raises(InputError, match=f"{paths[1]}: damaged"):
        list(corpus.sign())
    with pytest.raises(InputError, match=f"{paths[1]}: damaged"):
        elements_of(corpus, range(3000))


def test_the_first_document_of_an_id_is_found(tmp_path: Path) -> None:
    """Of several documents with an id the first counts; bad lines and unknown ids are passed."""
    path = tmp_path / "file"
    path.write_bytes(b"bad\n" + line("a", "one") + line("a", "two") + line(7, "seven"))
    source = Source(str(path), 10**7)

    assert find_texts(source, DECODER, {"a", "7"}) == {"a": "one", "7": "seven"}
    assert find_texts(source, DECODER, {"a", "none"}) == {"a": "one"}
    assert find_texts(source, DECODER, set()) == {}


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_order(threads: int) -> None:
    """However long each takes, results are in the order of the items, and few are read ahead."""
    read: list[int] = []

    def items() -> Iterator[int]:
        for item in range(100):
            read.append(item)
            yield item

    results = map_ordered(lambda item: item * item, items(), threads)

    assert next(results) == 0
    assert len(read) <= 2 * threads + 1
    assert list(results) == [item * item for item in range(1, 100)]


def test_items_are_worked_on_at_the_same_time() -> None:
    """Two threads meet, which one alone could not."""
    barrier = Barrier(2)

    assert sorted(map_ordered(lambda _: barrier.wait(timeout=30), range(2), 2)) == [0, 1]


def test_an_error_in_one_item_stops_all() -> None:
    """The error comes out where its result would have, and nothing is left running."""

    def divide(item: int) -> float:
        return 1 / (item - 3)

    results = map_ordered(divide, range(1000), 2)

    assert [next(results) for _ in range(3)] == [-1 / 3, -1 / 2, -1.0]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert list(results) == []
