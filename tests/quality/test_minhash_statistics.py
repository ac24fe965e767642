"""Bias, spread and joint agreement of MinHash, against theory.

There are two kinds of trial. In one a single family of functions signs thousands of pairs of sets:
this is how people use it, and it sees functions that depend on each other. In the other thousands
of families sign a single pair of sets: it sees what one unlucky text would suffer, and seeds that
depend on each other.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from stream_dedup.similarity.curve import candidate_probability
from stream_dedup.similarity.minhash import MinHash
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.shingles import Shingling
from tests.quality.trials import (
    SIMILARITIES,
    SIZES,
    TRIALS,
    Overlap,
    Sign,
    Trials,
    assert_chance,
    assert_hits,
    assert_shares,
    joined,
    nearest_overlap,
    ragged,
    random_seed,
    random_unions,
    score_hits,
    score_shares,
    sign_sets,
)

SEED = 3
HASHES = 128
# Each similarity lies on the slope of one of these curves.
BANDINGS = ((21, 6), (40, 3), (4, 32))

sizes = pytest.mark.parametrize("size", SIZES)
similarities = pytest.mark.parametrize("similarity", SIMILARITIES)


def generator_of(seed: int, overlap: Overlap) -> np.random.Generator:
    return np.random.default_rng([seed, *overlap])


def sign_pairs(sign: Sign, overlap: Overlap, count: int, seed: int) -> Trials:
    """Sign many pairs of random sets with the same functions."""
    unions = random_unions(overlap.union, count, generator_of(seed, overlap))
    return joined(sign_sets(sign, rows, overlap) for rows in unions)


def sign_one_pair(signs: Sequence[Sign], overlap: Overlap, seed: int) -> Trials:
    """Sign one pair of random sets with many families of functions."""
    (union,) = random_unions(overlap.union, 1, generator_of(seed, overlap))
    return joined(sign_sets(sign, union, overlap) for sign in signs)


@cache
def families(seed: int, count: int) -> list[Sign]:
    """Return families of consecutive seeds, the most alike there are."""
    return [MinHash(HASHES, seed + number).sign for number in range(count)]


def assert_like_theory(trials: Trials, similarity: float, seed: int) -> None:
    """Check single values, and bands of them."""
    assert_shares(trials.agreement, similarity, trials.first.shape[1], seed)
    assert_hits_like_theory(trials, similarity, seed)


def assert_hits_like_theory(trials: Trials, similarity: float, seed: int) -> None:
    """Check how often at least one band agrees."""
    for bands, rows in BANDINGS:
        hits = trials.hits(bands, rows)
        assert_hits(hits, candidate_probability(similarity, bands, rows), seed)


@sizes
@similarities
def test_one_family_on_many_pairs(size: int, similarity: float) -> None:
    """Estimates are unbiased, spread as √(J(1−J)/t), and bands agree as 1−(1−J^r)^b says."""
    overlap = nearest_overlap(size, similarity)
    trials = sign_pairs(MinHash(HASHES, SEED).sign, overlap, TRIALS, SEED)

    assert_like_theory(trials, overlap.similarity, SEED)


@sizes
@similarities
def test_many_families_on_one_pair(size: int, similarity: float) -> None:
    """No single pair of texts is estimated wrong on average, whatever the seeds."""
    overlap = nearest_overlap(size, similarity)
    trials = sign_one_pair(families(SEED, TRIALS), overlap, SEED)

    assert_like_theory(trials, overlap.similarity, SEED)


@pytest.mark.parametrize("hashes", [1, 16, 1024])
def test_any_number_of_functions(hashes: int) -> None:
    """Few functions and many are as independent."""
    overlap = nearest_overlap(90, 0.5)
    trials = sign_pairs(MinHash(hashes, SEED).sign, overlap, TRIALS, SEED)

    assert_shares(trials.agreement, overlap.similarity, hashes, SEED)


@sizes
def test_identical_sets_agree_and_disjoint_ones_do_not(size: int) -> None:
    """Similarity 1 is estimated as 1; of no two elements do the 32 bits meet but by chance."""
    sign = MinHash(HASHES, SEED).sign
    identical = sign_pairs(sign, Overlap(size, size, size), 200, SEED)
    disjoint = sign_pairs(sign, Overlap(size, size, 0), 200, SEED)

    assert identical.agreement.min() == 1
    assert disjoint.agreement.mean() < 0.0001


def runs(seed: int, overlap: Overlap) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return for each trial two runs of consecutive code points that overlap."""
    starts = generator_of(seed, overlap).integers(0, 2**31, (TRIALS, 1))
    first = starts + np.arange(overlap.first)
    second = starts + np.arange(overlap.first - overlap.shared, overlap.union)
    return first.astype(np.uint32), second.astype(np.uint32)


def mixed(rows: NDArray[np.uint32]) -> Ragged:
    """Return the hashes of each code point, as the package makes them."""
    bounds = np.arange(len(rows) + 1) * rows.shape[1]
    return Shingling("char", 1).hashes(Ragged(rows.reshape(-1), bounds))


def unmixed(rows: NDArray[np.uint32]) -> Ragged:
    """Return what would be mixed: the polynomial of one code point is the code point."""
    return ragged(rows.astype(np.uint64))


@pytest.mark.parametrize("size", [5, 18, 90, 450])
@similarities
def test_alike_shingles_are_mixed_well_enough(size: int, similarity: float) -> None:
    """Sets of consecutive characters are estimated as well as random ones."""
    overlap = nearest_overlap(size, similarity)
    sign = MinHash(HASHES, SEED).sign
    first, second = runs(SEED, overlap)

    assert_like_theory(Trials(sign(mixed(first)), sign(mixed(second))), overlap.similarity, SEED)


@pytest.mark.parametrize("size", [5, 18, 90, 450])
@similarities
def test_without_the_mixer_the_trials_fail(size: int, similarity: float) -> None:
    """The same sets, signed by their unmixed hashes, are seen to be wrong."""
    overlap = nearest_overlap(size, similarity)
    sign = MinHash(HASHES, SEED).sign
    first, second = runs(SEED, overlap)
    trials = Trials(sign(unmixed(first)), sign(unmixed(second)))

    with pytest.raises(AssertionError, match="biased"):
        assert_shares(trials.agreement, overlap.similarity, HASHES, SEED)
    if similarity == 0.5:
        with pytest.raises(AssertionError, match="hits"):
            assert_hits_like_theory(trials, overlap.similarity, SEED)


@similarities
def test_with_equal_functions_the_trials_fail(similarity: float) -> None:
    """A family of one function many times is seen to be wrong, in its spread and in its bands."""
    overlap = nearest_overlap(90, similarity)
    single = MinHash(1, SEED)
    trials = sign_pairs(
        lambda rows: single.sign(rows).repeat(HASHES, axis=1), overlap, TRIALS, SEED
    )

    assert score_shares(trials.agreement, overlap.similarity, HASHES).spread > 10
    with pytest.raises(AssertionError, match=r"depend on each other|biased"):
        assert_shares(trials.agreement, overlap.similarity, HASHES, SEED)
    with pytest.raises(AssertionError, match="hits"):
        assert_hits_like_theory(trials, overlap.similarity, SEED)


@similarities
def test_with_equal_seeds_the_trials_fail(similarity: float) -> None:
    """Families that are all the same are seen to be so."""
    overlap = nearest_overlap(90, similarity)
    same = [MinHash(HASHES, SEED).sign] * TRIALS
    trials = sign_one_pair(same, overlap, SEED)

    assert score_shares(trials.agreement, overlap.similarity, HASHES).spread == 0
    with pytest.raises(AssertionError, match=r"depend on each other|biased"):
        assert_shares(trials.agreement, overlap.similarity, HASHES, SEED)


def scores_of(trials: Trials, overlap: Overlap) -> dict[str, float]:
    """Return all scores of one kind of set, by name."""
    shares = score_shares(trials.agreement, overlap.similarity, HASHES)
    scores = {f"bias of {overlap}": shares.bias, f"spread of {overlap}": shares.spread_bias}
    for bands, rows in BANDINGS:
        hits = trials.hits(bands, rows)
        probability = candidate_probability(overlap.similarity, bands, rows)
        scores[f"{bands} × {rows} of {overlap}"] = score_hits(hits, probability)
    assert 0.95 <= shares.spread <= 1.05, f"{shares}"
    return scores


OVERLAPS = sorted(
    {nearest_overlap(size, similarity) for size in SIZES for similarity in SIMILARITIES}
)


@pytest.mark.soak
@pytest.mark.parametrize("repetition", range(3))
def test_any_family_on_very_many_pairs(repetition: int) -> None:
    """With a seed nobody chose and ten times the pairs, all departures are those of chance."""
    seed = random_seed()
    scores: dict[str, float] = {}
    for overlap in OVERLAPS:
        sign = MinHash(HASHES, seed).sign
        scores |= scores_of(sign_pairs(sign, overlap, 10 * TRIALS, seed), overlap)

    assert_chance(scores, seed)


@pytest.mark.soak
@pytest.mark.parametrize("repetition", range(3))
def test_very_many_families_on_any_pair(repetition: int) -> None:
    """With seeds nobody chose and six times the families, all departures are those of chance."""
    seed = random_seed()
    signs = [MinHash(HASHES, seed + number).sign for number in range(6 * TRIALS)]
    scores: dict[str, float] = {}
    for overlap in OVERLAPS:
        scores |= scores_of(sign_one_pair(signs, overlap, seed), overlap)

    assert_chance(scores, seed)
