"""Cascades: alternating AND and OR levels over the values of a signature.

Plain banding is the cascade `and6-or21`. Further levels make the step between unlike and like
steeper at the price of more values: `and4-or4-and4-or4` takes 256.
"""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from stream_dedup.errors import UsageError
from stream_dedup.similarity.curve import Number

_LEVEL = re.compile(r"(and|or)-?([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Level:
    """One step: all (`and`) or any (`or`) of `count` results of the level before."""

    gate: Literal["and", "or"]
    count: int

    def probability(self, agreement: Number) -> Number:
        """Return the probability that this level passes when each of its inputs does so."""
        if self.gate == "and":
            return agreement**self.count
        with np.errstate(divide="ignore"):  # log1p(-1) is the wanted -inf at agreement 1
            probability: Number = -np.expm1(self.count * np.log1p(-agreement))
        return probability


@dataclass(frozen=True, slots=True)
class Cascade:
    """A filter on the agreement of two signatures, the level nearest to the values first."""

    levels: tuple[Level, ...]

    def __str__(self) -> str:
        return "-".join(f"{level.gate}{level.count}" for level in self.levels)

    @property
    def hashes(self) -> int:
        """Count the signature values it reads."""
        return int(np.prod([level.count for level in self.levels], dtype=object))

    def probability(self, agreement: Number) -> Number:
        """Return the probability that two documents of this row agreement pass."""
        for level in self.levels:
            agreement = level.probability(agreement)
        return agreement

    def evaluate(self, agreement: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Decide pairs from where their signatures agree: shape (..., values) to shape (...).

        Neighbouring values form a group, and neighbouring groups the group of the next level;
        values beyond `hashes` are not read.
        """
        if agreement.shape[-1] < self.hashes:
            raise ValueError(f"{self} reads {self.hashes} values, got {agreement.shape[-1]}")
        passed = agreement[..., : self.hashes]
        for level in self.levels:
            groups = passed.reshape(*passed.shape[:-1], -1, level.count)
            gate = np.logical_and if level.gate == "and" else np.logical_or
            passed = gate.reduce(groups, axis=-1)
        decided: NDArray[np.bool_] = passed[..., 0]
        return decided


def parse_cascade(spec: str) -> Cascade:
    """Read a description such as `and4-or4-and4-or4`."""
    text = spec.strip().lower()
    levels: list[Level] = []
    for part in re.split(r"-(?=[^0-9]|$)", text):
        levels.append(_parse_level(part, spec, "or" if len(levels) % 2 else "and"))
    return Cascade(tuple(levels))


def _parse_level(part: str, spec: str, gate: Literal["and", "or"]) -> Level:
    example = "A cascade looks like and4-or4-and4-or4."
    match = _LEVEL.fullmatch(part)
    if match is None or int(match[2]) == 0:
        raise UsageError(
            f"cascade {spec!r}: {part!r} is not a level; a level is 'and' or 'or' "
            f"followed by a number from 1 to 999999. {example}"
        )
    if match[1] != gate:
        raise UsageError(
            f"cascade {spec!r}: found {part!r} where an {gate} level belongs; "
            f"levels alternate, the first is an and. {example}"
        )
    return Level(gate, int(match[2]))
