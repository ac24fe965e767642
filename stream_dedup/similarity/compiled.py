"""The one way in which this package compiles a function: numba, off the GIL, cached on disk.

Nothing compiles at import; the first call does, once per machine. By itself numba notices a change
in a kernel's own file only, not in the kernels it calls. Here the cache's folder is named after the
whole of this package's source, so that a stale kernel cannot be loaded.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])
Array = NDArray[Any]  # of a kernel: its element type is what the caller passes

_config: Any = numba.config


def _cache_directory() -> str:
    """Return a folder beside the source, or below NUMBA_CACHE_DIR where that is set."""
    here = Path(__file__).parent
    source = hashlib.blake2b(digest_size=8)
    for path in sorted(here.glob("*.py")):
        source.update(path.read_bytes())
    parent = Path(_config.CACHE_DIR or here / "__pycache__")
    return str(parent / f"kernels-{source.hexdigest()}")


_CACHE_DIRECTORY = _cache_directory()


def kernel(function: Function) -> Function:
    """Compile a function on its first call; without a writable cache, once in every process."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    before = _config.CACHE_DIR
    _config.CACHE_DIR = _CACHE_DIRECTORY  # read at decoration; other users of numba keep theirs
    try:
        return cast(Function, numba.njit(cache=True, **options)(function))
    except (RuntimeError, OSError):  # no place for the cache
        return cast(Function, numba.njit(**options)(function))
    finally:
        _config.CACHE_DIR = before


@kernel
def mix64(value: np.uint64) -> np.uint64:
    """Return the bits mixed: a bijection; each moves all of the result (Stafford's variant 13)."""
    value = np.uint64((value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9))
    value = np.uint64((value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB))
    return np.uint64(value ^ (value >> np.uint64(31)))


def keys_from_seed(seed: int, purpose: int, count: int) -> NDArray[np.uint64]:
    """Return pseudo-random 64-bit keys, for ever the same for one seed and purpose.

    Counter mode over `mix64` in plain integers, so that no library's generator can change them.
    """
    mask = (1 << 64) - 1
    state = _mix(_mix(seed & mask) ^ (purpose * 0x9E3779B97F4A7C15 & mask))
    return np.array(
        [_mix((state + (i + 1) * 0x9E3779B97F4A7C15) & mask) for i in range(count)], np.uint64
    )


def _mix(value: int) -> int:
    mask = (1 << 64) - 1
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & mask
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & mask
    return value ^ (value >> 31)
