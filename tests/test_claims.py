"""What the documents claim of speed and quality stands in RESULTS.md, where they say it does."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    "README.md",
    "ARCHITECTURE.md",
    "UPGRADING.md",
    "deploy/README.md",
    "deploy/RUNBOOK.md",
]
RESULTS = "benchmarks/RESULTS.md"

# A figure that was measured: the unit of a rate, of a time, of a size on disk, or of recall.
CLAIM = re.compile(
    r"([\d.,]*\d) (?:µs|ms\b|(?:documents|records) a second|bytes a document|of the pairs)"
    r"|([\d.,]*\d) times as (?:fast|long)"
)
LINK = re.compile(r"RESULTS\.md#([\w-]+)\)")
BLOCK = re.compile(r"\n\s*\n|\n(?=- |\| )")
NEAR = 0.1


def claims(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each block that claims something, its figures, and the sections that it points to."""
    for block in BLOCK.split(re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)):
        if figures := [found[1] or found[2] for found in CLAIM.finditer(block)]:
            yield block, figures, LINK.findall(block)


def sections() -> dict[str, str]:
    """Return the sections of the page by the anchors of their headings, with what is below them."""
    parts = re.split(r"^(#+) (.+)$", (ROOT / RESULTS).read_text(encoding="utf-8"), flags=re.M)[1:]
    found: dict[str, str] = {}
    open_ones: list[tuple[int, str]] = []
    for marks, heading, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        open_ones = [one for one in open_ones if one[0] < len(marks)] + [(len(marks), anchor)]
        for _, name in open_ones:
            found[name] = found.get(name, "") + text
    return found


def numbers(text: str) -> list[float]:
    """Return all numbers of a text."""
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def not_in(figures: list[str], text: str) -> list[str]:
    """Find figures that no number of a text is near to."""
    measured = numbers(text)
    return [
        figure
        for figure in figures
        if not any(abs(number - numbers(figure)[0]) <= NEAR * number for number in measured)
    ]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_claim_points_to_its_measurement(name: str) -> None:
    """Who reads a figure of speed or quality finds the section of RESULTS.md that has it."""
    known = sections()
    for block, figures, links in claims((ROOT / name).read_text(encoding="utf-8")):
        assert links, f"{name} claims without a link to a section of {RESULTS}: {block}"
        assert set(links) <= set(known), f"{name} points to a section that is not there: {block}"
        wrong = not_in(figures, "".join(known[link] for link in links))
        assert wrong == [], f"{name} says what was not measured: {wrong} in {block}"


@pytest.mark.parametrize("name", [*DOCUMENTS, RESULTS])
def test_a_link_to_a_section_leads_there(name: str) -> None:
    """Every link into RESULTS.md, its own among them, names a section that exists."""
    text = (ROOT / name).read_text(encoding="utf-8")
    links = LINK.findall(text)
    if name == RESULTS:
        links += re.findall(r"\]\(#([\w-]+)\)", text)

    assert [link for link in links if link not in sections()] == []


def test_claims_are_seen() -> None:
    """A figure without a link, a link that leads nowhere and a wrong figure are told apart."""
    text = (
        "One line.\n\n- takes 20 µs\n- 9,000 documents a second ([RESULTS.md](a/RESULTS.md#b-c))\n"
    )

    assert [(figures, links) for _, figures, links in claims(text)] == [
        (["20"], []),
        (["9,000"], ["b-c"]),
    ]
    assert not_in(["9,000", "20"], "of 9,400.5 and 23") == ["20"]
    assert "summary" in sections()
    assert {name for name in DOCUMENTS if any(claims((ROOT / name).read_text()))} >= {"README.md"}
