"""Which settings decided which part of the log: what is read again is decided as it was.

It is committed with the group's offset, and so is known to whoever reads the log up to there: to an
instance that stands by under other settings than the owner's, and to an index that is made anew.
"""

from typing import Any

from msgspec import Struct

# A broker takes 4096 bytes with an offset, and each stretch has about 200.
_STRETCHES_MAX = 12


class Stretch(Struct, frozen=True, array_like=True):
    """From an offset of the log on these settings decided."""

    begin: int
    decisions: dict[str, Any]


class History(Struct, frozen=True, array_like=True):
    """The stretches of the log, in its order; of what lies before the first nothing is known."""

    stretches: tuple[Stretch, ...] = ()

    def decisions(self, offset: float) -> dict[str, Any] | None:
        """Return what decided the record at this offset."""
        before = [stretch for stretch in self.stretches if stretch.begin <= offset]
        return before[-1].decisions if before else None

    def end(self, offset: float) -> float:
        """Return where the stretch of this offset ends."""
        return min(
            (stretch.begin for stretch in self.stretches if stretch.begin > offset),
            default=float("inf"),
        )

    def followed(self, begin: int, decisions: dict[str, Any]) -> "History":
        """Return the history where these decide from an offset on; the oldest may have to go."""
        kept = [stretch for stretch in self.stretches if stretch.begin < begin]
        if not kept or kept[-1].decisions != decisions:
            kept.append(Stretch(begin, decisions))
        return History(tuple(kept[-_STRETCHES_MAX:]))
