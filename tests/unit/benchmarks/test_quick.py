"""The quick form of `make bench`: what was measured here beside what is committed."""

from benchmarks import quick
from benchmarks.quick import compared, told
from benchmarks.records import COMMITTED


def test_a_ratio_is_as_committed_within_a_quarter() -> None:
    """A quarter either way is as committed, more is not; what is not committed is left out."""
    committed = {"sign": 10.0, "pairs": 2.0, "recall": 0.8}
    ratios = compared(committed, {"sign": 12.5, "pairs": 1.4, "recall": 0.8, "new": 1.0})

    assert [ratio.name for ratio in ratios] == ["sign", "pairs", "recall"]
    assert [ratio.is_near for ratio in ratios] == [True, False, True]


def test_the_table_says_which_ratios_lie_outside() -> None:
    """Each row has both ratios; one outside is marked, and counted in words."""
    page = told(compared({"sign": 10.0, "pairs": 2.0}, {"sign": 11.0, "pairs": 1.4}))

    assert "sign        10.0    11.0\n" in page
    assert "pairs       2.00    1.40  -30%\n" in page
    assert "1 of 2 lie within ±25% of the committed. A machine that others use" in page


def test_the_committed_results_have_all_that_is_compared() -> None:
    """Signing, the whole way, pairs and recall, of every library that has them."""
    names = list(quick.ratios(COMMITTED))

    for kind in ("sign, char-5", "sign, look up, insert, cores 2", "pairs", "recall at 0.8"):
        systems = [name.partition(": ")[2] for name in names if name.startswith(f"{kind}: ")]
        assert {"rensa", "gaoya", "datasketch"} <= set(systems), kind
