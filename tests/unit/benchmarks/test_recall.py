"""What recall and precision are made of: counts, made-up pairs, and what systems are asked."""

from importlib import import_module

import numpy as np
import pytest

from benchmarks.recall.counts import (
    Truth,
    bins_of,
    by_similarity,
    count,
    interval,
    is_found,
    pair_numbers,
    similar_pairs,
)
from benchmarks.recall.pairs import made_up_pairs
from benchmarks.recall.peers.question import Answer, Question

# Of four documents: 0 and 1 are at 0.81, 0 and 2 at 0.9, 1 and 3 at 0.5.
TRUTH = Truth(4, np.array([1, 2, 7]), np.array([0.81, 0.9, 0.5]))


def test_pairs_count_once_whichever_document_comes_first() -> None:
    """A pair is one number; a document with itself is no pair."""
    pairs = np.array([[1, 0], [0, 1], [2, 2], [1, 3]])

    assert pair_numbers(pairs, 4).tolist() == [1, 7]
    assert pair_numbers(np.empty((0, 2), np.int64), 4).tolist() == []


def test_similar_pairs_are_those_at_the_threshold_or_above() -> None:
    """The threshold itself belongs to it; just above ends before 0.05 more."""
    assert similar_pairs(TRUTH, 0.5) == (3, 1)
    assert similar_pairs(TRUTH, 0.81) == (2, 1)
    assert similar_pairs(TRUTH, 0.85) == (1, 0)


def test_what_is_returned_is_right_missing_or_wrong() -> None:
    """Returned are 0–1, 1–3 and 2–3: at 0.8 one of the two similar pairs, and two that are not."""
    returned = pair_numbers(np.array([[0, 1], [3, 1], [2, 3]]), 4)

    assert count(returned, TRUTH, 0.8) == (3, 1, 1)
    assert count(returned, TRUTH, 0.5) == (3, 2, 1)
    assert is_found(returned, TRUTH).tolist() == [True, False, True]


def test_a_bin_begins_at_its_edge() -> None:
    """0.58 lies in the bin from 0.58 on, although 0.58 / 0.02 is less than 29; 1 is in the last."""
    similarities = np.array([0.0, 0.0199, 0.58, 29 / 50, 0.5799, 1.0])

    assert bins_of(similarities).tolist() == [0, 0, 29, 29, 28, 49]
    assert sum(by_similarity(similarities)) == 6
    assert len(by_similarity(similarities)) == 50


def test_intervals_are_those_of_wilson() -> None:
    """Values from tables; they stay within 0 and 1."""
    assert interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert interval(300, 300) == pytest.approx((0.9874, 1), abs=1e-4)


@pytest.mark.parametrize(("unit", "size"), [("char", 5), ("word", 3)])
def test_made_up_pairs_have_the_similarity_they_claim(unit: str, size: int) -> None:
    """As counted here, shingle by shingle; every bin has its pairs, and no others resemble."""
    texts, jaccard = made_up_pairs(unit, size, per_bin=4, lowest=0.4, seed=1)

    def similarity(first: int, second: int) -> float:
        sets = [
            {
                tuple(parts[start : start + size])
                for parts in [texts[place] if unit == "char" else texts[place].split()]
                for start in range(len(parts) - size + 1)
            }
            for place in (first, second)
        ]
        return len(sets[0] & sets[1]) / len(sets[0] | sets[1])

    measured = [similarity(place, place + 1) for place in range(0, len(texts), 2)]
    assert jaccard.tolist() == pytest.approx(measured)
    assert min(jaccard) >= 0.4
    assert by_similarity(jaccard)[21:48] == [4] * 27
    assert max(similarity(0, place) for place in range(2, len(texts))) < 0.2


def _answers(peer: str, question: Question) -> list[Answer]:
    if peer != "ours":
        pytest.importorskip(peer)
    return list(import_module(f"benchmarks.recall.peers.{peer}").answers(question))


@pytest.mark.parametrize("peer", ["ours", "datasketch", "rensa", "gaoya", "simhash"])
def test_a_system_finds_what_is_nearly_the_same_and_nothing_else(peer: str) -> None:
    """Of three nearly equal texts among others all pairs are returned, and no others, by each."""
    texts = made_up_pairs("char", 5, per_bin=3, lowest=0.4, seed=2).texts[:12:2]
    texts += [f"{texts[0]} x", f"{texts[0]} y"]
    question = Question(texts, "char", 5, (0.7,))

    found = {answer.name: answer for answer in _answers(peer, question)}

    expected = pair_numbers(np.array([[0, 6], [0, 7], [6, 7]]), 8).tolist()
    assert {answer.threshold for answer in found.values()} == {0.7}
    assert all(answer.setting and answer.note for answer in found.values())
    for answer in found.values():
        assert pair_numbers(answer.pairs, 8).tolist() == expected, answer.name


def test_our_exact_answer_is_the_truth() -> None:
    """Verified exactly, with bands to spare, nothing is missing and nothing is wrong."""
    texts, jaccard = made_up_pairs("word", 3, per_bin=2, lowest=0.4, seed=3)
    question = Question(texts, "word", 3, (0.6,))

    exact = next(one for one in _answers("ours", question) if one.name == "stream_dedup, exact")

    similar = 2 * np.flatnonzero(jaccard >= 0.6)
    expected = pair_numbers(np.stack([similar, similar + 1], axis=1), len(texts))
    assert pair_numbers(exact.pairs, len(texts)).tolist() == expected.tolist()
