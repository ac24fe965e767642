"""The exact join against the plain comparison of every two sets."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.texts import NAMES
from tests.oracles.text import jaccard, shingles
from tests.quality import corpora
from tests.quality.brute_force import join

# Thirds and sevenths do not end in binary: a rounding error would lose pairs on the threshold.
THRESHOLDS = [0.1, 1 / 3, 3 / 7, 0.5, 0.6, 2 / 3, 0.7, 0.8, 6 / 7, 0.9, 0.95, 1.0]
Triple = tuple[int, int, float]


def plain_join(texts: list[str], threshold: float, unit: str, size: int) -> list[Triple]:
    """Compare every two sets of shingles."""
    sets = [shingles(text, unit, size) for text in texts]
    pairs = ((i, j, jaccard(sets[i], sets[j])) for i, j in combinations(range(len(sets)), 2))
    return [pair for pair in pairs if pair[2] >= threshold]


def joined(texts: list[str], threshold: float, unit: str, size: int) -> list[Triple]:
    """Make the join's arrays a list."""
    found = join(texts, threshold, unit, size)
    return list(zip(found.a.tolist(), found.b.tolist(), found.jaccard.tolist(), strict=True))


def near_copies(random: Random, documents: int, length: int) -> list[str]:
    """Write texts of a few letters, most of them an earlier one with a few changes."""
    texts = ["".join(random.choices("abcde ", k=length))]
    while len(texts) < documents:
        letters = list(random.choice(texts))
        for _ in range(random.randrange(8)):
            place = random.randrange(len(letters))
            letters[place : place + random.randrange(3)] = random.choices("abcde. ", k=1)
        texts.append("".join(letters))
    return texts


# No deadline: the first example compiles the kernels.
@settings(deadline=None)
@given(
    texts=st.lists(st.text("abAB .\u00ad", max_size=9), max_size=25),
    threshold=st.sampled_from(THRESHOLDS),
    unit=st.sampled_from(["char", "word"]),
    size=st.integers(1, 4),
)
def test_join_of_short_texts_is_complete(
    texts: list[str], threshold: float, unit: str, size: int
) -> None:
    """Short, empty and identical texts give the pairs that plain comparison gives."""
    assert joined(texts, threshold, unit, size) == plain_join(texts, threshold, unit, size)


# No deadline: the first example compiles the kernels.
@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32),
    threshold=st.sampled_from(THRESHOLDS),
    unit_size=st.sampled_from([("char", 2), ("char", 5), ("word", 1), ("word", 2)]),
)
def test_join_of_near_copies_is_complete(
    seed: int, threshold: float, unit_size: tuple[str, int]
) -> None:
    """Near copies of each other give the pairs that plain comparison gives."""
    texts = near_copies(Random(seed), documents=60, length=60)

    assert joined(texts, threshold, *unit_size) == plain_join(texts, threshold, *unit_size)


@pytest.mark.parametrize("union", range(1, 50))
def test_pair_on_the_threshold_is_found(union: int) -> None:
    """No rounding error loses a pair whose similarity is the threshold itself."""
    words = [str(word) for word in range(union)]
    for overlap in range(1, union + 1):
        texts = [" ".join(words[:overlap]), " ".join(words)]

        assert joined(texts, overlap / union, "word", 1) == [(0, 1, overlap / union)]


@pytest.mark.parametrize("name", NAMES)
def test_join_of_real_documents_is_complete(name: str) -> None:
    """The beginnings of the first documents give the pairs that plain comparison gives."""
    texts = [text[:3000] for text in corpora.texts(name, stop=200)]

    assert joined(texts, 0.5, "char", 5) == plain_join(texts, 0.5, "char", 5)


@pytest.mark.parametrize("threshold", [-0.5, 0.0, 1.01, float("nan")])
def test_join_refuses_an_impossible_threshold(threshold: float) -> None:
    """A threshold that every pair or none could reach is refused."""
    with pytest.raises(ValueError, match="threshold"):
        join(["abc"], threshold, "char", 2)
