"""How much similarity an edit leaves, by the length of the text, for each script."""

import random
from collections.abc import Sequence

import numpy as np

from benchmarks.corpora import edits
from benchmarks.corpora.measure import jaccards
from benchmarks.corpora.records import Remains
from benchmarks.corpora.texts import UNSPACED
from benchmarks.texts import pieces
from stream_dedup.similarity.shingles import Unit

_SEED = 5
# Characters: four steps double the length, so that a limit is known within a tenth.
EDIT_LENGTHS = [round(20 * 2 ** (step / 4)) for step in range(30)]
_PIECES = 80  # of 3500 characters each

EDITS: dict[str, edits.Edit] = {
    "a character changed": edits.change_character,
    "a word changed": edits.change_word,
    "two sentences change places": edits.move_sentence,
    "a sentence changed": edits.change_sentence,
}
SHINGLES: list[tuple[Unit, int]] = [("char", 3), ("char", 5), ("word", 3)]
_SOURCES = {
    "en": ("mccormick_minhash", ""),
    "it": ("debian_desc_multi", "it/"),
    "ja": ("debian_desc_multi", "ja/"),
    "ko": ("debian_desc_multi", "ko/"),
    "zh_CN": ("debian_desc_multi", "zh_CN/"),
}


def remains(texts: int) -> list[Remains]:
    """Edit that many passages of each length in each language."""
    found = []
    for language, (corpus, prefix) in _SOURCES.items():
        source = random.Random(_SEED)
        spaced = language not in UNSPACED
        long = [" ".join(piece.split()) for piece in pieces(corpus, prefix, _PIECES)]
        others = edits.stock(long, spaced)
        passages = [
            [edits.cut(source.choice(long), length, spaced, source) for _ in range(texts)]
            for length in EDIT_LENGTHS
        ]
        for name, edit in EDITS.items():
            changed = [[edit(text, others, source) for text in group] for group in passages]
            found += _remaining(language, name, passages, changed)
    return found


def _remaining(
    language: str,
    edit: str,
    passages: Sequence[Sequence[str]],
    changed: Sequence[Sequence[str | None]],
) -> list[Remains]:
    found = []
    for unit, size in SHINGLES:
        median: list[float | None] = []
        tenth: list[float | None] = []
        for group, edited in zip(passages, changed, strict=True):
            pairs = [(old, new) for old, new in zip(group, edited, strict=True) if new is not None]
            enough = len(pairs) * 2 >= len(group)
            kept = jaccards([text for pair in pairs for text in pair], unit, size)
            median.append(float(np.median(kept)) if enough else None)
            tenth.append(float(np.quantile(kept, 0.1)) if enough else None)
        found.append(Remains(language, edit, unit, size, median, tenth))
    return found
