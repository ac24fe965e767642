"""The groups of the index that matter to a piece, as arrays."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.index.columns import decode_heads
from stream_dedup.index.layout import decode_short
from stream_dedup.matching.logtime import NEVER
from stream_dedup.matching.overlay import Overlay
from stream_dedup.similarity.ragged import Ragged

Numbers = NDArray[np.int64]


class Known(NamedTuple):
    """Rows of texts at ascending positions; a position without a row was never seen."""

    positions: Numbers
    values: list[bytes | None]
    seen: Numbers
    sizes: Numbers
    clusters: Numbers
    signatures: NDArray[Any]
    is_short: NDArray[np.bool_]

    @property
    def rows(self) -> int:
        return len(self.values)

    def numbers(self, positions: Ragged) -> Ragged:
        """Replace positions, all of which are here, by their numbers."""
        return Ragged(np.searchsorted(self.positions, positions.values), positions.bounds)

    def short(self, number: int) -> NDArray[np.uint64]:
        """Return the elements of a small text."""
        value = self.values[number]
        return decode_short(value, self.signatures[0].nbytes) if value else np.empty(0, np.uint64)


def read_known(overlay: Overlay, positions: Numbers, like: NDArray[Any]) -> Known:
    """Read the rows at these positions; their signatures are of the same kind as `like`."""
    names = positions.tolist()
    overlay.texts.read(overlay.index, names)
    values = overlay.texts.values(names)
    there = np.array([value is not None for value in values], np.bool_)
    heads = decode_heads([value for value in values if value], like.shape[1], like.dtype)

    def column(name: str, missing: int) -> Numbers:
        filled = np.full(len(names), missing, np.int64)
        filled[there] = heads[name]
        return filled

    signatures = np.zeros((len(names), like.shape[1]), like.dtype)
    signatures[there] = heads["signature"]
    return Known(
        positions,
        values,
        column("last_seen", NEVER),
        column("size", 0),
        column("cluster", -1),
        signatures,
        column("short", 0) > 0,
    )
