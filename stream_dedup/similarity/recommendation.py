"""Which shingles suit a collection, from the lengths and the scripts of a sample of it.

Two things pull at the size of a shingle. Small ones occur in every long text, so that unrelated
texts grow alike: with 5 letters random pairs share 0.03 to 0.07 at 200 to 1,500 code points, but
0.13 at 5,000 and 0.2 at 20,000, where 9 letters keep them at 0.04. Large ones lose more to each
changed word, which only a long text can bear. An ideograph, kana or syllable block tells as much as
two letters or more: 3 of them leave random pairs at 0.01 to 0.03. Characters rather than words,
since they need no spaces between words and survive a misread letter.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from stream_dedup.similarity.curve import Measure
from stream_dedup.similarity.ragged import Ragged

# Median lengths in code points from which on the larger size is the better one.
_LONG_IN_LETTERS = 5000
_LONG_IN_SYLLABLES = 500

_MAINLY, _HARDLY = 0.5, 0.1  # shares of the characters

# Starts of runs of code points: 0 anything else, 1 syllables or ideographs, 2 letters without
# spaces between words.
_SCRIPTS = [
    (0x0000, 0), (0x0E00, 2), (0x0F00, 0), (0x1000, 2), (0x10A0, 0), (0x1100, 1), (0x13A0, 0),
    (0x1780, 2), (0x1800, 0), (0x3040, 1), (0xA4D0, 0), (0xAC00, 1), (0xD7B0, 0), (0xF900, 1),
    (0xFB00, 0), (0x20000, 1), (0x40000, 0),
]  # fmt: skip
_STARTS = np.array([start for start, _ in _SCRIPTS], np.uint32)
_KINDS = np.array([kind for _, kind in _SCRIPTS], np.uint8)
_SYLLABLES, _UNSPACED = 1, 2
_SPACE = 0x20


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The shingles that suit a sample, why, and what was found in it; lengths in code points."""

    unit: Literal["char", "word"]
    size: int
    reason: str
    also_good: str | None
    documents: int
    length_p10: int
    length_median: int
    length_p90: int
    syllables_share: float
    unspaced_share: float

    def words_changeable(self, threshold: float, measure: Measure) -> int:
        """Return how many words may be replaced in a median text without falling below.

        Each takes all shingles that touch it away from both sides. Of n shingles with m taken away,
        the Jaccard similarity is (n - m) / (n + m), the cosine about (n - m) / n.
        """
        shingles = max(1, self.length_median - self.size + 1)
        lost = shingles * (1 - threshold)
        if measure == "jaccard":
            lost /= 1 + threshold
        letters_per_word = 2 if self.syllables_share >= _MAINLY else 6
        return int(lost / (letters_per_word + self.size - 1))


def recommend(code_points: Ragged) -> Recommendation:
    """Recommend a unit and a size for texts like these, normalised and none of them empty."""
    quantiles = np.quantile(code_points.lengths, [0.1, 0.5, 0.9]).astype(int)
    p10, median, p90 = (int(length) for length in quantiles)
    syllables, unspaced = _script_shares(code_points)
    size, reason, also_good = _rule(median, syllables, unspaced)
    return Recommendation(
        unit="char",
        size=size,
        reason=reason,
        also_good=also_good,
        documents=code_points.rows,
        length_p10=p10,
        length_median=median,
        length_p90=p90,
        syllables_share=round(syllables, 4),
        unspaced_share=round(unspaced, 4),
    )


def _rule(median: int, syllables: float, unspaced: float) -> tuple[int, str, str | None]:
    if syllables >= _MAINLY:
        if median < _LONG_IN_SYLLABLES:
            return 3, "short texts in ideographs or syllables, each worth two letters or more", None
        return 5, "ideographs or syllables, each worth two letters or more", None
    if median < _LONG_IN_LETTERS:
        return 5, "short texts: larger shingles would lose too much to each changed word", None
    reason = "long texts: smaller shingles occur in all of them"
    # Three words tell as much and are quicker to sign, but words need spaces between them.
    return 9, reason, "word 3" if unspaced + syllables < _HARDLY else None


def _script_shares(code_points: Ragged) -> tuple[float, float]:
    """Return the shares of all characters but spaces that are syllables, and unspaced letters."""
    letters = code_points.values[code_points.values != _SPACE]
    kinds = _KINDS[np.searchsorted(_STARTS, letters, side="right") - 1]
    counts = np.bincount(kinds, minlength=3) / max(1, letters.size)
    return float(counts[_SYLLABLES]), float(counts[_UNSPACED])
