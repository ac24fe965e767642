"""Small documents: titles that people judged, and real texts of every length with one edit."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.corpora import edits
from benchmarks.corpora.exact import DEFAULT, LENGTHS
from benchmarks.corpora.measure import Floats, Ints, measure
from benchmarks.corpora.records import Edited, TitleLength
from benchmarks.corpora.search import report
from benchmarks.corpora.texts import UNSPACED, Document, Labelled, Pair
from tests.oracles.text import normalise

_SEED = 7
EDITS: dict[str, edits.Edit] = {
    "a character changed": edits.change_character,
    "a word changed": edits.change_word,
    "a word put in front": edits.add_word,
}


class Original(NamedTuple):
    """A text to edit."""

    text: str
    language: str


def judged_titles(sets: Sequence[Labelled]) -> list[TitleLength]:
    """Compare the titles alone of the labelled records, with default settings."""
    counts = [dict.fromkeys(TitleLength.__struct_fields__[1:], 0) for _ in LENGTHS]
    for one in sets:
        titles = [text.partition("\n")[0] for text in one.texts]
        plain = [normalise(title) for title in titles]
        for a, b in one.copies:
            counts[_class(plain, (a, b))]["copies"] += 1
        found = report(titles, DEFAULT)
        for a, b in zip(found.earlier.tolist(), found.later.tolist(), strict=True):
            row = counts[_class(plain, (a, b))]
            is_right, is_identical = (a, b) in one.copies, plain[a] == plain[b]
            row["reported"] += 1
            row["right"] += is_right
            row["identical"] += is_identical
            row["identical_right"] += is_right and is_identical
    return [TitleLength(least, **row) for least, row in zip(LENGTHS, counts, strict=True)]


def edited(documents: Iterable[Document], texts: int) -> list[Edited]:
    """Edit that many texts of each class of lengths, and look for them with default settings."""
    groups = _originals(documents, texts)
    stocks = _stocks(groups)
    found = []
    for least, originals in zip(LENGTHS, groups, strict=True):
        for name, edit in EDITS.items():
            source = random.Random(_SEED)
            changed = [edit(one.text, stocks[one.language], source) for one in originals]
            found.append(_look_for(least, name, originals, changed))
    return found


def _look_for(
    least: int, edit: str, originals: Sequence[Original], changed: Sequence[str | None]
) -> Edited:
    """Count the edited texts that are matched with their original, and wrongly with others."""
    pairs = [(one.text, new) for one, new in zip(originals, changed, strict=True) if new]
    texts = [old for old, _ in pairs] + [new for _, new in pairs]
    count = len(pairs)
    left = np.arange(count)
    kept = _jaccard(texts, left, left + count)
    found = report(texts, DEFAULT)
    own = found.later - found.earlier == count
    others = (found.later >= count) & ~own
    similarity = _jaccard(texts, found.earlier[others], found.later[others])
    return Edited(
        least=least,
        edit=edit,
        texts=count,
        reaching=int((kept >= DEFAULT.threshold).sum()),
        found=int(own.sum()),
        others=int(others.sum()),
        wrong=int((similarity < DEFAULT.threshold).sum()),
    )


def _jaccard(texts: Sequence[str], left: Ints, right: Ints) -> Floats:
    return measure(texts, left, right, DEFAULT.unit, DEFAULT.size).jaccard


def _originals(documents: Iterable[Document], texts: int) -> list[list[Original]]:
    """Draw different texts for each class, from all languages that have some."""
    by_class: list[dict[str, dict[str, str]]] = [defaultdict(dict) for _ in LENGTHS]
    for document in documents:
        plain = normalise(document.text)
        if plain:
            place = sum(len(plain) >= least for least in LENGTHS) - 1
            by_class[place][document.lang].setdefault(plain, document.text)
    return [_drawn(group, texts) for group in by_class]


def _drawn(group: dict[str, dict[str, str]], texts: int) -> list[Original]:
    """Take the languages in turn, each in random order, until there are enough."""
    source = random.Random(_SEED)
    queues = {
        language: source.sample(list(found.values()), len(found))
        for language, found in sorted(group.items())
    }
    drawn: list[Original] = []
    while len(drawn) < texts and any(queues.values()):
        for language, queue in queues.items():
            if queue and len(drawn) < texts:
                drawn.append(Original(queue.pop(), language))
    return drawn


def _stocks(groups: Iterable[Sequence[Original]]) -> dict[str, edits.Stock]:
    by_language = defaultdict(list)
    for group in groups:
        for original in group:
            by_language[original.language].append(original.text)
    return {
        language: edits.stock(texts, language not in UNSPACED)
        for language, texts in by_language.items()
    }


def _class(plain: Sequence[str], pair: Pair) -> int:
    """Return the class of lengths of the shorter of both."""
    length = min(len(plain[place]) for place in pair)
    return sum(length >= least for least in LENGTHS) - 1
