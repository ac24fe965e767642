"""What the processor is asked for ahead."""

from typing import Any

import numba
import numpy as np

from stream_dedup.similarity.fetching import fetch_ahead


def test_a_kernel_asks_for_a_row_and_changes_nothing() -> None:
    """The instruction is there, for tables of any shape, and the last row may be asked for."""

    def total(table: Any) -> int:
        found = 0
        for row in range(len(table)):
            fetch_ahead(table, min(row + 1, len(table) - 1))
            found += np.sum(table[row : row + 1])
        return found

    summed: Any = numba.njit(total)

    for shape in ((7,), (7, 4), (7, 2, 3)):
        table = np.arange(np.prod(shape)).reshape(shape)
        assert summed(table) == table.sum()
    assert all("llvm.prefetch" in code for code in summed.inspect_llvm().values())
