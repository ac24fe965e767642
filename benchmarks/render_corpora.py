"""The part of RESULTS.md on public corpora: how good the answers are, by corpus and by script."""

from collections.abc import Iterable

from benchmarks import render_limits, render_presets, render_small
from benchmarks.corpora.records import Check, CorporaResults, Scored
from benchmarks.records import load
from benchmarks.writing import filled, run_notes, share, table

_INTRODUCTION = """\
Ours alone, with default settings unless said otherwise: char-5, threshold {threshold:g}, 21 bands
of 6 rows, verified by signatures. The truth is exact Jaccard similarity, as above, or what people
say. Counts depend on no clock; who repeats this gets the same. Shares are rounded down, so that
1.000 is all.
"""

_CORPORA = """\
Recall / precision of pairs of different texts at {threshold:g} or above, by verification. `off` is
what shares a band, and no setting of ours: the next column tells how much of it is right.
`expected` is the recall that theory gives the default on the same pairs; those of one family of
texts are found or missed together, so that a few hundredths either way are chance. Languages are
those of `debian_desc_multi`; its titles and those of `biblio_dedup` are a collection of their own.
"""

_WRONG = """\
**What the default reports wrongly is nearly right**: half of it has an exact similarity of
{wrong:.2f} or more, in the collection with most of it. **Without verification** most of what is
reported is wrong: of {pairs:,} pairs, {right}. Verification looks at those whose signatures are
within reach of the threshold, {compared} of them, and costs what the table of
[steps](#step-by-step) shows as `meet and compare`.
"""


def section() -> Iterable[str]:
    """Return the paragraphs."""
    results = load("corpora", CorporaResults)
    yield "## Quality on public corpora\n"
    yield filled(_INTRODUCTION, threshold=results.threshold)
    yield from _by_corpus(results)
    yield from render_small.paragraphs(results)
    yield from render_presets.paragraphs(results)
    yield from render_limits.paragraphs(results)
    yield run_notes(results.run)


def _by_corpus(results: CorporaResults) -> Iterable[str]:
    yield "### By corpus and script\n"
    yield filled(_CORPORA, threshold=results.threshold)
    header = ["collection", "documents", "pairs", "off", "signatures", "expected", "exact"]
    yield table(header, map(_row, results.scored))
    whole = [scored for scored in results.scored if "," not in scored.name]
    worst = max(whole, key=lambda scored: _wrong(_checks(scored)["signature"]))
    off = [_checks(scored)["none"] for scored in whole]
    reported = sum(check.reported for check in off)
    yield filled(
        _WRONG,
        wrong=worst.wrong_similarity,
        pairs=reported,
        right=f"{sum(check.right for check in off) / reported:.0%}",
        compared=f"{sum(scored.compared for scored in whole) / reported:.0%}",
    )


def _row(scored: Scored) -> list[str]:
    checks = _checks(scored)
    return [
        scored.name.replace("debian_desc_multi, ", "— ").replace("titles, ", "— "),
        f"{scored.documents:,}",
        f"{scored.pairs:,}",
        _recall_and_precision(checks["none"], scored.pairs),
        _recall_and_precision(checks["signature"], scored.pairs),
        share(checks["signature"].expected, scored.pairs),
        _recall_and_precision(checks["exact"], scored.pairs),
    ]


def _checks(scored: Scored) -> dict[str, Check]:
    return {check.verify: check for check in scored.checks}


def _recall_and_precision(check: Check, pairs: int) -> str:
    return f"{share(check.right, pairs)} / {share(check.right, check.reported)}"


def _wrong(check: Check) -> int:
    return check.reported - check.right
