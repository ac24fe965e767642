"""RESULTS.md from results/*.json: ratios first, as the times belong to one machine."""

from pathlib import Path

from benchmarks import (
    render_corpora,
    render_engine,
    render_growth,
    render_memory,
    render_pairs,
    render_recall,
    render_repeat,
    render_service,
    render_sign,
    render_summary,
)
from benchmarks.writing import filled

FOLDER = Path(__file__).parent

_INTRODUCTION = """\
Made by `make bench` from `benchmarks/results/*.json`; not edited by hand. The ratios are what
counts: the times belong to one machine. All contestants take turns in each round, a ratio is taken
within a round, and a cell shows the median, smallest and largest of the rounds: 13.1 (12–14). How
to repeat it stands [at the end](#how-to-repeat-it).
"""

_SECTIONS = (
    render_summary,
    render_sign,
    render_engine,
    render_pairs,
    render_memory,
    render_recall,
    render_corpora,
    render_growth,
    render_service,
    render_repeat,
)


def main() -> None:
    """Write the page and its pictures."""
    for name, content in render().items():
        (FOLDER / name).write_text(content, encoding="utf-8")


def render() -> dict[str, str]:
    """Return the page and its pictures by the names of their files."""
    parts = ["# Measurements\n", filled(_INTRODUCTION)]
    parts += [part for section in _SECTIONS for part in section.section()]
    pictures = render_growth.pictures() | render_recall.pictures() | render_service.pictures()
    return {"RESULTS.md": "\n".join(parts), **pictures}


if __name__ == "__main__":
    main()
