"""The reference for texts, shingles and their exact similarity: standard library only."""

import math
import unicodedata
from collections import Counter
from collections.abc import Hashable, Set
from functools import cache


def normalise(text: str) -> str:
    """Fold case and width, drop format characters, make every other separator one space."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join("".join(map(_replacement, folded)).split())


@cache
def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return character if category[0] in "LNM" else " "


def windows(normalised: str, unit: str, size: int) -> list[str]:
    """List the shingles of an already normalised text in order, repeated ones included."""
    if not normalised:
        return []
    parts, joint = (normalised, "") if unit == "char" else (normalised.split(" "), " ")
    starts = range(max(1, len(parts) - size + 1))
    return [joint.join(parts[start : start + size]) for start in starts]


def counts(text: str, unit: str, size: int) -> Counter[str]:
    """Count every shingle of a text as it came in."""
    return Counter(windows(normalise(text), unit, size))


def shingles(text: str, unit: str, size: int, multiset: bool = False) -> Set[Hashable]:
    """Make the set of shingles of a text as it came in; of (shingle, i-th time) for a multiset."""
    counted = counts(text, unit, size)
    if not multiset:
        return set(counted)
    return {(shingle, time) for shingle, times in counted.items() for time in range(times)}


def jaccard(a: Set[Hashable], b: Set[Hashable]) -> float:
    """Divide intersection by union; two empty sets are not alike."""
    return len(a & b) / len(a | b) if a or b else 0.0


def containment(a: Set[Hashable], b: Set[Hashable]) -> float:
    """Give the share of a that is found in b; nothing is found of an empty set."""
    return len(a & b) / len(a) if a else 0.0


def cosine(a: Counter[str], b: Counter[str]) -> float:
    """Give the cosine of the angle between two vectors of counts; 0 when one is empty."""
    product = sum(times * b[shingle] for shingle, times in a.items())
    lengths = sum(times**2 for times in a.values()) * sum(times**2 for times in b.values())
    return product / math.sqrt(lengths) if lengths else 0.0
