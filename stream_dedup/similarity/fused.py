"""The whole way from text to MinHash sketch in one call of compiled code, some texts at a time.

Each of its steps is a kernel of another module. Between calls of one kernel and the next, a thread
waits for the interpreter's lock, as long as others run Python code; here it need not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.bands import band_key_rows
from stream_dedup.similarity.code_points import read_code_points
from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.elements import (
    count_distinct_rows,
    number_repeats_of,
    sort_into,
)
from stream_dedup.similarity.fingerprint import fingerprint_rows
from stream_dedup.similarity.minhash import Functions, shortened, sign_rows
from stream_dedup.similarity.ragged import Ragged, bounds_of, replace_rows
from stream_dedup.similarity.shingles import Cut, hash_rows, longest
from stream_dedup.similarity.text import (
    EXPANSION_MAX,
    Rules,
    composed,
    normalise_rows,
    rules,
    rules_of_composed,
)
from stream_dedup.similarity.vectors import in_wide_vectors

# The arrays of so many texts stay in the second-level cache.
_CHARACTERS = 1 << 16


class Line(NamedTuple):
    """What the steps need, as kernels take it."""

    cut: Cut
    multiset: bool
    functions: Functions
    weights: NDArray[np.uint64]  # of the band keys
    fingerprint: np.uint64  # the key of that


class Columns(NamedTuple):
    """What comes out, a row for each text."""

    signatures: NDArray[np.uint16]
    keys: NDArray[np.uint64]
    fingerprints: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    short: Ragged  # all hashes of a text that has no more of them than there are functions


def sketch(texts: Sequence[str], line: Line, bands: int, salts: NDArray[np.uint64]) -> Columns:
    """Return the sketches of the texts, in order."""
    columns, to_compose = _sketch(texts, line, bands, salts, rules())
    if not to_compose.any():
        return columns
    again = composed(texts, to_compose)
    others, _ = _sketch(again, line, bands, salts[to_compose], rules_of_composed())
    columns.signatures[to_compose] = others.signatures
    columns.keys[to_compose] = others.keys
    columns.fingerprints[to_compose] = others.fingerprints
    columns.sizes[to_compose] = others.sizes
    return columns._replace(short=replace_rows(columns.short, to_compose, others.short))


def _sketch(
    texts: Sequence[str], line: Line, bands: int, salts: NDArray[np.uint64], text_rules: Rules
) -> tuple[Columns, NDArray[np.bool_]]:
    """Return the sketches, and which of them are those of empty texts until these are composed."""
    rows, functions = len(texts), line.functions.multipliers.size
    short = Ragged(np.empty(rows * functions, np.uint64), np.zeros(rows + 1, np.int64))
    columns = Columns(
        np.empty((rows, functions), np.uint16),
        np.empty((rows, bands), np.uint64),
        np.empty((rows, 2), np.uint64),
        np.empty(rows, np.int64),
        short,
    )
    to_compose = np.zeros(rows, np.bool_)
    bounds = bounds_of([len(text) for text in texts])
    _sketch_rows("".join(texts), bounds, text_rules, line, salts, columns, to_compose)
    # A copy: little was written of what there is room for.
    written = Ragged(short.values[: short.bounds[-1]].copy(), short.bounds)
    return columns._replace(short=written), to_compose


@kernel
def _sketch_rows(
    joined: str,
    bounds: Array,
    text_rules: Rules,
    line: Line,
    salts: Array,
    columns: Columns,
    to_compose: Array,
) -> None:
    in_wide_vectors()
    most = max(_CHARACTERS, longest(bounds))
    codes = np.empty(most, np.uint32)
    text = np.empty(most + EXPANSION_MAX, np.uint32)
    hashes = np.empty(most, np.uint64)
    start = 0
    while start < bounds.size - 1:
        end = start + 1
        while end < bounds.size - 1 and bounds[end + 1] - bounds[start] <= _CHARACTERS:
            end += 1
        part = slice(start, end)
        source = codes[: bounds[end] - bounds[start]]
        read_code_points(joined, bounds[start], source)
        source_bounds = bounds[start : end + 1] - bounds[start]
        text_bounds = np.zeros_like(source_bounds)
        while not normalise_rows(
            source, source_bounds, text_rules, text, text_bounds, to_compose[part]
        ):
            text = np.empty(2 * text.size, np.uint32)
        if hashes.size < text_bounds[-1]:
            hashes = np.empty(text_bounds[-1], np.uint64)
        hash_bounds = np.zeros_like(source_bounds)
        hash_rows(text, text_bounds, line.cut, hashes, hash_bounds)
        values = _sign(hashes, hash_bounds, line, columns.sizes[part])
        columns.signatures[part] = shortened(values)
        band_key_rows(values, line.weights, salts[part], columns.keys[part])
        fingerprint_rows(text, text_bounds, line.fingerprint, columns.fingerprints[part])
        _keep_short(hashes, hash_bounds, line.functions.multipliers.size, columns.short, start)
        start = end


@kernel
def _sign(hashes: Array, bounds: Array, line: Line, sizes: Array) -> Array:
    """Return the minima, and set how many elements each row has."""
    values = np.empty((bounds.size - 1, line.functions.multipliers.size), np.uint32)
    if line.multiset:
        ordered = np.empty(bounds[-1], np.uint64)
        sort_into(hashes, bounds, ordered)
        sign_rows(number_repeats_of(ordered, bounds), bounds, line.functions, values)
        sizes[:] = bounds[1:] - bounds[:-1]
    else:
        sign_rows(hashes, bounds, line.functions, values)
        count_distinct_rows(hashes, bounds, sizes)
    return values


@kernel
def _keep_short(hashes: Array, bounds: Array, length_max: int, short: Ragged, start: int) -> None:
    """Put rows of at most that length behind those of the texts before `start`."""
    values, ends = short
    for row in range(bounds.size - 1):
        at = ends[start + row]
        length = bounds[row + 1] - bounds[row]
        if length <= length_max:
            values[at : at + length] = hashes[bounds[row] : bounds[row + 1]]
            at += length
        ends[start + row + 1] = at
