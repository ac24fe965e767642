"""The quick form of `make bench`: what was measured here beside what is committed."""

import os
import subprocess
import sys

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


def test_without_corpora_it_says_so_before_any_work() -> None:
    """The line on stderr names what is to be set; nothing was measured."""
    environment = {name: value for name, value in os.environ.items() if "CORPORA" not in name}
    command = [sys.executable, "-m", "benchmarks.quick"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "error: set STREAM_DEDUP_CORPORA to the directory of the corpora\n"
