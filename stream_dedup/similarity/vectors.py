"""Vectors as wide as the processor has them.

Left to itself the compiler takes vectors of half the width on those processors of Intel that once
grew slower with wide ones; to hash the characters of a text then takes a third longer.
"""

from collections.abc import Callable
from typing import Any, cast

from numba.core import types
from numba.extending import intrinsic


def _in_wide_vectors(_: Any) -> Any:
    """Tell numba the type of a call, and what writes its code."""
    return types.none(), _mark


def _mark(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
    """Write no code, but an attribute: it holds for the function and what becomes part of it.

    It is a pair of strings. numba's own list of attributes has no such, but writes out what is in.
    """
    set.add(builder.function.attributes, '"prefer-vector-width"="512"')
    return context.get_dummy_value()


# To be called first in a kernel whose loops are to run so.
in_wide_vectors = cast(Callable[[], None], intrinsic(_in_wide_vectors))
