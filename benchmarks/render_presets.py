"""The part of RESULTS.md that earns the presets: settings against what people call copies."""

from collections.abc import Iterable, Sequence

from benchmarks.corpora.matches import mean_f1, mean_score
from benchmarks.corpora.profiles import KINDS
from benchmarks.corpora.records import CorporaResults, Labels, Match, Profile, Setting
from benchmarks.writing import filled, table

_INTRODUCTION = """\
A preset stands in `config/presets` only where people have said which documents are copies. Each row
is what `stream-dedup pairs` finds of these with the file as it is, beside the defaults; of several
sets of documents recall and precision are means.
"""

_CHOICE = """\
How they were chosen: every unit and size, Jaccard and cosine, each threshold in steps of 0.05, all
documents compared with all others without bands. Below are the best of each, and the defaults. F1
is the harmonic mean of recall and precision, the mean over the sets.
"""

_PLAIN = "mccormick_minhash"  # copies so near that the defaults do

_SETS = """\
F1 in each set. The last column is the setting that the other sets alone would have chosen: where it
falls far short, that set is of another kind than they are, and yours may be too.
"""

_REASONS = {
    "bibliographic-records": """\
`bibliographic-records` is the best row of its table. Few words make a record, so that many pairs
share a band: {sharing:,.0f} of them for each document, where the defaults have {default:.1f}.
""",
    "revised-documents": """\
`revised-documents` stops at a threshold of {threshold:g}, although the table has better rows below:
there is one set only, and nothing says that other families of documents lie as far apart.
""",
}

_NONE = """\
Articles copied nearly word for word, `mccormick_minhash`, need no preset, as their row shows.
`clough_stevenson` gives none, see [below](#what-words-cannot-show). For other kinds of text, news
and forums among them, nothing was measured against people's judgement, so there is no preset:
`stream-dedup plan --sample` looks at documents like yours.
"""


def paragraphs(results: CorporaResults) -> Iterable[str]:
    """Return the paragraphs."""
    yield "### Presets\n"
    yield filled(_INTRODUCTION)
    header = [
        "",
        "unit and size",
        "threshold",
        "planned recall",
        "recall",
        "precision",
        "candidates a document",
    ]
    kinds = [profile for profile in results.profiles if _is_compared(profile)]
    yield table(header, map(_profile, kinds))
    for name, words in _REASONS.items():
        yield filled(words, **_costs(name, results.profiles))
    yield filled(_NONE)
    yield filled(_CHOICE)
    for labels in results.labels:
        if labels.corpus in {corpus for _, corpus in KINDS.values()}:
            yield _choice(labels)
            yield from _sets(labels, results.profiles)


def _is_compared(profile: Profile) -> bool:
    return profile.corpus in {*(corpus for _, corpus in KINDS.values()), _PLAIN}


def _profile(profile: Profile) -> list[str]:
    score, setting = mean_score(profile.match, profile.copies), profile.match.setting
    name = f"**{profile.name}**" if profile.name else "defaults"
    return [
        f"{name}, `{profile.corpus}`",
        f"{setting.unit}-{setting.size}",
        f"{setting.threshold:g}",
        f"{profile.recall:g}",
        f"{score.recall:.3f}",
        f"{score.precision:.3f}",
        f"{_sharing(profile):,.1f}",
    ]


def _sharing(profile: Profile) -> float:
    return profile.sharing_a_band / sum(profile.documents)


def _costs(name: str, profiles: Sequence[Profile]) -> dict[str, float]:
    own = next(profile for profile in profiles if profile.name == name)
    default = next(one for one in profiles if one.corpus == own.corpus and not one.name)
    return {
        "sharing": _sharing(own),
        "default": _sharing(default),
        "threshold": own.match.setting.threshold,
    }


def _choice(labels: Labels) -> str:
    header = [f"`{labels.corpus}`", "measure", "threshold", "recall", "precision", "F1"]
    matches = [*labels.best, labels.default]
    return table(header, [_match(match, labels) for match in matches])


def _match(match: Match, labels: Labels) -> list[str]:
    score, setting = mean_score(match, labels.copies), match.setting
    name = _shingles(setting) + (", default" if match is labels.default else "")
    shares = (score.recall, score.precision, mean_f1(match, labels.copies))
    return [name, setting.measure, f"{setting.threshold:g}", *(f"{one:.3f}" for one in shares)]


def _shingles(setting: Setting) -> str:
    return f"{setting.unit}-{setting.size}"


def _sets(labels: Labels, profiles: Sequence[Profile]) -> Iterable[str]:
    """Compare defaults, preset and what the other sets would have chosen, set by set."""
    if not labels.held_out:
        return
    yield filled(_SETS)
    chosen = {held.name: held.match for held in labels.held_out}
    kinds = [profile for profile in profiles if profile.corpus == labels.corpus]
    kinds.sort(key=lambda profile: profile.name)
    rows = []
    for place, name in enumerate(labels.sets):
        setting = chosen[name].setting
        held = f"{_f1(chosen[name], labels, place)} ({_shingles(setting)}, {setting.threshold:g})"
        scores = [_f1(profile.match, labels, place) for profile in kinds]
        counts = [f"{count[place]:,}" for count in (labels.documents, labels.copies)]
        rows.append([name, *counts, *scores, held])
    names = [profile.name or "defaults" for profile in kinds]
    yield table(["", "documents", "copies", *names, "chosen by the others"], rows)


def _f1(match: Match, labels: Labels, place: int) -> str:
    own = Match(match.setting, [match.reported[place]], [match.right[place]])
    return f"{mean_f1(own, [labels.copies[place]]):.3f}"
