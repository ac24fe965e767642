"""How good matches are that were counted against labels."""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from benchmarks.corpora.records import Match, Setting
from stream_dedup.config import SimilaritySettings


class Score(NamedTuple):
    """How good a match is, each set of documents counting the same."""

    recall: float
    precision: float

    @property
    def f1(self) -> float:
        """The harmonic mean."""
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


def scores_of(match: Match, copies: Sequence[int]) -> list[Score]:
    """Return recall and precision in each set; what reports nothing reports nothing wrong."""
    rows = zip(match.right, match.reported, copies, strict=True)
    return [
        Score(right / total, right / max(1, told) if told else 1.0) for right, told, total in rows
    ]


def mean_score(match: Match, copies: Sequence[int]) -> Score:
    """Return the means over the sets."""
    scores = scores_of(match, copies)
    return Score(fmean(one.recall for one in scores), fmean(one.precision for one in scores))


def mean_f1(match: Match, copies: Sequence[int]) -> float:
    """Return the mean of F1 over the sets."""
    return fmean(score.f1 for score in scores_of(match, copies))


def setting_of(similarity: SimilaritySettings) -> Setting:
    """Return what the grid has of settings."""
    return Setting(similarity.unit, similarity.size, similarity.measure, similarity.threshold)
