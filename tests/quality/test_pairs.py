"""`stream-dedup pairs` against the truth: which pairs it finds, and what it says of each.

The command runs as a user runs it. Every expectation comes from the exact join and the plain
measures of the oracle, which share no code with it.
"""

import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.texts import NAMES
from tests.oracles.text import cosine, counts, jaccard, shingles
from tests.quality import corpora
from tests.quality.brute_force import Pairs, group_copies, join

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

HASHES = 128
RECALL = 0.99
THRESHOLD = 0.8
BIN = 0.02
DECIMALS = 6  # printed


class Part(NamedTuple):
    """Some lines of a corpus, or all."""

    corpus: str
    start: int = 0
    stop: int | None = None


# Where a corpus has more than 5,000 documents, stretches of it in which many are alike.
SHORT = [
    Part("biblio_dedup", 0, 5_000),
    Part("civil_procedure_codes", 51_500, 56_500),
    Part("clough_stevenson"),
    Part("debian_desc_multi", 0, 5_000),
    Part("debian_desc_multi", 90_000, 95_000),
    Part("mccormick_minhash"),
    Part("rfc_revisions", 0, 80),  # of some 90 KB each
]
WHOLE = [Part(name) for name in NAMES]
SEEDS = [1, 2, 3, 20_260_131, 2**63 - 1]


class Reported(NamedTuple):
    """The printed pairs in their order; a and b are positions in the corpus."""

    a: Ints
    b: Ints
    similarity: Floats
    error: Floats


class Planned(NamedTuple):
    """Bands of rows."""

    bands: int
    rows: int

    def misses(self, agreement: Floats) -> Floats:
        """Give each pair's chance of sharing no band."""
        chances: Floats = (1 - agreement**self.rows) ** self.bands
        return chances


def plan(agreement: float) -> Planned:
    """Take the most rows, then the most bands, that still find enough pairs at the threshold."""
    plans = (Planned(HASHES // rows, rows) for rows in range(HASHES, 0, -1))
    return next(found for found in plans if 1 - found.misses(np.array(agreement)) >= RECALL)


@cache
def truth(part: Part, unit: str, size: int) -> Pairs:
    """Find the pairs that are to be found."""
    return join(corpora.texts(*part), THRESHOLD, unit, size)


def written(texts: Sequence[str], directory: Path) -> Path:
    """Write these texts as documents; an id is the text's position."""
    documents = directory / "documents.jsonl"
    with documents.open("w", encoding="utf-8") as lines:
        for position, text in enumerate(texts):
            lines.write(json.dumps({"id": str(position), "text": text}) + "\n")
    return documents


def search(texts: Sequence[str], directory: Path, *arguments: str) -> Reported:
    """Run the command on these texts; an id is the text's position."""
    documents, printed = written(texts, directory), directory / "pairs.jsonl"
    command = [sys.executable, "-m", "stream_dedup", "pairs", str(documents)]
    command += ["--threshold", str(THRESHOLD), "--output", str(printed), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    a, b, similarity, error = np.array(list(_read(printed)), np.float64).reshape(-1, 4).T
    return Reported(a.astype(np.int64), b.astype(np.int64), similarity, error)


def _read(printed: Path) -> Iterator[tuple[int, int, float, float]]:
    with printed.open(encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            yield int(pair["a"]), int(pair["b"]), pair["similarity"], pair["error"]


def check_each_pair(found: Reported, true: Pairs, number: int) -> NDArray[np.bool_]:
    """Check that the pairs are true ones, in order and exact; return which true ones were found."""
    keys, true_keys = found.a * number + found.b, true.a * number + true.b
    order = np.lexsort((found.a, found.b))

    assert (found.a < found.b).all()
    assert np.array_equal(order, np.arange(len(order)))
    assert len(np.unique(keys)) == len(keys)
    assert np.setdiff1d(keys, true_keys).size == 0, "pairs below the threshold"

    similarity = np.round(true.jaccard[np.searchsorted(true_keys, keys)], DECIMALS)

    assert np.array_equal(found.similarity, similarity)
    assert not found.error.any()
    return np.isin(true_keys, keys)


def check_misses(similarity: Floats, missed: NDArray[np.bool_], chances: Floats) -> None:
    """Check that each bin of similarities misses what theory allows: twice the expected, and 5."""
    bins = np.minimum((similarity - THRESHOLD) / BIN + 1e-9, (1 - THRESHOLD) / BIN - 1).astype(int)
    misses, expected = np.bincount(bins[missed]), np.bincount(bins, chances)
    misses.resize(len(expected))
    allowed = 2 * expected + 5
    rows = zip(THRESHOLD + BIN * np.arange(len(expected)), misses, expected, strict=True)
    shown = "\n".join(
        f"{low:.2f}: {count} missed, {mean:.1f} expected" for low, count, mean in rows
    )

    assert (misses <= allowed).all(), shown


def check_exact(part: Part, directory: Path, unit: str = "char", size: int = 5, *more: str) -> None:
    """Compare what exact verification reports with the exact join."""
    texts = corpora.texts(*part)
    shingling = ("--unit", unit, "--size", str(size))
    found = search(texts, directory, "--verify", "exact", *shingling, *more)
    true = truth(part, unit, size)

    missed = ~check_each_pair(found, true, len(texts))

    once, same = pairs_of_texts(texts, true)
    assert np.array_equal(missed, missed[once][same]), "a pair was found, and not its copies"
    similarity = true.jaccard[once]
    check_misses(similarity, missed[once], plan(THRESHOLD).misses(similarity))


def pairs_of_texts(texts: Sequence[str], pairs: Pairs) -> tuple[Ints, Ints]:
    """Return a pair of documents for each pair of different texts, and for all which of these.

    What is missed of two texts is missed of all their copies: thousands of pairs are one trial.
    """
    groups = group_copies(texts)
    text = np.zeros(len(texts), np.int64)
    text[groups.members] = np.repeat(np.arange(len(groups.texts)), np.diff(groups.bounds))
    low, high = np.sort([text[pairs.a], text[pairs.b]], axis=0)
    _, once, same = np.unique(low * len(texts) + high, return_index=True, return_inverse=True)
    return once, same


@pytest.mark.parametrize("part", SHORT, ids=str)
def test_exact_pairs_are_the_true_ones(part: Part, tmp_path: Path) -> None:
    """None lies below the threshold, each is exact and told once; only bands miss any."""
    check_exact(part, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("part", WHOLE, ids=str)
def test_exact_pairs_of_whole_corpora_are_the_true_ones(part: Part, tmp_path: Path) -> None:
    """The same holds for each corpus from its first document to its last."""
    check_exact(part, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("part", SHORT, ids=str)
def test_exact_pairs_of_any_seed_are_the_true_ones(part: Part, seed: int, tmp_path: Path) -> None:
    """The seed decides which pairs are missed, not how many."""
    check_exact(part, tmp_path, "char", 5, "--set", f"similarity.seed={seed}")


@pytest.mark.parametrize("part", [Part("civil_procedure_codes", 51_500, 56_500)], ids=str)
def test_exact_pairs_by_words_are_the_true_ones(part: Part, tmp_path: Path) -> None:
    """Shingles of three words keep the promises of shingles of five characters."""
    check_exact(part, tmp_path, "word", 3)


def exact_similarities(found: Reported, texts: Sequence[str], true: Pairs) -> Floats:
    """Look each reported pair up, or compare the sets where it lies below the threshold."""
    known = dict(zip(zip(true.a.tolist(), true.b.tolist(), strict=True), true.jaccard, strict=True))

    @cache
    def elements(position: int) -> frozenset[object]:
        return frozenset(shingles(texts[position], "char", 5))

    return np.array(
        [
            known.get((a, b)) or jaccard(elements(a), elements(b))
            for a, b in zip(found.a.tolist(), found.b.tolist(), strict=True)
        ]
    )


def estimates_astray(part: Part, directory: Path, *more: str) -> tuple[int, int]:
    """Count the estimates 4 standard errors or more from the truth, and all pairs reported."""
    texts = corpora.texts(*part)
    found = search(texts, directory, "--verify", "signature", *more)
    exact = exact_similarities(found, texts, truth(part, "char", 5))
    told_as_exact = found.error == 0
    limits = 4 * np.sqrt(exact * (1 - exact) / HASHES) + 10**-DECIMALS

    assert (found.similarity >= THRESHOLD).all()
    assert np.array_equal(found.similarity[told_as_exact], exact[told_as_exact].round(DECIMALS))
    return int((np.abs(found.similarity - exact) > limits).sum()), len(exact)


def test_estimates_are_as_good_as_their_error_says(tmp_path: Path) -> None:
    """All but 3 in 10,000 estimates are within 4 standard errors, and those without error exact.

    Counted over all corpora at once: most parts have too few pairs for 3 in 10,000 to allow one.
    """
    counted = {part: estimates_astray(part, tmp_path) for part in SHORT}
    astray, reported = map(sum, zip(*counted.values(), strict=True))

    assert astray <= 3e-4 * reported, counted


@pytest.mark.soak
@pytest.mark.parametrize("part", WHOLE, ids=str)
def test_estimates_in_whole_corpora_are_as_good_as_their_error_says(
    part: Part, tmp_path: Path
) -> None:
    """All but one, and 3 in 10,000, of the estimates of each corpus are within 4 standard errors.

    One, because of a pair that should differ in one value of 128, one in 600 differs in six.
    """
    astray, reported = estimates_astray(part, tmp_path)

    assert astray <= 1 + 3e-4 * reported, f"{astray} of {reported}"


def cosine_pairs(texts: Sequence[str], threshold: float) -> dict[tuple[int, int], float]:
    """Compare the counts of shingles of every two texts."""
    vectors: list[Counter[str]] = [counts(text, "char", 5) for text in texts]
    compared = ((pair, cosine(*(vectors[i] for i in pair))) for pair in _every_two(texts))
    return {pair: similarity for pair, similarity in compared if similarity >= threshold}


def _every_two(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    return combinations(range(len(texts)), 2)


@pytest.mark.parametrize("part", [Part("biblio_dedup", 0, 250), Part("clough_stevenson")], ids=str)
def test_exact_cosines_are_the_true_ones(part: Part, tmp_path: Path) -> None:
    """By cosine too none lies below the threshold, each is exact, and only bands miss any."""
    texts = corpora.texts(*part)
    found = search(texts, tmp_path, "--verify", "exact", "--measure", "cosine")
    true = cosine_pairs(texts, THRESHOLD - 1e-9)
    told = dict(
        zip(zip(found.a.tolist(), found.b.tolist(), strict=True), found.similarity, strict=True)
    )

    assert len(told) == len(found.a)
    assert {pair: true.get(pair) for pair in told} == pytest.approx(told, abs=10**-DECIMALS)

    similarity = np.array(list(true.values()))
    missed = np.array([pair not in told for pair in true])
    agreement = 1 - np.arccos(np.minimum(similarity, 1)) / np.pi
    chances = plan(1 - math.acos(THRESHOLD) / math.pi).misses(agreement)
    check_misses(np.maximum(similarity, THRESHOLD), missed, chances)
