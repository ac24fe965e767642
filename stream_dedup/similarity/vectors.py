"""The innermost loop of signing, in vectors as wide as the processor has them.

Left to itself the compiler takes vectors of half the width on those processors of Intel that once
grew slower with wide ones; the loop then takes half as long again.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from stream_dedup.similarity.compiled import Array

LANES = 64  # several vectors of any processor: they do not wait for each other

_NUMBER = ir.IntType(32)
_VECTOR = ir.VectorType(_NUMBER, LANES)


def _least_product(_: Any, elements: Any, multiplier: Any) -> Any:
    """Tell numba the type of a call, and what writes its code."""
    return types.uint32(elements, multiplier), _in_vectors


def _in_vectors(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code: a vector of the least products so far, and in the end the least of these."""
    array = make_array(signature.args[0])(context, builder, arguments[0])
    vectors = builder.bitcast(array.data, _VECTOR.as_pointer())
    factor = _everywhere(builder, arguments[1])
    least = cgutils.alloca_once_value(builder, _VECTOR([-1] * LANES))
    count = builder.udiv(array.nitems, array.nitems.type(LANES))
    with cgutils.for_range(builder, count) as loop:
        place = builder.gep(vectors, [loop.index])
        products = builder.mul(builder.load(place, align=4), factor)
        before = builder.load(least)
        is_less = builder.icmp_unsigned("<", products, before)
        builder.store(builder.select(is_less, products, before), least)
    kind = ir.FunctionType(_NUMBER, [_VECTOR])
    name = f"llvm.vector.reduce.umin.v{LANES}i32"
    lowest = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(lowest, [builder.load(least)])


def _everywhere(builder: Any, number: Any) -> Any:
    """Return a vector of one number."""
    first = builder.insert_element(_VECTOR(ir.Undefined), number, _NUMBER(0))
    return builder.shuffle_vector(first, first, _VECTOR([0] * LANES))


# The least of all elements times a number, modulo 2^32; the elements fill whole vectors.
least_product = cast(Callable[[Array, np.uint32], np.uint32], intrinsic(_least_product))
