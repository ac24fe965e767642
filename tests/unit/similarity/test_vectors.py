"""What the compiler is told of vectors."""

from typing import Any

import numba

from stream_dedup.similarity.vectors import in_wide_vectors


def test_a_kernel_asks_for_wide_vectors() -> None:
    """The compiler is told how wide, in words that it knows; it would not say if it did not."""

    def double(number: int) -> int:
        in_wide_vectors()
        return 2 * number

    doubled: Any = numba.njit(double)

    assert doubled(21) == 42
    (code,) = doubled.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in code
