"""Strings as arrays of code points, surrogates too, read where they lie.

They lie there as one, two or four bytes each, as the widest of a string needs. Any function of
Python that makes numbers of them would hold the interpreter's lock all the while.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.np.numpy_support import carray
from numpy.typing import NDArray

from stream_dedup.similarity.compiled import Array, kernel


def code_points(texts: Sequence[str]) -> NDArray[np.uint32]:
    """Return those of all texts, one text after the other."""
    text = "".join(texts)
    out = np.empty(len(text), np.uint32)
    read_code_points(text, 0, out)
    return out


@kernel
def read_code_points(text: Any, start: int, out: Array) -> None:
    """Read as many code points of a string from there on as there is room for."""
    data, size = text._data, len(text)
    if text._kind == 1:
        _widen(carray(data, size, np.uint8)[start:], out)
    elif text._kind == 2:
        _widen(carray(data, size, np.uint16)[start:], out)
    else:
        _widen(carray(data, size, np.uint32)[start:], out)


@kernel
def _widen(source: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] = source[i]
