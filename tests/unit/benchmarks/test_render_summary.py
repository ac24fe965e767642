"""The first table of the page: each library as fast as it was measured, and no faster."""

import json
from statistics import median

from benchmarks import render_summary
from benchmarks.records import COMMITTED
from benchmarks.writing import digits


def _rows() -> dict[str, list[str]]:
    """Return the cells of each row by its first."""
    lines = "\n".join(render_summary.section()).splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return {first: rest for first, *rest in rows}


def test_a_library_stands_there_in_its_fastest_form() -> None:
    """Of several ways to use it the fastest counts, in the median of the rounds."""
    mix = json.loads((COMMITTED / "sign.json").read_text())["peers"][0]
    ours, *others = (timing["microseconds"] for timing in mix["timings"])
    names = [timing["name"] for timing in mix["timings"][1:]]
    times = [median(one / our for one, our in zip(values, ours, strict=True)) for values in others]
    for library in ("rensa", "gaoya", "datasketch"):
        forms = [time for name, time in zip(names, times, strict=True) if name.startswith(library)]
        assert _rows()[library][0] == f"**{digits(min(forms))}**", library


def test_answers_are_those_at_the_nominal_threshold() -> None:
    """Recall and precision are of the library as documented, where it was asked first."""
    trial = json.loads((COMMITTED / "recall.json").read_text())["trials"][0]
    answers = next(one for one in trial["answers"] if one["name"] == "datasketch")
    score = next(one for one in answers["scores"] if one["threshold"] == 0.8)
    pairs = trial["pairs"][[one["threshold"] for one in answers["scores"]].index(0.8)]

    recall, precision = (
        float(share) for share in _rows()["datasketch"][4].replace(" ", "").split("/")
    )

    assert 0 <= score["found"] / pairs - recall < 0.001
    assert 0 <= score["found"] / score["returned"] - precision < 0.001


def test_what_was_not_measured_is_not_made_up() -> None:
    """A library that took no part in a measurement has a dash there, ours is the measure."""
    rows = _rows()

    assert rows["stream_dedup"][:3] == ["1", "1", "1"]
    assert rows["text-dedup"][:2] == ["–", "–"]
