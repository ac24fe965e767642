"""The part of RESULTS.md on what systems find and miss, with its pictures."""

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.recall.counts import interval
from benchmarks.recall.pictures import (
    EXACT,
    OURS,
    PAIRS_MIN,
    UNVERIFIED,
    by_similarity,
    by_threshold,
    over_theory,
)
from benchmarks.recall.records import Answers, Planned, RecallResults, Theory, Trial
from benchmarks.records import load
from benchmarks.writing import (
    bullets,
    filled,
    recall_and_precision,
    run_notes,
    share,
    table,
)

_INTRODUCTION = """\
The same texts in the same shingles, the same nominal threshold, each library as its documentation
has it. Recall is the share of all pairs at the threshold or above that a system returns; precision
is the share of what it returns that is there. The truth is the exact Jaccard similarity of the sets
of shingles, from the join in `tests/quality/brute_force.py`, which estimates nothing. Texts that
are the same once normalised are taken once: all systems find those.
"""

_DEFAULTS = """\
**What no band brings together no check can find.** In `{corpus}` there are {pairs:,} pairs just
above {threshold:g}, up to {most:g}. Of these the bands that datasketch chooses by default return
{datasketch} and those of rensa {rensa}; ours, which `plan` chooses for a recall at the threshold,
bring {unverified} together. The price is that only {precision} of all that they bring is similar,
which is why we always verify.
"""

_CHECKS = """\
**A check by estimate is as sharp as its estimate.** With {hashes} values one standard error at
{threshold:g} is {error:.3f}, and so of the same pairs our default, which verifies by signatures,
returns {signature}; gaoya, which checks so too, {gaoya} with bands that it calculates as `plan`
does; datasketch, checked, {checked}. `verify = "exact"` returns {exact} of them, and nothing below
the threshold. Texts of fewer shingles than a signature has values are compared exactly in any case,
which is why our default misses less in words.
"""

_UNCHECKED = """\
What is returned unchecked is the less precise the more documents there are; recall and what is
checked depend on the pairs alone.
"""

_TABLE = """\
Recall / precision by threshold, in {documents:,} texts: the different ones of {lines:,} lines of
`{corpus}` from line {first:,} on, in {shingles}. {pairs} pairs are at the thresholds or above.
"""

_JUST_ABOVE = """\
Recall of the pairs up to {width:g} above the threshold, in the first of these collections, and the
bands × rows that did it.
"""

_TEXT_DEDUP = """\
text-dedup wants older versions of libraries that we use, and so is called in an environment of its
own, which `make bench` makes. It splits texts into words itself and leaves out what has fewer than
five.
"""

_LEFT_OUT = "Not installed where this was measured, and left out: {names}.\n"

_BY_SIMILARITY = """\
At the nominal threshold {threshold:g}: the share of pairs found, by their exact similarity. The
first two panels have made-up pairs, {least} to {most} in each bin of {width:g}, in {shingles}
(text-dedup: {words}); the last has those of `{corpus}`, where families of texts weigh as much as
they have pairs.
"""

_PLANS = """\
Curves as theory has them for {hashes} functions and what `plan` chooses, and the measured share of
pairs that share a band: {pairs:,} made-up pairs in {shingles}, bars of 95 %. Of {bins} shares
{within} have theory within their bar, where {expected:.0f} are to be expected; together they lie
{deviation:.2f} standard errors from it (root of the mean square, 1 is chance).
"""

_EXPECTED_MIN = 5  # pairs that meet, and that do not, where deviations are nearly normal


def section() -> Iterable[str]:
    """Return the paragraphs."""
    results = load("recall", RecallResults)
    yield "## Recall and precision\n"
    yield filled(_INTRODUCTION)
    yield from _findings(results)
    yield "### At the threshold and above\n"
    yield filled(_UNCHECKED)
    for trial in results.trials:
        yield from _scores(results, trial)
    yield bullets(_notes(results.trials))
    yield from _absent(results)
    yield "![Recall by nominal threshold](recall_threshold.svg)\n"
    yield "### Just above the threshold\n"
    yield filled(_JUST_ABOVE, width=results.just_above)
    yield _just_above_table(results, results.trials[0])
    yield "### By similarity\n"
    yield _by_similarity(results)
    yield "![Share of pairs found, by exact similarity](recall_similarity.svg)\n"
    yield "### Plans\n"
    yield _plans(results.theory)
    yield "![Measured shares over the curves of theory](recall_plans.svg)\n"
    yield run_notes(results.run)


def pictures() -> dict[str, str]:
    """Return the pictures by the names of their files."""
    results = load("recall", RecallResults)
    return {
        "recall_threshold.svg": by_threshold(results),
        "recall_similarity.svg": by_similarity(results),
        "recall_plans.svg": over_theory(results.theory),
    }


def _findings(results: RecallResults) -> Iterator[str]:
    """Say what the first collection shows at one threshold."""
    trial, threshold = results.trials[0], results.curve_threshold
    place = results.thresholds.index(threshold)
    pairs = trial.pairs_just_above[place]
    scores = {answers.name: answers.scores[place] for answers in trial.answers}
    found = {name: _percent(score.found_just_above, pairs) for name, score in scores.items()}
    hashes = results.theory.hashes
    yield filled(
        _DEFAULTS,
        corpus=trial.corpus,
        pairs=pairs,
        threshold=threshold,
        most=threshold + results.just_above,
        datasketch=found["datasketch"],
        rensa=found["rensa"],
        unverified=found[UNVERIFIED],
        precision=_percent(scores[UNVERIFIED].found, scores[UNVERIFIED].returned),
    )
    yield filled(
        _CHECKS,
        hashes=hashes,
        threshold=threshold,
        error=(threshold * (1 - threshold) / hashes) ** 0.5,
        signature=found[OURS],
        gaoya=found["gaoya, calculated"],
        checked=found["datasketch, checked"],
        exact=found[EXACT],
    )


def _scores(results: RecallResults, trial: Trial) -> Iterator[str]:
    yield filled(
        _TABLE,
        documents=trial.documents,
        lines=trial.lines,
        corpus=trial.corpus,
        first=trial.first,
        shingles=trial.shingles,
        pairs=", ".join(f"{pairs:,}" for pairs in trial.pairs),
    )
    rows = [
        [answers.name, *map(recall_and_precision, answers.scores, trial.pairs)]
        for answers in _ours_first(trial.answers)
    ]
    yield table([trial.shingles, *(f"{threshold:g}" for threshold in results.thresholds)], rows)


def _just_above_table(results: RecallResults, trial: Trial) -> str:
    rows = []
    for answers in _ours_first(trial.answers):
        cells = [
            f"{share(score.found_just_above, pairs)} ({score.setting})"
            for score, pairs in zip(answers.scores, trial.pairs_just_above, strict=True)
        ]
        rows.append([answers.name, *cells])
    return table([trial.shingles, *(f"{threshold:g}" for threshold in results.thresholds)], rows)


def _ours_first(answers: Sequence[Answers]) -> list[Answers]:
    return sorted(answers, key=lambda one: (not one.name.startswith(OURS), one.name))


def _notes(trials: Sequence[Trial]) -> Iterable[str]:
    answers = _ours_first([answers for trial in trials for answers in trial.answers])
    return dict.fromkeys(f"{one.name}: {one.note}" for one in answers)


def _absent(results: RecallResults) -> Iterator[str]:
    yield filled(_TEXT_DEDUP)
    if results.left_out:
        yield filled(_LEFT_OUT, names=", ".join(results.left_out))


def _percent(part: int, whole: int) -> str:
    return f"{part * 1000 // whole / 10:.1f}%"


def _by_similarity(results: RecallResults) -> str:
    characters, words = results.made_up
    full = [pairs for pairs in characters.bins if pairs >= PAIRS_MIN]
    return filled(
        _BY_SIMILARITY,
        threshold=results.curve_threshold,
        least=min(full),
        most=max(full),
        width=results.bin_width,
        shingles=characters.shingles,
        words=words.shingles,
        corpus=results.trials[0].corpus,
    )


def _plans(theory: Theory) -> str:
    shares = [share for plan in theory.plans for share in _shares(plan, theory.bins)]
    within = 0
    for found, pairs, expected in shares:
        low, high = interval(found, pairs)
        within += low <= expected / pairs <= high
    squares = [
        (found - expected) ** 2 / (expected * (1 - expected / pairs))
        for found, pairs, expected in shares
    ]
    return filled(
        _PLANS,
        hashes=theory.hashes,
        pairs=sum(theory.bins),
        shingles=theory.shingles,
        bins=len(shares),
        within=within,
        expected=0.95 * len(shares),
        deviation=(sum(squares) / len(squares)) ** 0.5,
    )


def _shares(plan: Planned, bins: Sequence[int]) -> Iterator[tuple[int, int, float]]:
    """Yield what was found, of how many, and what theory expects, where that is not all or none."""
    for found, pairs, expected in zip(plan.found, bins, plan.expected, strict=True):
        if min(expected, pairs - expected) >= _EXPECTED_MIN:
            yield found, pairs, expected
