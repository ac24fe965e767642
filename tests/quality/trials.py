"""Random sets and vectors, signed many times, and how far the results lie from theory.

Theory says that t values of two signatures agree like t independent draws. So over many trials the
share that agrees has a known mean and deviation, and so has the number of trials in which a band
agrees. Distances from them are in standard errors.
"""

import math
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.bands import band_keys
from stream_dedup.similarity.ragged import Ragged

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Signatures = NDArray[Any]
Sign = Callable[[Ragged], Signatures]

# Shingles of a headline, a message, a paragraph, an article, a long report.
SIZES = (5, 18, 90, 450, 5000)
SIMILARITIES = (0.1, 0.5, 0.8, 0.95)
TRIALS = 5000
# Of a right implementation one soak in so many fails, for each family of scores.
FALSE_ALARMS_MAX = 1e-5

_HASHES_AT_A_TIME = 2_000_000


class Overlap(NamedTuple):
    """Two sets: how many elements each has, and how many they share."""

    first: int
    second: int
    shared: int

    @property
    def union(self) -> int:
        return self.first + self.second - self.shared

    @property
    def similarity(self) -> float:
        return self.shared / self.union


def nearest_overlap(size: int, similarity: float) -> Overlap:
    """Return the sets of about this size whose Jaccard similarity is nearest to a given one.

    One has the size, the other may have one element more or fewer. Identical sets say nothing.
    """
    overlaps = [
        Overlap(size, second, shared)
        for second in (size, size - 1, size + 1)
        for shared in range(1, min(size, second) + 1)
        if not size == second == shared
    ]
    return min(overlaps, key=lambda overlap: abs(overlap.similarity - similarity))


def random_unions(width: int, count: int, generator: np.random.Generator) -> Iterator[Hashes]:
    """Yield rows of random hashes, of which two sets or vectors are made, some rows at a time."""
    most = max(1, _HASHES_AT_A_TIME // width)
    for start in range(0, count, most):
        yield generator.integers(0, 2**64, (min(most, count - start), width), np.uint64)


def ragged(rows: Hashes) -> Ragged:
    """Return rows of one length as rows of any length."""
    values = np.ascontiguousarray(rows).reshape(-1)
    return Ragged(values, np.arange(len(rows) + 1) * rows.shape[1])


class Trials(NamedTuple):
    """The signatures of both sides, a row for each trial."""

    first: Signatures
    second: Signatures

    @property
    def agreement(self) -> Floats:
        """The share of values that agree, for each trial."""
        share: Floats = (self.first == self.second).mean(axis=1)
        return share

    def shared_keys(self, bands: int, rows: int) -> NDArray[np.bool_]:
        """Tell which band keys agree, for each trial."""
        first, second = (band_keys(side, bands, rows) for side in self)
        shared: NDArray[np.bool_] = first == second
        return shared

    def hits(self, bands: int, rows: int) -> NDArray[np.bool_]:
        """Tell whether any band key agrees, for each trial."""
        found: NDArray[np.bool_] = self.shared_keys(bands, rows).max(axis=1)
        return found


def joined(parts: Iterable[Trials]) -> Trials:
    """Return the trials of all parts as one."""
    first, second = zip(*parts, strict=True)
    return Trials(np.concatenate(first), np.concatenate(second))


def sign_sets(sign: Sign, unions: Hashes, overlap: Overlap) -> Trials:
    """Sign two sets over each row of hashes: its first elements, and its last."""
    first, second = unions[:, : overlap.first], unions[:, overlap.union - overlap.second :]
    return Trials(sign(ragged(first)), sign(ragged(second)))


class Scores(NamedTuple):
    """How the shares of many trials compare with those of independent draws."""

    bias: float  # of their mean, in standard errors
    spread: float  # their standard deviation over the expected one
    spread_bias: float  # the same in standard errors


def score_shares(shares: Floats, probability: float, draws: int) -> Scores:
    """Compare each trial's share of hits with `draws` draws of this probability."""
    variance = probability * (1 - probability) / draws
    spread = shares.std(ddof=1) / math.sqrt(variance)
    kurtosis = (
        1 / (draws * probability * (1 - probability)) - 6 / draws
    )  # of the binomial, in excess
    return Scores(
        bias=float((shares.mean() - probability) / math.sqrt(variance / len(shares))),
        spread=float(spread),
        spread_bias=float((spread**2 - 1) / math.sqrt((2.01 + kurtosis) / len(shares))),
    )


def assert_shares(shares: Floats, probability: float, draws: int, seed: int) -> None:
    """Hold the mean to 3 standard errors and the deviation to 5 % of what theory says."""
    scores = score_shares(shares, probability, draws)
    assert abs(scores.bias) <= 3, f"biased: {scores}, seed {seed}"
    assert 0.95 <= scores.spread <= 1.05, f"draws depend on each other: {scores}, seed {seed}"


def assert_hits(hits: NDArray[np.bool_], probability: float, seed: int) -> None:
    """Hold the number of trials that hit to 3 standard errors."""
    excess = hits.sum() - len(hits) * probability
    error = math.sqrt(len(hits) * probability * (1 - probability))
    assert abs(excess) <= 3 * error, f"{excess} hits too many, error {error}, seed {seed}"


def score_hits(hits: NDArray[np.bool_], probability: float) -> float:
    """Return the excess of hits in standard errors; where few are expected, from the exact tail."""
    count, found = len(hits), int(hits.sum())
    variance = count * probability * (1 - probability)
    if variance >= 25:
        return (found - count * probability) / math.sqrt(variance)
    rare = min(probability, 1 - probability)
    seen = found if rare == probability else count - found
    at_least, at_most = _tail(count, seen, rare), 1 - _tail(count, seen + 1, rare)
    tail = max(min(at_least, at_most, 0.5), 1e-300)
    return math.copysign(NormalDist().inv_cdf(tail), found - count * probability)


def _tail(count: int, least: int, probability: float) -> float:
    """Return the probability of at least so many hits, where hits are rare."""
    if least > 200:
        return 0.0
    fewer = (
        math.comb(count, hits) * probability**hits * (1 - probability) ** (count - hits)
        for hits in range(least)
    )
    return max(0.0, 1 - math.fsum(fewer))


def assert_chance(scores: Mapping[str, float], seed: int) -> None:
    """Hold many scores together to what chance makes of a right implementation.

    The largest, the number beyond 3, and the mean square, which sees a departure common to all.
    """
    values = np.abs(list(scores.values()))
    worst = sorted(scores, key=lambda name: -abs(scores[name]))[:5]
    told = f"{ {name: round(scores[name], 2) for name in worst} }, seed {seed}"
    bound = -NormalDist().inv_cdf(FALSE_ALARMS_MAX / 2 / len(values))
    assert values.max() <= bound, f"beyond {bound:.1f}: {told}"
    beyond = int((values > 3).sum())
    assert _tail(len(values), beyond, 0.0027) >= FALSE_ALARMS_MAX, f"{beyond} beyond 3: {told}"
    # Scores of the same trials depend on each other: twice the error that they would have.
    mean_square = float((values**2).mean())
    assert mean_square <= 1 + 2 * 4.3 * math.sqrt(2 / len(values)), f"{mean_square=:.2f}: {told}"


def random_seed() -> int:
    """Return a seed that nobody chose; what fails prints it."""
    return secrets.randbits(32)
