"""Bias, spread and joint agreement of SimHash on vectors of counts, against the exact cosine.

Bits differ with probability θ/π, so their share is held to that. The estimate of the cosine is a
curve over this share, cos(πp), and so it is biased a little: by as much as theory says.
"""

import math
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from stream_dedup.similarity.curve import (
    agreement_from_cosine,
    candidate_probability,
    cosine_from_agreement,
    standard_error,
)
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.simhash import SimHash
from tests.oracles.text import cosine
from tests.quality.trials import (
    SIMILARITIES,
    TRIALS,
    Hashes,
    Sign,
    Signatures,
    Trials,
    assert_chance,
    assert_hits,
    assert_shares,
    joined,
    ragged,
    random_seed,
    random_unions,
    score_hits,
    score_shares,
)

SEED = 0
BANDINGS = ((4, 16), (8, 8), (21, 3))

Cell = tuple[int, int, float]  # shingles, bits, cosine


def cells(bits_by_size: dict[int, tuple[int, ...]]) -> list[Cell]:
    return [
        (size, bits, similarity)
        for size, all_bits in bits_by_size.items()
        for bits in all_bits
        for similarity in SIMILARITIES
    ]


# Work is the product of shingles and bits: where one is large the other is small.
CELLS = [
    *cells({5: (64, 128, 256, 1024), 18: (64, 128, 512), 90: (64, 128), 450: (64,)}),
    (5000, 64, 0.8),
]
ALL_BITS = (64, 128, 256, 512, 1024)
SOAK_CELLS = cells({5: ALL_BITS, 18: ALL_BITS, 90: ALL_BITS, 450: (64, 128, 512), 5000: (64,)})


class Vectors(NamedTuple):
    """How often each of some shingles occurs in one text and in another."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]

    @property
    def cosine(self) -> float:
        first, second = (
            Counter({str(shingle): times for shingle, times in enumerate(counts.tolist())})
            for counts in self
        )
        return cosine(first, second)


@cache
def nearest_vectors(size: int, similarity: float) -> Vectors:
    """Return two vectors of this many shingles each whose cosine is nearest to a given one.

    Most shingles occur once, some more often, and not always as often in the other text.
    """
    every = [_vectors(size, shared) for shared in _spread(size)]
    return min(every, key=lambda vectors: abs(vectors.cosine - similarity))


def _spread(size: int) -> NDArray[np.int64]:
    """Return up to a hundred numbers of shared shingles."""
    return np.unique(np.linspace(1, size, 100).astype(np.int64))


def _vectors(size: int, shared: int) -> Vectors:
    shingles = np.arange(2 * size - shared)
    times = 1 + (shingles % 7 == 3) + 2 * (shingles % 31 == 5)
    first = np.where(shingles < size, times, 0)
    second = np.where(shingles >= size - shared, times + (shingles % 17 == 4), 0)
    return Vectors(first, second)


def sign_vectors(sign: Sign, unions: Hashes, vectors: Vectors) -> Trials:
    """Sign both vectors over each row of shingles."""
    first, second = (sign(ragged(unions.repeat(counts, axis=1))) for counts in vectors)
    return Trials(first, second)


def sign_pairs(sign: Sign, vectors: Vectors, count: int, seed: int) -> Trials:
    """Sign many pairs of vectors over random shingles with the same hyperplanes."""
    generator = np.random.default_rng([seed, vectors.first.size, vectors.second.sum()])
    unions = random_unions(vectors.first.size, count, generator)
    return joined(sign_vectors(sign, rows, vectors) for rows in unions)


def moments_of_estimate(cosine: float, bits: int) -> tuple[float, float]:
    """Return mean and standard deviation of cos(πp), p being the share of so many fair bits."""
    p = 1 - agreement_from_cosine(cosine)
    mean = ((1 - p + p * np.exp(1j * np.pi / bits)) ** bits).real
    mean_square = (1 + ((1 - p + p * np.exp(2j * np.pi / bits)) ** bits).real) / 2
    return float(mean), float(np.sqrt(mean_square - mean**2))


def assert_like_theory(trials: Trials, cosine: float, seed: int) -> None:
    """Check single bits, and bands of them."""
    agreement = agreement_from_cosine(cosine)
    assert_shares(trials.agreement, agreement, trials.first.shape[1], seed)
    for bands, rows in BANDINGS:
        hits = trials.hits(bands, rows)
        assert_hits(hits, candidate_probability(agreement, bands, rows), seed)


@pytest.mark.parametrize(("size", "bits", "similarity"), CELLS)
def test_one_family_on_many_pairs(size: int, bits: int, similarity: float) -> None:
    """Bits and bands agree as the angle says, and estimates of the cosine are as theory says."""
    vectors = nearest_vectors(size, similarity)
    trials = sign_pairs(SimHash(bits, SEED).sign, vectors, TRIALS, SEED)
    estimates = cosine_from_agreement(trials.agreement)
    mean, deviation = moments_of_estimate(vectors.cosine, bits)

    assert_like_theory(trials, vectors.cosine, SEED)
    assert abs(estimates.mean() - mean) <= 3 * deviation / math.sqrt(TRIALS)
    assert estimates.std(ddof=1) == pytest.approx(deviation, rel=0.05)


@pytest.mark.parametrize("size", [5, 18, 90])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_many_families_on_one_pair(size: int, similarity: float) -> None:
    """No single pair of texts is estimated wrong on average, whatever the seeds."""
    vectors = nearest_vectors(size, similarity)
    (union,) = random_unions(vectors.first.size, 1, np.random.default_rng([SEED, size]))
    trials = joined(
        sign_vectors(SimHash(64, seed).sign, union, vectors) for seed in range(SEED, SEED + TRIALS)
    )

    assert_like_theory(trials, vectors.cosine, SEED)


@pytest.mark.parametrize("bits", ALL_BITS)
@pytest.mark.parametrize("cosine", SIMILARITIES)
def test_the_error_that_is_stated_is_right(bits: int, cosine: float) -> None:
    """A cosine's standard error is within a tenth, and the bias of cos(πp) below a fifth of it."""
    mean, deviation = moments_of_estimate(cosine, bits)
    error = standard_error(cosine, bits, "cosine")

    assert deviation == pytest.approx(error, rel=0.1)
    assert abs(mean - cosine) < 0.2 * error


@pytest.mark.parametrize("size", [1, 18, 450])
def test_equal_and_unrelated_vectors(size: int) -> None:
    """The same text has cosine 1, one without a common shingle is at a right angle."""
    generator = np.random.default_rng([SEED, size])
    sign = SimHash(256, SEED).sign
    one, other = (sign(ragged(next(random_unions(size, 500, generator)))) for _ in range(2))

    assert Trials(one, one).agreement.min() == 1
    assert_shares(Trials(one, other).agreement, 0.5, 256, SEED)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_with_equal_hyperplanes_the_trials_fail(similarity: float) -> None:
    """A family of one hyperplane many times is seen to be wrong, in its spread and in its bands."""
    vectors = nearest_vectors(18, similarity)
    single = SimHash(1, SEED)
    trials = sign_pairs(lambda rows: single.sign(rows).repeat(64, axis=1), vectors, TRIALS, SEED)
    agreement = agreement_from_cosine(vectors.cosine)

    assert score_shares(trials.agreement, agreement, 64).spread > 7
    with pytest.raises(AssertionError, match=r"depend on each other|biased"):
        assert_shares(trials.agreement, agreement, 64, SEED)
    with pytest.raises(AssertionError, match="hits"):
        assert_hits(trials.hits(8, 8), candidate_probability(agreement, 8, 8), SEED)


@pytest.mark.parametrize("similarity", [0.1, 0.8, 0.95])
def test_with_coins_for_hyperplanes_the_trials_fail(similarity: float) -> None:
    """Hyperplanes of +1 and -1, which are customary, are seen to be wrong for few shingles."""
    vectors = nearest_vectors(5, similarity)

    def sign(rows: Ragged) -> Signatures:
        coins = np.random.default_rng(SEED).choice(np.array([-1, 1]), (2**16, 64))
        sums = np.add.reduceat(coins[rows.values % np.uint64(2**16)], rows.bounds[:-1], axis=0)
        return (sums >= 0).astype(np.uint8)

    trials = sign_pairs(sign, vectors, TRIALS, SEED)

    with pytest.raises(AssertionError, match="biased"):
        assert_like_theory(trials, vectors.cosine, SEED)


@pytest.mark.soak
@pytest.mark.parametrize("repetition", range(2))
def test_any_family_on_very_many_pairs(repetition: int) -> None:
    """With a seed nobody chose, in every size and width, all departures are those of chance."""
    seed = random_seed()
    scores: dict[str, float] = {}
    for size, bits, similarity in SOAK_CELLS:
        vectors = nearest_vectors(size, similarity)
        count = TRIALS if size * bits > 20_000 else 6 * TRIALS
        trials = sign_pairs(SimHash(bits, seed).sign, vectors, count, seed)
        agreement = agreement_from_cosine(vectors.cosine)
        shares = score_shares(trials.agreement, agreement, bits)
        assert 0.95 <= shares.spread <= 1.05, f"{shares}, {size=} {bits=} {seed=}"
        name = f"{size} shingles, {bits} bits, cosine {vectors.cosine:.3f}"
        scores |= {f"bias: {name}": shares.bias, f"spread: {name}": shares.spread_bias}
        for bands, rows in BANDINGS:
            hits = trials.hits(bands, rows)
            probability = candidate_probability(agreement, bands, rows)
            scores[f"{bands} × {rows}: {name}"] = score_hits(hits, probability)

    assert_chance(scores, seed)
