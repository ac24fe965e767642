"""`stream-dedup pairs` in a crowd: thousands of copies, or near copies, of one text.

All pairs of a crowd would be half its square: 200 million of 20,000 documents.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

SEED = 20_260_131
WORDS = 120
CHANGES = 1  # two documents differ in two words: their similarity is .95
PAIRS_PER_DOCUMENT_MAX = 100
# The interpreter and its libraries take 250 MB, a document with all its pairs less than 10 KB. If
# every pair were held, 50,000 documents would make 1,250 million pairs of 16 bytes and more.
MEMORY_BYTES_MAX = 1_500_000_000

WATCHED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


class Searched(NamedTuple):
    """What the command printed, its note, and the most memory it held."""

    printed: Path
    note: list[str]
    memory_bytes: int


def write_crowd(path: Path, number: int, changes: int) -> Path:
    """Write copies of one text, in each of which so many words are others."""
    random = Random(SEED)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(random.choices(letters, k=random.randrange(3, 10))) for _ in range(3000)]
    text = random.choices(vocabulary, k=WORDS)
    with path.open("w", encoding="utf-8") as lines:
        for position in range(number):
            words = list(text)
            for place in random.sample(range(WORDS), changes):
                words[place] = random.choice(vocabulary)
            document = {"id": str(position), "text": " ".join(words)}
            lines.write(json.dumps(document) + "\n")
    return path


def search(documents: Path, *arguments: str) -> Searched:
    """Run the command under a small process of its own, which sees its memory and no other's."""
    printed = documents.with_suffix(".printed")
    command = [sys.executable, "-m", "stream_dedup", "pairs", str(documents), *arguments]
    command += ["--output", str(printed)]
    watched = [sys.executable, "-c", WATCHED, *command]
    done = subprocess.run(watched, capture_output=True, text=True, check=False)
    *note, peak = done.stderr.splitlines()

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    unit = 1 if sys.platform == "darwin" else 1024
    return Searched(printed, note, int(peak) * unit)


def read(printed: Path) -> Iterator[dict[str, Any]]:
    """Read one line at a time: there may be millions."""
    with printed.open("rb") as lines:
        yield from map(json.loads, lines)


def check_pairs(found: Searched, number: int) -> None:
    """Check that there are enough pairs to read and not too many, and that the rest is told."""
    places = np.array([(int(pair["a"]), int(pair["b"])) for pair in read(found.printed)])
    partners = np.unique(places[:, 1])

    assert PAIRS_PER_DOCUMENT_MAX / 2 < len(places) / number <= PAIRS_PER_DOCUMENT_MAX
    assert len(np.unique(places @ [number, 1])) == len(places)
    assert len(partners) > 0.99 * number, "all but the first resemble one before them"
    assert "more similar ones before them than are listed" in found.note[0]
    assert len(found.note) <= 2
    assert found.memory_bytes < MEMORY_BYTES_MAX


def check_cluster(found: Searched, number: int) -> None:
    """Check that the crowd is one group, but for the few whose likeness to its first is missed."""
    largest = next(read(found.printed))

    assert largest["cluster"] == largest["documents"][0] == "0"
    assert largest["size"] == len(set(largest["documents"])) > 0.99 * number
    assert found.memory_bytes < MEMORY_BYTES_MAX


LONG = pytest.param(50_000, marks=pytest.mark.soak)


@pytest.mark.parametrize(
    ("changes", "verify"), [(0, "signature"), (CHANGES, "signature"), (CHANGES, "exact")]
)
@pytest.mark.parametrize("number", [6_000, LONG])
def test_pairs_of_a_crowd_are_bounded(
    number: int, changes: int, verify: str, tmp_path: Path
) -> None:
    """Memory and output grow with the documents, not with their square, and a note says so."""
    crowd = write_crowd(tmp_path / "crowd.jsonl", number, changes)

    check_pairs(search(crowd, "--verify", verify), number)


@pytest.mark.parametrize("changes", [0, CHANGES])
@pytest.mark.parametrize("number", [6_000, LONG])
def test_a_crowd_is_one_cluster(number: int, changes: int, tmp_path: Path) -> None:
    """A crowd of which not all pairs are listed is shown as one group nevertheless."""
    crowd = write_crowd(tmp_path / "crowd.jsonl", number, changes)

    check_cluster(search(crowd, "--clusters"), number)


@pytest.mark.parametrize("verify", ["signature", "exact"])
def test_documents_beside_a_crowd_find_each_other(verify: str, tmp_path: Path) -> None:
    """A crowd does not take the room of those who have one copy each, before or after it."""
    documents = write_crowd(tmp_path / "documents.jsonl", 1_500, CHANGES)
    random = Random(SEED)
    lines = documents.read_text(encoding="utf-8").splitlines()
    singles = [" ".join(str(random.random()) for _ in range(40)) for _ in range(40)]
    for name, place in (("before", 0), ("after", len(lines) + len(singles))):
        lines[place:place] = [
            json.dumps({"id": f"{name} {number}", "text": text})
            for number, text in enumerate(singles)
        ]
    documents.write_text("\n".join(lines), encoding="utf-8")

    pairs = read(search(documents, "--verify", verify).printed)
    between = {(pair["a"], pair["b"]) for pair in pairs if pair["b"].startswith("after")}

    assert between == {(f"before {number}", f"after {number}") for number in range(len(singles))}
