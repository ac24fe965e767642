from benchmarks import render


def test_the_page_says_what_the_results_say() -> None:
    """RESULTS.md is what `make bench` makes of the committed results, and nothing else."""
    assert render.render() == render.PAGE.read_text(encoding="utf-8")
