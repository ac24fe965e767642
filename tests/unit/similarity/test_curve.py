"""The S-curve functions against published values, their inverses and their limits."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity import curve

bands_and_rows = st.tuples(st.integers(1, 200), st.integers(1, 20))


@pytest.mark.parametrize(("similarity", "expected"), [(0.8, 0.99964), (0.3, 0.0475)])
def test_20_bands_of_5_rows_give_the_published_probabilities(
    similarity: float, expected: float
) -> None:
    """20 bands of 5 find pairs at 0.8 with probability 0.99964, at 0.3 with 0.0475."""
    digits = len(str(expected)) - 2

    assert round(curve.candidate_probability(similarity, 20, 5), digits) == expected


@pytest.mark.parametrize(
    ("rows", "bands", "half_point", "estimate"),
    [(3, 10, 0.406, 0.464), (6, 20, 0.569, 0.607), (5, 50, 0.424, 0.457)],
)
def test_half_points_and_their_estimates(
    rows: int, bands: int, half_point: float, estimate: float
) -> None:
    """The half point is exact to three digits, and so is the customary estimate of it."""
    assert round(curve.half_point(bands, rows), 3) == half_point
    assert round(curve.half_point_estimate(bands, rows), 3) == estimate


@pytest.mark.parametrize(
    ("rows", "bands", "expected"),
    [
        (3, 10, [0.0100, 0.0772, 0.2394, 0.4839, 0.7369, 0.9123, 0.9850, 0.9992, 1.0000]),
        (6, 20, [0.0000, 0.0013, 0.0145, 0.0788, 0.2702, 0.6154, 0.9182, 0.9977, 1.0000]),
        (5, 50, [0.0005, 0.0159, 0.1145, 0.4023, 0.7956, 0.9825, 0.9999, 1.0000, 1.0000]),
    ],
)
def test_table_of_the_curve(rows: int, bands: int, expected: list[float]) -> None:
    """The curves of (3, 10), (6, 20) and (5, 50) at 0.1 to 0.9 are those of the exercise."""
    similarities = np.arange(1, 10) / 10

    probabilities = curve.candidate_probability(similarities, bands, rows)

    assert np.round(probabilities, 4).tolist() == expected


def test_miss_probability_is_close_to_its_exponential_for_small_similarities() -> None:
    """e^(-b·s^r) is an upper bound of (1-s^r)^b, within 1.05 % as long as b·s^2r is below 0.02."""
    for rows, bands in [(3, 10), (6, 20), (5, 50)]:
        similarities = np.linspace(0, (0.02 / bands) ** (1 / (2 * rows)), 100)
        exact = curve.miss_probability(similarities, bands, rows)

        estimate = curve.miss_probability_small(similarities, bands, rows)

        assert np.all(estimate >= exact * (1 - 1e-12))
        assert np.all(estimate <= exact * 1.0105)


def test_tiny_probabilities_keep_their_digits() -> None:
    """What is lost to rounding in 1-(1-s^r)^b is kept: for s^r near 0 it is b·s^r."""
    assert curve.candidate_probability(1e-3, 20, 10) == pytest.approx(20e-30, rel=1e-12)
    assert curve.miss_probability(0.9, 4096, 1) == pytest.approx(0.0)
    assert curve.miss_probability(0.9, 100, 1) == pytest.approx(1e-100, rel=1e-9)


@given(bands_and_rows)
def test_curve_starts_at_0_ends_at_1_and_never_falls(layout: tuple[int, int]) -> None:
    """A more similar pair is never less likely to be found."""
    probabilities = curve.candidate_probability(np.linspace(0, 1, 101), *layout)

    assert probabilities[0] == 0
    assert probabilities[-1] == 1
    assert np.all(np.diff(probabilities) >= 0)


@given(bands_and_rows, st.floats(0.001, 0.999))
def test_agreement_at_inverts_the_curve(layout: tuple[int, int], probability: float) -> None:
    """The agreement named for a probability has that probability."""
    agreement = curve.agreement_at(probability, *layout)

    assert curve.candidate_probability(agreement, *layout) == pytest.approx(probability, rel=1e-9)


def test_cosine_maps_to_the_share_of_hyperplanes_and_back() -> None:
    """Parallel texts agree always, perpendicular ones half the time, opposite ones never."""
    cosines = np.array([1.0, 0.0, -1.0, math.cos(math.pi / 4)])

    agreements = curve.agreement_from_cosine(cosines)

    assert agreements == pytest.approx([1, 0.5, 0, 0.75])
    assert curve.cosine_from_agreement(agreements) == pytest.approx(cosines, abs=1e-15)


def test_cosine_beyond_one_by_rounding_is_one() -> None:
    """A cosine computed as 1.0000000000000002 has an agreement, not a NaN."""
    assert curve.agreement_from_cosine(1.0000000000000002) == 1


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
def test_standard_error_is_that_of_simulated_estimates(measure: curve.Measure) -> None:
    """The stated error is the deviation of estimates from binomial agreement counts."""
    rng = np.random.default_rng(20)
    hashes, trials = 512, 20_000
    for similarity in (0.3, 0.6, 0.9):
        agreement = curve.agreement_from_similarity(similarity, measure)
        counts = rng.binomial(hashes, agreement, trials) / hashes
        deviation = curve.similarity_from_agreement(counts, measure).std()

        stated = curve.standard_error(similarity, hashes, measure)

        assert stated == pytest.approx(deviation, rel=0.03), f"seed 20, {similarity}"


def test_identical_texts_have_no_error() -> None:
    """At similarity 1 every value agrees: the estimate is certain."""
    assert curve.standard_error(1.0, 128, "jaccard") == 0
    assert curve.standard_error(1.0, 128, "cosine") == 0


def test_planning_does_not_load_the_compiler() -> None:
    """`plan` answers at once: none of its mathematics imports numba."""
    modules = "curve, plan, cascade, recommendation"
    program = (
        f"from stream_dedup.similarity import {modules}; import sys; print('numba' in sys.modules)"
    )

    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert finished.stdout.strip() == "False"
