"""A large sketch reduced to a few fingerprints, each of a group of its values.

Two fingerprints are equal with probability s^r, s being the agreement of single values: so their
number among b is that of b independent draws.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.bands import band_keys
from stream_dedup.similarity.curve import agreement_from_cosine, candidate_probability
from stream_dedup.similarity.minhash import MinHash
from stream_dedup.similarity.simhash import SimHash
from tests.quality.trials import (
    SIMILARITIES,
    TRIALS,
    Overlap,
    Sign,
    Trials,
    assert_chance,
    assert_hits,
    assert_shares,
    joined,
    nearest_overlap,
    random_seed,
    random_unions,
    score_hits,
    score_shares,
    sign_sets,
)

SEED = 0
VALUES = 512
SIZES = (5, 18, 90, 450)
REDUCTIONS = ((256, 2), (128, 4), (64, 8), (32, 16))
FAMILIES = ("minhash", "simhash")


def sign_of(family: str, seed: int) -> Sign:
    return MinHash(VALUES, seed).sign if family == "minhash" else SimHash(VALUES, seed).sign


def agreement_of(family: str, overlap: Overlap) -> float:
    """Return how often single values agree."""
    if family == "minhash":
        return overlap.similarity
    return agreement_from_cosine(overlap.shared / math.sqrt(overlap.first * overlap.second))


def sign_pairs(family: str, overlap: Overlap, count: int, seed: int) -> Trials:
    generator = np.random.default_rng([seed, *overlap])
    unions = random_unions(overlap.union, count, generator)
    return joined(sign_sets(sign_of(family, seed), rows, overlap) for rows in unions)


def tells_something(agreement: float, bands: int, rows: int) -> bool:
    """Tell whether a share of equal fingerprints is more than a few rare hits."""
    probability = agreement**rows
    return bands * probability * (1 - probability) > 0.5


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [5, 18, 90])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_fingerprints_agree_as_often_as_theory_says(
    family: str, size: int, similarity: float
) -> None:
    """Each group agrees with probability s^r, independently of the others, however it is cut."""
    overlap = nearest_overlap(size, similarity)
    agreement = agreement_of(family, overlap)
    trials = sign_pairs(family, overlap, TRIALS, SEED)

    for bands, rows in REDUCTIONS:
        equal = trials.shared_keys(bands, rows)
        if tells_something(agreement, bands, rows):
            assert_shares(equal.mean(axis=1), agreement**rows, bands, SEED)
        hits = trials.hits(bands, rows)
        assert_hits(hits, candidate_probability(agreement, bands, rows), SEED)


@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(1, 20))
def test_reducing_loses_no_difference(seed: int, bands: int, rows: int) -> None:
    """A fingerprint changes with each value of its group and with no other."""
    generator = np.random.default_rng(seed)
    sketch = generator.integers(0, 2**32, (1, bands * rows + 3), np.uint32)
    changed = sketch.repeat(sketch.size, axis=0)
    np.fill_diagonal(changed, changed.diagonal() ^ np.uint32(1 << int(generator.integers(32))))

    equal = band_keys(changed, bands, rows) == band_keys(sketch, bands, rows)

    values = np.arange(sketch.size)[:, None]
    assert np.array_equal(equal, values // rows != np.arange(bands))


def test_reducing_twice_is_reducing_once_in_probability() -> None:
    """Fingerprints may be grouped again: and of 4 over and of 2 agrees like and of 8."""
    overlap = nearest_overlap(90, 0.8)
    trials = sign_pairs("minhash", overlap, TRIALS, SEED)
    once = Trials(*(band_keys(side, 256, 2).astype(np.uint32) for side in trials))

    assert_shares(once.shared_keys(64, 4).mean(axis=1), overlap.similarity**8, 64, SEED)


@pytest.mark.parametrize("family", FAMILIES)
def test_with_equal_values_the_trials_fail(family: str) -> None:
    """A sketch of one value many times is seen to be wrong after the reduction as well."""
    overlap = nearest_overlap(90, 0.8)
    agreement = agreement_of(family, overlap)
    trials = sign_pairs(family, overlap, TRIALS, SEED)
    single = Trials(*(side[:, :1].repeat(VALUES, axis=1) for side in trials))

    with pytest.raises(AssertionError, match=r"depend on each other|biased"):
        assert_shares(single.shared_keys(64, 8).mean(axis=1), agreement**8, 64, SEED)


@pytest.mark.soak
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("repetition", range(2))
def test_any_sketch_is_reduced_as_theory_says(family: str, repetition: int) -> None:
    """With a seed nobody chose, and more sizes, all departures are those of chance."""
    seed = random_seed()
    scores: dict[str, float] = {}
    for overlap in sorted({nearest_overlap(n, s) for n in SIZES for s in SIMILARITIES}):
        agreement = agreement_of(family, overlap)
        trials = sign_pairs(family, overlap, 2 * TRIALS, seed)
        for bands, rows in REDUCTIONS:
            name, equal = f"{bands} × {rows} of {overlap}", trials.shared_keys(bands, rows)
            probability = candidate_probability(agreement, bands, rows)
            scores[f"hits: {name}"] = score_hits(trials.hits(bands, rows), probability)
            if tells_something(agreement, bands, rows):
                shares = score_shares(equal.mean(axis=1), agreement**rows, bands)
                scores |= {f"bias: {name}": shares.bias, f"spread: {name}": shares.spread_bias}

    assert_chance(scores, seed)
