"""The part of RESULTS.md on what a comparison of words cannot see, with the evidence."""

from collections.abc import Iterable, Sequence

from benchmarks.corpora.records import CorporaResults, Level
from benchmarks.writing import filled, table

_INTRODUCTION = """\
Similarity of words is no similarity of meaning. **A paraphrase, a translation, and the same event
told anew are not found**, by us and by whatever compares shingles, and no threshold changes that:
below are texts of which it is known that they tell the same.
"""

_ANSWERS = """\
Students answered questions from a source, `clough_stevenson`: by copying from it (cut), by
copying with small changes (light), by rewriting it (heavy), or without having seen it (non), which
is the same subject told anew. Similarity is that of answer and source in char-5, contained the
share of the answer that is found in the source. Reported are those of the pairs that we report at
that threshold. Even copies lie low, as an answer takes only a part of its source: that is a
question of containment, which we state for pairs we report, and do not search by.
"""

_TRANSLATIONS = """\
Descriptions of one package in two languages, `debian_desc_multi`: what is alike are names and
commands, and passages that were left untranslated.
"""

_VERSIONS = """\
Versions of one package's description in one language, as they were published, for comparison: these
are the changes that are seen.
"""

_NAMES = {"cut": "cut and paste", "light": "light revision", "heavy": "heavy revision",
          "non": "same question, source unseen"}  # fmt: skip
_THRESHOLDS = ("0.8", "0.5")


def paragraphs(results: CorporaResults) -> Iterable[str]:
    """Return the paragraphs."""
    yield "### What words cannot show\n"
    yield filled(_INTRODUCTION)
    yield filled(_ANSWERS)
    yield table(
        [
            "",
            "answers",
            "similarity: median",
            "largest",
            "contained: median",
            "reported at 0.8",
            "at 0.5",
        ],
        [_answers(level) for level in results.answers],
    )
    yield filled(_TRANSLATIONS)
    yield _levels(results.translations)
    yield filled(_VERSIONS)
    yield _levels(results.versions)


def _answers(level: Level) -> list[str]:
    *_, median, _, largest = level.quartiles["char-5"]
    return [
        _NAMES[level.name],
        f"{level.pairs}",
        f"{median:.2f}",
        f"{largest:.2f}",
        f"{level.quartiles['char-5, contained'][2]:.2f}",
        *(f"{level.reported[threshold]}" for threshold in _THRESHOLDS),
    ]


def _levels(levels: Sequence[Level]) -> str:
    header = ["", "pairs", "char-5: median", "largest", "≥ 0.8", "≥ 0.5"]
    header += ["word-3: median", "largest", "≥ 0.8", "≥ 0.5"]
    rows = []
    for level in levels:
        row = [level.name, f"{level.pairs:,}"]
        for shingles in ("char-5", "word-3"):
            *_, median, _, largest = level.quartiles[shingles]
            row += [f"{median:.2f}", f"{largest:.2f}"]
            row += [f"{level.reaching[shingles][threshold]:,}" for threshold in _THRESHOLDS]
        rows.append(row)
    return table(header, rows)
