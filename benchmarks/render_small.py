"""The part of RESULTS.md on small documents, and on what one edit does to texts of any length."""

from collections.abc import Iterable, Sequence

from benchmarks.corpora.records import CorporaResults, Edited, Lengths, Remains, TitleLength
from benchmarks.corpora.texts import LANGUAGES
from benchmarks.writing import filled, share, table

_LENGTHS = """\
All pairs of all collections above, by the length of the shorter text in characters. Texts of no
more than 128 shingles are compared exactly, as their shingles are kept, so that what is small is
found as theory has it and never wrong.
"""

_TITLES = """\
Titles alone, of records that people compared as a whole ([presets](#presets) say how). Identical
titles of different articles, such as *Editorial*, are no fault of a comparison; who compares titles
needs more than titles.
"""

_EDITED = """\
Real texts of every length and script, {texts:,} of each class, each with one edit and looked for
among all others. Those that are still at the threshold are found; that so few of the shortest are
is what the measure makes of them.
"""

_WORD = """\
What one changed word leaves of the similarity: the median of {texts} passages of each length, cut
from texts of each language, in char-5 and, behind the stroke, word-3. A word of Chinese and
Japanese has two characters; with word-3 it counts what stands between spaces and marks.
"""

_KEEPS = """\
From how many characters on nine texts of ten stay at {threshold:g} or above, in char-3 / char-5 /
word-3.
"""

_EVERY = 4  # of the measured lengths, which is each that doubles
_SHINGLES = (("char", 3), ("char", 5), ("word", 3))


def paragraphs(results: CorporaResults) -> Iterable[str]:
    """Return the paragraphs."""
    yield "### Small documents\n"
    yield filled(_LENGTHS)
    yield _lengths(results.lengths)
    yield filled(_EDITED, texts=max(one.texts for one in results.edited))
    yield _edited(results.edited)
    yield filled(_TITLES)
    yield _titles(results.titles)
    yield "### One changed word, by length\n"
    yield filled(_WORD, texts=results.edit_texts)
    yield _changed_word(results)
    yield filled(_KEEPS, threshold=results.threshold)
    yield _keeps(results)


def _lengths(lengths: Sequence[Lengths]) -> str:
    rows = [
        [
            f"from {one.least}",
            f"{one.pairs:,}",
            share(one.right, one.pairs),
            share(one.expected, one.pairs),
            share(one.right, one.reported),
        ]
        for one in lengths
    ]
    return table(["characters", "pairs", "recall", "expected", "precision"], rows)


def _titles(titles: Sequence[TitleLength]) -> str:
    header = ["characters", "copies", "found", "reported", "of these identical", "of those right"]
    rows = []
    for one in titles:
        counts = (one.copies, one.right, one.reported, one.identical, one.identical_right)
        rows.append([f"from {one.least}", *(f"{count:,}" for count in counts)])
    return table(header, rows)


def _edited(edited: Sequence[Edited]) -> str:
    header = ["edit", "characters", "texts", "still at the threshold", "found", "others, wrong"]
    rows = [
        [
            one.edit,
            f"from {one.least}",
            f"{one.texts:,}",
            f"{one.reaching:,}",
            f"{one.found:,}",
            f"{one.wrong:,} of {one.others:,}",
        ]
        for one in sorted(edited, key=lambda one: (one.edit, one.least))
    ]
    return table(header, rows)


def _changed_word(results: CorporaResults) -> str:
    found = _by_kind(results.remains)
    lengths = range(0, len(results.edit_lengths), _EVERY)
    rows = []
    for language in dict.fromkeys(one.language for one in results.remains):
        char, word = (
            found[language, "a word changed", *shingles].median for shingles in (_SHINGLES[1:])
        )
        cells = [f"{_two_digits(char[at])} / {_two_digits(word[at])}" for at in lengths]
        rows.append([LANGUAGES[language], *cells])
    return table(["characters", *(f"{results.edit_lengths[at]:,}" for at in lengths)], rows)


def _keeps(results: CorporaResults) -> str:
    found = _by_kind(results.remains)
    languages = list(dict.fromkeys(one.language for one in results.remains))
    rows = []
    for edit in dict.fromkeys(one.edit for one in results.remains):
        cells = [
            " / ".join(
                _from(found[language, edit, *shingles].tenth, results) for shingles in _SHINGLES
            )
            for language in languages
        ]
        rows.append([edit, *cells])
    return table(["", *(LANGUAGES[language] for language in languages)], rows)


def _from(similarities: Sequence[float | None], results: CorporaResults) -> str:
    """Return the shortest length from which all stay at the threshold, if that was seen."""
    shortest = "–"
    for length, similarity in reversed(list(zip(results.edit_lengths, similarities, strict=True))):
        if similarity is None or similarity < results.threshold:
            break
        shortest = f"{length:,}"
    return shortest


def _two_digits(similarity: float | None) -> str:
    return "–" if similarity is None else f"{int(similarity * 100) / 100:.2f}"


def _by_kind(remains: Iterable[Remains]) -> dict[tuple[str, str, str, int], Remains]:
    return {(one.language, one.edit, one.unit, one.size): one for one in remains}
