"""What the same words cannot show: rewriting, telling anew, translating."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from msgspec.structs import replace

from benchmarks.corpora.exact import DEFAULT
from benchmarks.corpora.measure import Floats, measure
from benchmarks.corpora.records import Level
from benchmarks.corpora.search import report
from benchmarks.corpora.texts import LANGUAGES, Document, Pair, read, truth
from stream_dedup.similarity.shingles import Unit

THRESHOLDS = (0.8, 0.5)
_SHINGLES: list[tuple[Unit, int]] = [("char", 5), ("word", 3)]
VERSION_SHINGLES: list[tuple[Unit, int]] = [("char", 3), ("char", 5), ("word", 3)]
_QUARTILES = (0, 0.25, 0.5, 0.75, 1)
LEVELS = ("cut", "light", "heavy", "non")


def rewritten() -> list[Level]:
    """Compare each answer with the source it was to be written from, by how it was written."""
    documents = read("clough_stevenson")
    places = {document.id: place for place, document in enumerate(documents)}
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for answer, source, level in truth("clough_stevenson"):
        pairs[level].append((places[answer], places[source]))
    texts = [document.text for document in documents]
    found = {str(threshold): _reported(texts, threshold) for threshold in THRESHOLDS}
    return [
        replace(
            _level(name, texts, pairs[name], _SHINGLES, with_containment=True),
            reported={
                threshold: sum((min(pair), max(pair)) in reported for pair in pairs[name])
                for threshold, reported in found.items()
            },
        )
        for name in LEVELS
    ]


def translated(documents: Sequence[Document]) -> list[Level]:
    """Compare the descriptions of each package in every two languages."""
    first: dict[str, dict[str, int]] = defaultdict(dict)  # by language, of each package
    for place, document in enumerate(documents):
        _, _, version = document.id.partition("/")
        package = version.rpartition(".")[0]
        first[document.lang].setdefault(package, place)
    levels = []
    texts = [document.text for document in documents]
    for one, other in combinations(LANGUAGES, 2):
        packages = first[one].keys() & first[other].keys()
        if packages:
            pairs = [(first[one][name], first[other][name]) for name in sorted(packages)]
            name = f"{LANGUAGES[one]} – {LANGUAGES[other]}"
            levels.append(_level(name, texts, pairs, _SHINGLES))
    return levels


def versions(documents: Sequence[Document]) -> list[Level]:
    """Compare the versions of each package's description within a language."""
    clusters: dict[str, list[int]] = defaultdict(list)
    places = {document.id: place for place, document in enumerate(documents)}
    for identifier, cluster in truth("debian_desc_multi"):
        if identifier in places:
            clusters[cluster].append(places[identifier])
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for members in clusters.values():
        for pair in combinations(members, 2):
            pairs[documents[pair[0]].lang].append(pair)
    texts = [document.text for document in documents]
    return [
        _level(LANGUAGES[language], texts, pairs[language], VERSION_SHINGLES)
        for language in LANGUAGES
        if pairs[language]
    ]


def _level(
    name: str,
    texts: Sequence[str],
    pairs: Sequence[Pair],
    shingles: Iterable[tuple[Unit, int]],
    with_containment: bool = False,
) -> Level:
    """Measure pairs of texts; containment is the share of the first found in the second."""
    involved, places = np.unique(np.array(pairs), return_inverse=True)
    own = [texts[place] for place in involved.tolist()]
    left, right = places.reshape(-1, 2).T
    values: dict[str, Floats] = {}
    for unit, size in shingles:
        measured = measure(own, left, right, unit, size)
        values[f"{unit}-{size}"] = measured.jaccard
        if with_containment:
            values[f"{unit}-{size}, contained"] = measured.containment
    return Level(
        name=name,
        pairs=len(pairs),
        quartiles={key: np.quantile(kept, _QUARTILES).tolist() for key, kept in values.items()},
        reaching={
            key: {str(threshold): int((kept >= threshold).sum()) for threshold in THRESHOLDS}
            for key, kept in values.items()
        },
        reported={},
    )


def _reported(texts: Sequence[str], threshold: float) -> set[Pair]:
    found = report(texts, replace(DEFAULT, threshold=threshold))
    return set(zip(found.earlier.tolist(), found.later.tolist(), strict=True))
