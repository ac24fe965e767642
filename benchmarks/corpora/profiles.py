"""Settings for a kind of text, measured as the command `pairs` finds what people call copies.

The profiles are the files of config/presets, as they are, and the defaults beside them.
"""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpora.matches import setting_of
from benchmarks.corpora.records import Match, Profile
from benchmarks.corpora.search import report, sharing_a_band
from benchmarks.corpora.texts import Labelled
from stream_dedup.config import SimilaritySettings
from stream_dedup.overrides import load

PRESETS = Path(__file__).parents[2] / "config" / "presets"
# What each preset is for, and the corpus that says so.
KINDS = {
    "bibliographic-records": ("bibliographic records", "biblio_dedup"),
    "revised-documents": ("revisions of long documents", "rfc_revisions"),
}


def preset(name: str) -> SimilaritySettings:
    """Return the settings of a file in config/presets."""
    return load(PRESETS / f"{name}.toml", {}).settings.similarity


def profiles(corpus: str, sets: Sequence[Labelled]) -> list[Profile]:
    """Measure the presets that are for this corpus, and the defaults."""
    names = [name for name, (_, measured_on) in KINDS.items() if measured_on == corpus]
    settings = {name: preset(name) for name in names} | {"": SimilaritySettings()}
    return [_measured(name, corpus, sets, own) for name, own in settings.items()]


def _measured(
    name: str, corpus: str, sets: Sequence[Labelled], settings: SimilaritySettings
) -> Profile:
    reported, right = [], []
    sharing = cut = 0
    for one in sets:
        found = report(one.texts, settings)
        pairs = set(zip(found.earlier.tolist(), found.later.tolist(), strict=True))
        if one.judged is not None:
            pairs = {pair for pair in pairs if one.judged[pair]}
        reported.append(len(pairs))
        right.append(len(pairs & one.copies))
        candidates = sharing_a_band(one.texts, settings)
        sharing += len(candidates.earlier)
        cut += found.cut + candidates.cut
    return Profile(
        name=name,
        corpus=corpus,
        recall=settings.recall,
        match=Match(setting_of(settings), reported, right),
        copies=[len(one.copies) for one in sets],
        documents=[len(one.texts) for one in sets],
        sharing_a_band=sharing,
        cut=cut,
    )
