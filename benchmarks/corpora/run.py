"""How good the answers are: on public corpora, in several scripts, on small and edited texts.

It needs no quiet machine, as nothing here is a time. Results hold numbers only, no text.
"""

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from typing import NamedTuple

from benchmarks.corpora import texts
from benchmarks.corpora.exact import DEFAULT, added, by_length, find, scores
from benchmarks.corpora.labels import QUICK_SHINGLES, SHINGLES, judge
from benchmarks.corpora.limits import rewritten, translated, versions
from benchmarks.corpora.profiles import profiles
from benchmarks.corpora.records import (
    CorporaResults,
    Edited,
    Labels,
    Lengths,
    Level,
    Profile,
    Scored,
)
from benchmarks.corpora.remains import EDIT_LENGTHS, remains
from benchmarks.corpora.small import edited, judged_titles
from benchmarks.corpora.texts import Document, Labelled
from benchmarks.machine import this_run
from benchmarks.records import Run, save
from benchmarks.texts import NAMES, require

_TITLES = "titles"
_LABELLED: dict[str, Callable[[], list[Labelled]]] = {
    "biblio_dedup": texts.bibliographic_sets,
    "rfc_revisions": texts.revisions,
    "mccormick_minhash": texts.articles,
    "clough_stevenson": texts.answers,
}
# What takes longest comes first, so that no core is left alone with it at the end.
_COLLECTIONS = (
    *("civil_procedure_codes", "debian_desc_multi", "rfc_revisions", _TITLES),
    *("biblio_dedup", "mccormick_minhash", "clough_stevenson"),
)
# In the quick form: lines among which many are alike.
_QUICK_LINES = {
    "civil_procedure_codes": (51_500, 56_500),
    "rfc_revisions": (0, 80),
    "mccormick_minhash": (0, 1_000),
}
_QUICK_A_LANGUAGE = 2_500  # documents


class Amount(NamedTuple):
    """How much is measured."""

    quick: bool
    edited: int  # texts of each class of lengths
    passages: int  # of each length, in each language


_FULL, _QUICK = Amount(False, 1_000, 200), Amount(True, 300, 40)


def main() -> None:
    """Measure and write results/corpora.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="parts of the corpora: a minute")
    amount = _QUICK if parser.parse_args().quick else _FULL
    require(NAMES)
    run = this_run("benchmarks.corpora")
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, multiprocessing.get_context("spawn")) as pool:
        save("corpora", _measured(pool, amount, run))


def _measured(pool: ProcessPoolExecutor, amount: Amount, run: Run) -> CorporaResults:
    exact = [pool.submit(_against_exact, name, amount) for name in _COLLECTIONS]
    labelled = [pool.submit(_against_labels, name, amount) for name in _LABELLED]
    edits = pool.submit(_edits, amount)
    left = pool.submit(remains, amount.passages)
    limits = pool.submit(_limits, amount)
    counted = [future.result() for future in exact]
    judged = [future.result() for future in labelled]
    translations, descriptions = limits.result()
    return CorporaResults(
        run=run,
        threshold=DEFAULT.threshold,
        scored=[one for scored, _ in counted for one in scored],
        lengths=_added([lengths for _, lengths in counted]),
        labels=[labels for labels, _ in judged],
        profiles=[profile for _, found in judged for profile in found],
        titles=judged_titles(texts.bibliographic_sets()),
        edited=edits.result(),
        edit_lengths=EDIT_LENGTHS,
        edit_texts=amount.passages,
        remains=left.result(),
        answers=rewritten(),
        translations=translations,
        versions=descriptions,
    )


def _against_exact(name: str, amount: Amount) -> tuple[list[Scored], list[Lengths]]:
    sys.stderr.write(f"{name}: every similar pair\n")
    documents = _documents(name, amount)
    outcome = find(documents)
    return scores(name, documents, outcome), by_length(outcome)


def _against_labels(name: str, amount: Amount) -> tuple[Labels, list[Profile]]:
    sys.stderr.write(f"{name}: what people call copies\n")
    sets = _LABELLED[name]()
    return judge(name, sets, QUICK_SHINGLES if amount.quick else SHINGLES), profiles(name, sets)


def _edits(amount: Amount) -> list[Edited]:
    sys.stderr.write("texts with an edit\n")
    names = ("debian_desc_multi", "biblio_dedup", "mccormick_minhash")
    documents = [document for name in names for document in _documents(name, amount)]
    return edited([*documents, *texts.titles(documents)], amount.edited)


def _limits(amount: Amount) -> tuple[list[Level], list[Level]]:
    sys.stderr.write("translations and versions\n")
    documents = _documents("debian_desc_multi", amount)
    return translated(documents), versions(documents)


def _documents(name: str, amount: Amount) -> list[Document]:
    """Return the documents of a collection, or in the quick form some."""
    if name == _TITLES:
        names = ("biblio_dedup", "debian_desc_multi")
        return texts.titles(document for one in names for document in _documents(one, amount))
    lines = _QUICK_LINES.get(name, (0, None)) if amount.quick else (0, None)
    documents = texts.read(name, *lines)
    if amount.quick and name == "debian_desc_multi":
        return texts.first_of_each_language(documents, _QUICK_A_LANGUAGE)
    return documents


def _added(counts: Sequence[Sequence[Lengths]]) -> list[Lengths]:
    return [reduce(added, of_a_class) for of_a_class in zip(*counts, strict=True)]


if __name__ == "__main__":
    main()
