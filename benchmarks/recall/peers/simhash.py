"""simhash: `SimhashIndex` as in its introduction, 64 bits of which at most 3 may differ.

It has no threshold of similarity, so it gives the same answer to each.
"""

from collections.abc import Iterator
from importlib import import_module, metadata

from benchmarks.recall.counts import as_rows
from benchmarks.recall.peers.question import Answer, Question

_BITS_DIFFERENT = 3


def answers(question: Question) -> Iterator[Answer]:
    """Return the same pairs for each threshold."""
    simhash = import_module("simhash")
    tokenise = question.tokenise
    hashes = [simhash.Simhash(tokenise(text)) for text in question.texts]
    named = [(str(place), value) for place, value in enumerate(hashes)]
    index = simhash.SimhashIndex(named, k=_BITS_DIFFERENT)
    pairs = as_rows(
        (int(earlier), later)
        for later, value in enumerate(hashes)
        for earlier in index.get_near_dups(value)
        if int(earlier) < later
    )
    note = (
        f"simhash {metadata.version('simhash')}, `Simhash(shingles)` of 64 bits, "
        f"`SimhashIndex(…, k={_BITS_DIFFERENT})`, `get_near_dups`; it knows no threshold"
    )
    for threshold in question.thresholds:
        yield Answer("simhash", note, threshold, f"{_BITS_DIFFERENT} bits", pairs)
