"""What a similar pair means: its kind, and the cluster that a document joins."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel

Kind = Literal["near", "exact", "excerpt", "extension"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_NEAR, _EXACT, _EXCERPT, _EXTENSION = range(4)

# So much of the shorter text must be found in the longer one, ...
_CONTAINED = 0.95
# ... and it must be so much shorter; otherwise the texts are near copies of equal standing.
_SHORTER = 0.9
_ROUNDING = 1e-9  # a share of exactly so much may come out of a similarity a little lower


def kinds(
    identical: NDArray[np.bool_],
    contained: NDArray[np.float64],
    containing: NDArray[np.float64],
    sizes: NDArray[np.int64],
    others: NDArray[np.int64],
) -> NDArray[np.int8]:
    """Return the index in `KINDS` for each pair of a text and an earlier one.

    `contained` is the share of the text found in the earlier one, `containing` the share of the
    earlier one found in the text; the sizes are the text's and the earlier one's.
    """
    kind = np.full(len(identical), _NEAR, np.int8)
    shorter = _SHORTER + _ROUNDING
    kind[(contained >= _CONTAINED - _ROUNDING) & (sizes <= shorter * others)] = _EXCERPT
    kind[(containing >= _CONTAINED - _ROUNDING) & (others <= shorter * sizes)] = _EXTENSION
    kind[identical] = _EXACT
    return kind


class Clusters:
    """Groups that never chain: a document joins only on a similar pair with the representative."""

    def __init__(self, documents: int) -> None:
        self.representatives = np.arange(documents, dtype=np.int32)

    def add(
        self,
        earlier: NDArray[np.int32],
        later: NDArray[np.int32],
        similarity: NDArray[np.float64],
    ) -> None:
        """Take in pairs, ordered by the later document; all pairs of a document come together."""
        _join_best(earlier, later, similarity, self.representatives)


@kernel
def _join_best(earlier: Array, later: Array, similarity: Array, representatives: Array) -> None:
    """Let each document join the most similar representative, the earliest among equals."""
    best = -1.0
    for pair in range(later.size):
        if pair == 0 or later[pair] != later[pair - 1]:
            best = -1.0
        if representatives[earlier[pair]] == earlier[pair] and similarity[pair] > best:
            best = similarity[pair]
            representatives[later[pair]] = earlier[pair]
