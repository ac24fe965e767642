"""The public corpora: documents with their languages, and which of them people call copies."""

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.texts import corpus

LANGUAGES = {
    "en": "English",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "zh_CN": "Chinese, simplified",
    "zh_TW": "Chinese, traditional",
}
# Written without spaces between words.
UNSPACED = {"ja", "zh_CN", "zh_TW"}

Pair = tuple[int, int]  # positions, the lower one first


class Document(msgspec.Struct):
    """A line of a corpus; those that name no language are in English."""

    id: str
    text: str
    lang: str = "en"


class Labelled(NamedTuple):
    """Documents that people have looked through, and the pairs they call copies."""

    name: str
    texts: list[str]
    copies: set[Pair]
    judged: NDArray[np.bool_] | None = None  # [a, b]: if not every two were looked at


def read(name: str, start: int = 0, stop: int | None = None) -> list[Document]:
    """Return the documents on these lines of a corpus, or all."""
    decoder = msgspec.json.Decoder(Document)
    with gzip.open(corpus(name)) as lines:
        return [decoder.decode(line) for line in islice(lines, start, stop)]


def first_of_each_language(documents: Iterable[Document], count: int) -> list[Document]:
    """Return so many documents of each language, or all it has."""
    left = dict.fromkeys(LANGUAGES, count)
    kept = []
    for document in documents:
        if left[document.lang]:
            left[document.lang] -= 1
            kept.append(document)
    return kept


def titles(documents: Iterable[Document]) -> list[Document]:
    """Return the first lines: titles of records, short descriptions of packages."""
    return [
        Document(document.id, document.text.partition("\n")[0], document.lang)
        for document in documents
    ]


def bibliographic_sets() -> list[Labelled]:
    """Return the review sets, each by itself: nobody compared one with another."""
    members = defaultdict(list)
    for document in read("biblio_dedup"):
        members[document.id.partition("/")[0]].append(document)
    clusters = _grouped(truth("biblio_dedup"))
    return [
        Labelled(name, [one.text for one in documents], _pairs_within(documents, clusters))
        for name, documents in members.items()
    ]


def articles() -> list[Labelled]:
    """Return the articles, of which some were copied."""
    documents = read("mccormick_minhash")
    copies = _pairs_within(documents, map(set, truth("mccormick_minhash")))
    return [Labelled("mccormick_minhash", [document.text for document in documents], copies)]


def revisions() -> list[Labelled]:
    """Return the RFCs; what follows another through several revisions is a copy of it too."""
    documents = read("rfc_revisions")
    chains: dict[str, set[str]] = {document.id: {document.id} for document in documents}
    for older, newer, *_ in truth("rfc_revisions"):
        chain = chains[older] | chains[newer]
        chains |= dict.fromkeys(chain, chain)
    copies = _pairs_within(documents, chains.values())
    return [Labelled("rfc_revisions", [document.text for document in documents], copies)]


def answers() -> list[Labelled]:
    """Return short answers and their sources; only an answer and its own source were compared."""
    documents = read("clough_stevenson")
    places = {document.id: place for place, document in enumerate(documents)}
    judged = np.zeros((len(documents), len(documents)), np.bool_)
    copies = set()
    for answer, source, level in truth("clough_stevenson"):
        a, b = sorted((places[answer], places[source]))
        judged[a, b] = True
        if level != "non":
            copies.add((a, b))
    return [Labelled("clough_stevenson", [one.text for one in documents], copies, judged)]


def truth(name: str) -> Iterator[list[str]]:
    """Yield the rows of a corpus's labels, without the header."""
    with (corpus(name).parent / "truth.tsv").open(encoding="utf-8", newline="") as lines:
        yield from islice(csv.reader(lines, delimiter="\t"), 1, None)


def _grouped(rows: Iterable[Iterable[str]]) -> Iterable[set[str]]:
    """Return the ids of each cluster, from rows of an id and its cluster."""
    clusters: dict[str, set[str]] = defaultdict(set)
    for identifier, cluster, *_ in rows:
        clusters[cluster].add(identifier)
    return clusters.values()


def _pairs_within(documents: list[Document], clusters: Iterable[set[str]]) -> set[Pair]:
    places = {document.id: place for place, document in enumerate(documents)}
    return {
        pair
        for cluster in clusters
        for pair in combinations(sorted(places[one] for one in cluster if one in places), 2)
    }
