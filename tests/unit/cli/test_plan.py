"""`stream-dedup plan`: what it prints for people and machines, and what it refuses."""

import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stream_dedup.cli import main


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Twenty texts, of which two are alike, and a line that is none."""
    digests = [
        [hashlib.md5(b"%d %d" % (n, i)).hexdigest()[:6] for i in range(40)] for n in range(19)
    ]
    texts = [" ".join(words) for words in digests]
    lines = [json.dumps({"id": str(n), "text": text}) for n, text in enumerate([*texts, texts[7]])]
    path = tmp_path / "sample.jsonl"
    path.write_text("\n".join([*lines[:3], "no document", "", *lines[3:]]))
    return path


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["plan", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_defaults_print_the_plan_and_its_curve(capsys: pytest.CaptureFixture[str]) -> None:
    """The layout, the recall, both estimates, the costs and the curve at .05 steps are printed."""
    assert main(["plan"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("21 bands of 6 rows, from 128 hashes")
    facts = {line[:24].strip(): line[24:].split()[0] for line in lines[2:9]}
    assert facts["recall at the threshold"] == "0.99831"
    assert facts["half point"] == "0.565"
    assert facts["estimated"] == "0.602"
    assert lines[-22].split() == ["similarity", "found", "missed", "e^(-b*s^r)"]
    assert [line.split()[0] for line in lines[-21:]] == [f"{step / 20:.2f}" for step in range(21)]
    assert lines[-5].split() == ["0.80", "0.99831", "0.00169", "0.00407"]


def test_a_pipe_gets_plain_aligned_text(capsys: pytest.CaptureFixture[str]) -> None:
    """No colour, no frame, no folding and no trailing space disturbs another program."""
    main(["plan", "--documents", "123456789", "--threshold", "0.31"])

    printed = capsys.readouterr().out
    assert printed.isascii()
    assert "\x1b" not in printed
    assert all(line == line.rstrip() for line in printed.splitlines())
    assert len({line.index(".") for line in printed.splitlines()[-21:]}) == 1


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who watches sees the curve."""
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)

    main(["plan"])

    assert "█" * 29 in terminal.getvalue()


def test_known_answers_for_given_bands_and_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """20 bands of 5 rows: 0.99964 at 0.8, 0.0475 at 0.3."""
    report = _json(capsys, "--bands", "20", "--rows", "5")

    found = {point["similarity"]: point["found"] for point in report["curve"]}
    assert (report["bands"], report["rows"]) == (20, 5)
    assert round(report["recall"], 5) == 0.99964
    assert round(found[0.3], 4) == 0.0475
    assert len(report["curve"]) == 21


def test_json_counts_bytes_for_the_documents_given(capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes per document are the sum of the keyspaces', and in all that times the documents."""
    report = _json(capsys, "--documents", "12345")

    sizes = report["bytes_per_document"]
    assert sizes["total"] == sum(sizes[name] for name in ("buckets", "texts", "exact", "ids"))
    assert report["bytes_in_all"] == sizes["total"] * 12345
    assert report["candidates"]["documents"] == 12345
    assert report["recommendation"] is None


def test_cosine_plans_speak_of_cosines(capsys: pytest.CaptureFixture[str]) -> None:
    """With --measure cosine the curve is over cosines: half of it lies at the half point."""
    report = _json(capsys, "--measure", "cosine", "--threshold", "0.9", "--hashes", "256")

    below = [p["found"] for p in report["curve"] if p["similarity"] < report["half_point"]]
    above = [p["found"] for p in report["curve"] if p["similarity"] > report["half_point"]]
    assert max(below) < 0.5 < min(above)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--threshold", "0.1", "--hashes", "16"], "44 hashes, or a threshold of 0.26"),
        (["--measure", "cosine", "--documents", "1000000"], "1,000 is the limit"),
        (["--bands", "20"], "give both or neither"),
        (["--bands", "0", "--rows", "0"], "--bands"),
        (["--bands", "20", "--rows", "7"], "140 hashes"),
        (["--threshold", "1.5"], "--threshold"),
        (["--recall", "1"], "--recall"),
        (["--measure", "hamming"], "hamming"),
        (["--sample", "/does/not/exist"], "cannot read /does/not/exist"),
        (["--plot", "/does/not/exist.svg"], "cannot write /does/not/exist.svg: No such file"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_way_out(
    capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    """What cannot be done is said in a line on stderr, and nothing is printed."""
    assert main(["plan", *arguments]) == 2

    printed = capsys.readouterr()
    assert reason in printed.err
    assert printed.out == ""


def test_sample_gives_shingles_and_candidates(
    capsys: pytest.CaptureFixture[str], sample: Path
) -> None:
    """The candidates are those of the sample's own similarities; one pair of 190 is a duplicate."""
    report = _json(capsys, "--sample", str(sample), "--documents", "1900")

    candidates = report["candidates"]
    assert (candidates["pairs"], candidates["shingles"]) == (190, "char 5")
    assert candidates["duplicates"] == pytest.approx(10)
    assert 10 <= candidates["per_lookup"] < 11
    assert (report["recommendation"]["unit"], report["recommendation"]["size"]) == ("char", 5)
    assert report["words_changeable"] > 0


def test_sample_can_be_compared_in_shingles_given(
    capsys: pytest.CaptureFixture[str], sample: Path
) -> None:
    """--unit and --size take the place of the recommended shingles, which are printed still."""
    report = _json(capsys, "--sample", str(sample), "--unit", "word", "--size", "2")

    assert report["candidates"]["shingles"] == "word 2"
    assert report["recommendation"]["unit"] == "char"


def test_settings_that_are_in_use_are_planned_for(
    capsys: pytest.CaptureFixture[str], sample: Path, tmp_path: Path
) -> None:
    """A settings file speaks where no option does, on bands, shingles and threshold."""
    config = tmp_path / "settings.toml"
    config.write_text("[similarity]\nthreshold = 0.7\nbands = 18\nrows = 7\nsize = 9\n")

    given = ("--config", str(config), "--threshold", "0.9", "--sample", str(sample))
    report = _json(capsys, *given)

    assert (report["threshold"], report["bands"], report["rows"]) == (0.9, 18, 7)
    assert report["candidates"]["shingles"] == "char 9"


def test_sample_is_shown_to_people_too(capsys: pytest.CaptureFixture[str], sample: Path) -> None:
    """The recommendation stands among the figures."""
    assert main(["plan", "--sample", str(sample)]) == 0

    printed = capsys.readouterr()
    assert "recommended shingles" in printed.out
    assert "like the sample; pairs compared in char 5: 190" in printed.out


def test_lines_of_a_sample_that_are_no_documents_are_named_and_left_out(
    capsys: pytest.CaptureFixture[str], sample: Path
) -> None:
    """File, line number and reason go to stderr; the other lines count."""
    assert main(["plan", "--json", "--sample", str(sample)]) == 0

    printed = capsys.readouterr()
    assert f"skipped {sample}:4: " in printed.err
    assert "lines skipped: 1" in printed.err
    assert json.loads(printed.out)["recommendation"]["documents"] == 20


def test_sample_reads_the_fields_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """--text-field reads other fields; none of them in any line is an error that says so."""
    path = tmp_path / "posts.jsonl"
    path.write_text('{"body": "one text of some words"}\n{"body": "another text of other words"}\n')

    assert main(["plan", "--sample", str(path), "--text-field", "body"]) == 0
    assert main(["plan", "--sample", str(path)]) == 2

    assert "line 1: no text: text missing" in capsys.readouterr().err


def test_plot_draws_the_plan_and_the_sample(tmp_path: Path, sample: Path) -> None:
    """--plot writes an SVG of the curve, with the sample's similarities below."""
    path = tmp_path / "curve.svg"

    assert main(["plan", "--plot", str(path), "--sample", str(sample)]) == 0

    svg = path.read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "190 pairs of the sample" in svg


def test_help_shows_an_example_without_loading_what_computes() -> None:
    """--help answers at once: neither numpy nor numba is imported for it."""
    program = (
        "import sys; from stream_dedup.cli import main; main(['plan', '--help']); "
        "print([name for name in ('numpy', 'numba') if name in sys.modules])"
    )

    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert "stream-dedup plan --threshold 0.8 --recall 0.99" in finished.stdout
    assert finished.stdout.splitlines()[-1] == "[]"
