"""The section on what is found and missed, as it follows from a small record."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks import records, render_recall
from benchmarks.recall.records import (
    Answers,
    Curve,
    MadeUp,
    Planned,
    RecallResults,
    Score,
    Theory,
    Trial,
)
from benchmarks.records import Machine, Run

MACHINE = Machine("a processor", 2, 8, "Linux", "CPython", "built", {"stream_dedup": "1"})
# Pairs of the record: 40 at 0.7 or above, 20 at 0.8 or above; 10 and 8 of them just above.
PAIRS, JUST_ABOVE = [40, 20], [10, 8]
BINS = [0] * 35 + [20] * 10 + [40] * 5


def _answers(name: str, returned: int, found: int, just_above: int) -> Answers:
    scores = [
        Score(0.7, "16 × 8", 60, 30, 9),
        Score(0.8, "9 × 13", returned, found, just_above),
    ]
    return Answers(name, f"how {name} is called", scores, [0] * 35 + [10] * 15)


ANSWERS = [
    _answers("datasketch", 16, 12, 4),
    _answers("datasketch, checked", 12, 11, 3),
    _answers("gaoya, calculated", 20, 15, 6),
    _answers("rensa", 12, 10, 2),
    _answers("simhash", 0, 0, 0),
    _answers("stream_dedup", 18, 16, 5),
    _answers("stream_dedup, exact", 20, 20, 8),
    _answers("stream_dedup, unverified", 80, 20, 8),
]
SMALL = RecallResults(
    run=Run("2026-01-31", "python -m benchmarks.recall", 0.5, MACHINE),
    thresholds=[0.7, 0.8],
    just_above=0.05,
    bin_width=0.02,
    curve_threshold=0.8,
    trials=[Trial("a_corpus", 100, 50, 48, "char-5", PAIRS, JUST_ABOVE, BINS, ANSWERS)],
    made_up=[
        MadeUp(
            "char-5",
            [0] * 15 + [30] * 35,
            [Curve(answers.name, "9 × 13", [0] * 15 + [3] * 35) for answers in ANSWERS],
        ),
        MadeUp("word-3", [0] * 15 + [30] * 35, [Curve("text-dedup", "9 × 9", [0] * 15 + [6] * 35)]),
    ],
    theory=Theory(
        "char-5",
        128,
        [100] * 50,
        [0.01 + 0.02 * place for place in range(50)],
        [Planned(0.8, 21, 6, [50] * 49 + [80], [50.0] * 50)],
    ),
    left_out=[],
)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the record where results are read."""
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    records.save("recall", SMALL)


def _section() -> str:
    return " ".join("\n".join(render_recall.section()).split())


@pytest.mark.usefixtures("results")
def test_shares_are_those_of_the_record() -> None:
    """Recall is what was found of all pairs, precision what was found of all that was returned."""
    page = _section()

    assert "| datasketch | 0.750 / 0.500 | 0.600 / 0.750 |" in page
    assert "| simhash | 0.750 / 0.500 | 0.000 / – |" in page
    assert "| rensa | 0.900 (16 × 8) | 0.250 (9 × 13) |" in page
    assert "there are 8 pairs just above 0.8, up to 0.85" in page
    assert "datasketch chooses by default return 50.0% and those of rensa 25.0%" in page
    assert "bring 100.0% together. The price is that only 25.0% of all" in page


@pytest.mark.usefixtures("results")
def test_ours_come_first_and_every_way_of_use_is_named() -> None:
    """Rows begin with ours; each has its note once."""
    page = _section()

    assert page.index("| stream_dedup |") < page.index("| datasketch |")
    assert [page.count(f"- {one.name}: how {one.name} is called") for one in ANSWERS] == [1] * 8


@pytest.mark.usefixtures("results")
def test_theory_is_judged_bin_by_bin() -> None:
    """Of 50 shares 49 are what is expected, and one is six standard errors away."""
    page = _section()

    assert "Of 50 shares 49 have theory within their bar, where 48 are to be expected" in page
    assert "together they lie 0.85 standard errors from it" in page


@pytest.mark.usefixtures("results")
def test_who_is_left_out_is_said() -> None:
    """A system that was not installed is named, and only then."""
    assert "left out:" not in _section()

    records.save("recall", replace(SMALL, left_out=["text_dedup"]))

    assert "left out: text_dedup." in _section()


def test_a_share_short_of_all_never_reads_as_all(
    results: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """9,999 of 10,000 is 0.999."""
    nearly = [Score(0.7, "1 × 1", 9_999, 9_999, 9), Score(0.8, "1 × 1", 19, 19, 7)]
    trial = replace(
        SMALL.trials[0],
        pairs=[10_000, 20],
        answers=[*ANSWERS[:-2], Answers("stream_dedup, exact", "", nearly, BINS), ANSWERS[-1]],
    )
    records.save("recall", replace(SMALL, trials=[trial]))

    assert "| stream_dedup, exact | 0.999 / 1.000 | 0.950 / 1.000 |" in _section()


@pytest.mark.usefixtures("results")
def test_pictures_are_drawn_and_shown() -> None:
    """Each picture is well formed, and the section has a link to it."""
    pictures = render_recall.pictures()

    for content in pictures.values():
        ET.fromstring(content)
    assert set(re.findall(r"\]\((\w+\.svg)\)", _section())) == set(pictures)
    assert "text-dedup" in pictures["recall_similarity.svg"]
