"""Which similar pairs each system finds, and how many of those that it returns are similar.

The truth is the exact join of `tests.quality.brute_force`, on the same texts and shingles.
"""

import argparse
import gzip
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from importlib import import_module, util
from itertools import groupby, islice
from multiprocessing import get_context
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from benchmarks.machine import this_run
from benchmarks.recall.counts import (
    BIN_WIDTH,
    JUST_ABOVE,
    Numbers,
    Truth,
    by_similarity,
    count,
    is_found,
    pair_numbers,
    similar_pairs,
)
from benchmarks.recall.pairs import MadeUpPairs, made_up_pairs
from benchmarks.recall.peers import text_dedup
from benchmarks.recall.peers.question import Answer, Question
from benchmarks.recall.records import Answers, Curve, MadeUp, RecallResults, Score, Trial
from benchmarks.recall.theory import measure as measure_plans
from benchmarks.records import save
from benchmarks.texts import corpus, require
from tests.quality.brute_force import Groups, group_copies, join_groups

_CURVE_THRESHOLD = 0.8
_CURVE_FROM = 0.3
_SEED = 5
# The slowest first, as they take turns on the cores.
_PEERS = ("gaoya", "simhash", "datasketch", "text_dedup", "rensa", "ours")


class Cut(NamedTuple):
    """How texts are cut into shingles."""

    unit: Literal["char", "word"]
    size: int

    def __str__(self) -> str:
        return f"{self.unit}-{self.size}"


class Stretch(NamedTuple):
    """Some lines of a corpus in which many texts are alike, and the shingles to compare them in."""

    corpus: str
    first: int
    lines: int
    cut: Cut


class Scale(NamedTuple):
    """How much is measured."""

    stretches: Sequence[Stretch]
    thresholds: Sequence[float]
    made_up: int  # pairs of each similarity, for all systems
    theory: int  # the same, for our plans alone


_CHARACTERS, _WORDS = Cut("char", 5), Cut("word", 3)
_FULL = Scale(
    [
        Stretch("civil_procedure_codes", 64_000, 28_000, _CHARACTERS),
        Stretch("civil_procedure_codes", 64_000, 28_000, _WORDS),
        Stretch("debian_desc_multi", 45_000, 15_000, _CHARACTERS),
    ],
    thresholds=(0.5, 0.6, 0.7, 0.8, 0.9),
    made_up=300,
    theory=500,
)
_QUICK = Scale(_FULL.stretches[:1], thresholds=(_CURVE_THRESHOLD,), made_up=30, theory=100)


def main() -> None:
    """Measure and write results/recall.json."""
    scale = _arguments()
    require(stretch.corpus for stretch in scale.stretches)
    run = this_run("benchmarks.recall")
    peers = [peer for peer in _PEERS if _is_installed(peer)]
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        plans = pool.submit(measure_plans, scale.theory, _SEED)
        trials = [
            _begin_trial(stretch, scale.thresholds, peers, pool) for stretch in scale.stretches
        ]
        made_up = [_begin_made_up(cut, scale.made_up, peers, pool) for cut in (_CHARACTERS, _WORDS)]
        save(
            "recall",
            RecallResults(
                run=run,
                thresholds=list(scale.thresholds),
                just_above=JUST_ABOVE,
                bin_width=BIN_WIDTH,
                curve_threshold=_CURVE_THRESHOLD,
                trials=[_trial(begun) for begun in trials],
                made_up=[_made_up(*begun) for begun in made_up],
                theory=plans.result(),
                left_out=[peer for peer in _PEERS if peer not in peers],
            ),
        )


def _arguments() -> Scale:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="one corpus at one threshold: a minute"
    )
    return _QUICK if parser.parse_args().quick else _FULL


def _is_installed(peer: str) -> bool:
    if peer == "text_dedup":
        return text_dedup.PYTHON.exists()
    return peer == "ours" or util.find_spec(peer) is not None


class Begun(NamedTuple):
    """A trial whose parts are under way."""

    stretch: Stretch
    thresholds: Sequence[float]
    documents: int
    truth: "Future[Truth]"
    answers: "Sequence[Future[list[Answer]]]"


def _begin_trial(
    stretch: Stretch,
    thresholds: Sequence[float],
    peers: Sequence[str],
    pool: ProcessPoolExecutor,
) -> Begun:
    groups = group_copies(_texts(stretch))
    question = Question(groups.texts, *stretch.cut, thresholds)
    truth = pool.submit(_truth, groups, stretch.cut, min(thresholds))
    answers = [pool.submit(_ask, peer, question) for peer in peers]
    return Begun(stretch, thresholds, len(groups.texts), truth, answers)


def _texts(stretch: Stretch) -> Iterator[str]:
    decoder = msgspec.json.Decoder(dict[str, object])
    with gzip.open(corpus(stretch.corpus)) as lines:
        for line in islice(lines, stretch.first, stretch.first + stretch.lines):
            yield str(decoder.decode(line)["text"])


def _truth(groups: Groups, cut: Cut, threshold: float) -> Truth:
    found = join_groups(groups, threshold, *cut)
    documents = len(groups.texts)
    return Truth(documents, found.a * documents + found.b, found.jaccard)


def _ask(peer: str, question: Question) -> list[Answer]:
    sys.stderr.write(f"{peer}: {len(question.texts):,} texts, {question.unit}-{question.size}\n")
    return list(import_module(f"benchmarks.recall.peers.{peer}").answers(question))


def _trial(begun: Begun) -> Trial:
    stretch, truth = begun.stretch, begun.truth.result()
    similar = [similar_pairs(truth, threshold) for threshold in begun.thresholds]
    answers = [answer for asked in begun.answers for answer in asked.result()]
    answers.sort(key=lambda answer: answer.name)
    return Trial(
        corpus=stretch.corpus,
        first=stretch.first,
        lines=stretch.lines,
        documents=begun.documents,
        shingles=str(stretch.cut),
        pairs=[pairs for pairs, _ in similar],
        pairs_just_above=[pairs for _, pairs in similar],
        bins=by_similarity(truth.jaccard),
        answers=[_judged(list(same), truth) for _, same in groupby(answers, lambda a: a.name)],
    )


def _judged(same: Sequence[Answer], truth: Truth) -> Answers:
    """Judge what a system answered to all thresholds."""
    scores, found = [], list[int]()
    for answer in same:
        returned = pair_numbers(answer.pairs, truth.documents)
        counts = count(returned, truth, answer.threshold)
        scores.append(Score(answer.threshold, answer.setting, *counts))
        if answer.threshold == _CURVE_THRESHOLD:
            found = by_similarity(truth.jaccard[is_found(returned, truth)])
    return Answers(same[0].name, same[0].note, scores, found)


def _begin_made_up(
    cut: Cut, per_bin: int, peers: Sequence[str], pool: ProcessPoolExecutor
) -> tuple[Cut, MadeUpPairs, "Sequence[Future[list[Answer]]]"]:
    pairs = made_up_pairs(*cut, per_bin, _CURVE_FROM, _SEED)
    question = Question(pairs.texts, *cut, (_CURVE_THRESHOLD,))
    return cut, pairs, [pool.submit(_ask, peer, question) for peer in peers]


def _made_up(cut: Cut, pairs: MadeUpPairs, asked: "Sequence[Future[list[Answer]]]") -> MadeUp:
    documents = len(pairs.texts)
    truth = Truth(documents, _numbers(pairs), pairs.jaccard)
    answers = sorted((answer for one in asked for answer in one.result()), key=lambda a: a.name)
    curves = []
    for answer in answers:
        found = is_found(pair_numbers(answer.pairs, documents), truth)
        curves.append(Curve(answer.name, answer.setting, by_similarity(pairs.jaccard[found])))
    return MadeUp(str(cut), by_similarity(pairs.jaccard), curves)


def _numbers(pairs: MadeUpPairs) -> Numbers:
    firsts = np.arange(0, len(pairs.texts), 2)
    return pair_numbers(np.stack([firsts, firsts + 1], axis=1), len(pairs.texts))


if __name__ == "__main__":
    main()
