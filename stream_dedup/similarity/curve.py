"""The S-curve of banding: how likely two documents of a given similarity share a band.

Everything here speaks of row agreement: the probability that two documents agree in one value of
their signatures. For MinHash it is the Jaccard similarity itself, for SimHash it is 1 - θ/π with
cos θ the cosine, so one curve serves both measures. Numbers and arrays go in, the same come out.
"""

from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Measure = Literal["jaccard", "cosine"]
FloatArray = NDArray[np.float64]
Number = TypeVar("Number", float, FloatArray)


def candidate_probability(agreement: Number, bands: int, rows: int) -> Number:
    """Return 1-(1-s^r)^b: the probability of agreeing in every row of at least one band."""
    with np.errstate(divide="ignore"):  # log1p(-1) is the wanted -inf at agreement 1
        probability: Number = -np.expm1(bands * np.log1p(-(agreement**rows)))
    return probability


def miss_probability(agreement: Number, bands: int, rows: int) -> Number:
    """Return (1-s^r)^b, exact also where it is too small to survive a subtraction from 1."""
    with np.errstate(divide="ignore"):
        probability: Number = np.exp(bands * np.log1p(-(agreement**rows)))
    return probability


def miss_probability_small(agreement: Number, bands: int, rows: int) -> Number:
    """Return e^(-b·s^r), which (1-s^r)^b approaches from below for small s."""
    probability: Number = np.exp(-bands * agreement**rows)
    return probability


def agreement_at(probability: Number, bands: int, rows: int) -> Number:
    """Return the row agreement at which `candidate_probability` takes this value."""
    with np.errstate(divide="ignore"):
        agreement: Number = (-np.expm1(np.log1p(-probability) / bands)) ** (1 / rows)
    return agreement


def half_point(bands: int, rows: int) -> float:
    """Return the row agreement at which a pair becomes a candidate every second time."""
    return float(agreement_at(0.5, bands, rows))


def half_point_estimate(bands: int, rows: int) -> float:
    """Return (1/b)^(1/r), the customary estimate of where the curve is steepest."""
    return float((1 / bands) ** (1 / rows))


def agreement_from_cosine(cosine: Number) -> Number:
    """Return 1 - θ/π, the probability that a random hyperplane leaves both on the same side."""
    agreement: Number = 1 - np.arccos(np.clip(cosine, -1.0, 1.0)) / np.pi
    return agreement


def cosine_from_agreement(agreement: Number) -> Number:
    """Return cos θ for the angle θ = π·(1 - agreement)."""
    cosine: Number = np.cos(np.pi * (1 - agreement))
    return cosine


def agreement_from_similarity(similarity: Number, measure: Measure) -> Number:
    """Return the row agreement of two documents of this similarity."""
    return similarity if measure == "jaccard" else agreement_from_cosine(similarity)


def similarity_from_agreement(agreement: Number, measure: Measure) -> Number:
    """Return the similarity of two documents of this row agreement."""
    return agreement if measure == "jaccard" else cosine_from_agreement(agreement)


def standard_error(similarity: Number, hashes: int, measure: Measure) -> Number:
    """Return one standard error of the similarity estimated from this many signature values.

    For the cosine it is the error of the agreement times the slope of cos(π(1-p)), π·sin θ.
    """
    agreement = agreement_from_similarity(similarity, measure)
    error: Number = np.sqrt(agreement * (1 - agreement) / hashes)
    if measure == "cosine":
        error = error * np.pi * np.sin(np.pi * (1 - agreement))
    return error
