"""Memory asked for before it is needed.

A row of a table that is larger than the processor's caches is waited for as long as a hundred
instructions take; who knows the next rows can have several of them on their way.
"""

from collections.abc import Callable
from typing import Any, cast

from numba.core import cgutils, types
from numba.extending import intrinsic

_TO_READ, _INTO_ALL_CACHES, _DATA = 0, 3, 1


def _fetch_ahead(_: Any, table: Any, _row: Any) -> Any:
    """Tell numba the type of a call, and what writes its code."""
    return types.none(table, types.int64), _ask


def _ask(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instruction with which processors are asked, for the first item of a row."""
    kind, number = signature.args[0], cgutils.int32_t
    table = context.make_array(kind)(context, builder, arguments[0])
    place = [arguments[1], *[cgutils.intp_t(0)] * (kind.ndim - 1)]
    item = cgutils.get_item_pointer(context, builder, kind, table, place)
    code = vars(cgutils)["ir"]  # of llvmlite, which comes with numba
    type_of_asking = code.FunctionType(code.VoidType(), [cgutils.voidptr_t, number, number, number])
    asking = cgutils.get_or_insert_function(builder.module, type_of_asking, "llvm.prefetch.p0i8")
    how = [number(choice) for choice in (_TO_READ, _INTO_ALL_CACHES, _DATA)]
    builder.call(asking, [builder.bitcast(item, cgutils.voidptr_t), *how])
    return context.get_dummy_value()


# To be called in a kernel, with a table and the number of one of its rows.
fetch_ahead = cast(Callable[[Any, Any], None], intrinsic(_fetch_ahead))
