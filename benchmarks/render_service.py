"""The part of RESULTS.md on the service on Kafka."""

from collections.abc import Iterable, Sequence
from math import ceil

from benchmarks.curves import Axis, Curve, Panel, curves_chart
from benchmarks.drawing import step
from benchmarks.records import QUANTILES, Delay, ServiceResults, load
from benchmarks.writing import filled, number, ratio, run_notes, table

_SERVICE = """\
Kafka runs on the same cores, from its own jars. The yardstick is a bare copy: it reads records and
writes the same bytes in transactions, {batch:,} at a time, which of four sizes suits it best, and
does no work. Documents have 3,500 characters, in a topic of one partition; the service runs both
roles in one process and answers each (`emit = "all"`).
"""

_WORDS = """\
Of {documents:,} documents that wait it answers {rate} a second, from the first answer on, where the
bare copy takes {copies}: {share} of its rate, in {rounds} rounds in which both took turns.

An index that is lost is made anew from a log of {signed:,} documents at {restored:,.0f} a second,
start included: **{restored_share:.2f}** of the {matched:,.0f} a second at which the same documents
are matched out of memory, where nothing is read or decoded.
"""

_DELAYS = """\
From writing a document until its verdict can be read, with documents that come at a steady rate;
beside it two bare copies, one after the other, which is the least a log between two roles costs.
"""

_QUESTIONS = """\
A question at `/v1/query` about a text of that length, over a connection of its own, while {rate}
documents a second stream in: median {median:.1f} ms, 99 in 100 within **{worst:.1f}** ms
({asked} asked).
"""


def section() -> Iterable[str]:
    """Return the paragraphs."""
    results = load("service", ServiceResults)
    yield "## The service on Kafka\n"
    yield filled(_SERVICE, batch=results.batch)
    yield filled(
        _WORDS,
        documents=results.documents,
        rate=number(results.documents_per_second),
        copies=number(results.copies_per_second),
        share=ratio(results.documents_per_second, results.copies_per_second),
        rounds=len(results.copies_per_second),
        signed=results.signed,
        restored=results.restored_per_second,
        matched=results.matched_per_second,
        restored_share=results.restored_per_second / results.matched_per_second,
    )
    yield filled(_DELAYS)
    yield _delays(results.delays)
    yield "![Share of documents answered, by milliseconds waited](latency.svg)\n"
    questions = results.questions
    yield filled(
        _QUESTIONS,
        rate=questions.rate,
        asked=questions.asked,
        median=questions.median,
        worst=questions.worst_99,
    )
    yield run_notes(results.run)


def pictures() -> dict[str, str]:
    """Return the pictures by the names of their files."""
    delays = load("service", ServiceResults).delays
    longest = max(max(delay.service[-1], delay.bare[-1]) for delay in delays)
    every = step(longest)
    axis = Axis("milliseconds since it was written", 0, every * ceil(longest / every), every)
    panels = [
        Panel(
            f"{delay.rate:,} documents a second",
            [
                Curve("service", 0, list(zip(delay.service, QUANTILES, strict=True))),
                Curve("two bare copies", 1, list(zip(delay.bare, QUANTILES, strict=True))),
            ],
        )
        for delay in delays
    ]
    title = "Share of documents whose verdict can be read"
    return {"latency.svg": curves_chart(title, axis, panels)}


def _delays(delays: Sequence[Delay]) -> str:
    header = [
        "documents a second",
        "ms, median",
        "ms, 99 in 100 within",
        "bare: median",
        "bare: 99 in 100",
        "times bare, 99 in 100",
    ]
    rows = [
        [
            f"{delay.rate:,}",
            *(f"{of:.0f}" for of in (delay.median, delay.worst_99)),
            *(f"{of:.0f}" for of in (delay.bare_median, delay.bare_99)),
            f"**{delay.worst_99 / delay.bare_99:.2f}**",
        ]
        for delay in delays
    ]
    return table(header, rows)
