"""Rows of different lengths in flat arrays."""

from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.ragged import Ragged, Room, bounds_of, stack, take

Rows = list[list[int]]
rows_of_numbers = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=5), max_size=8)


def ragged(rows: Rows) -> Ragged:
    values = [value for row in rows for value in row]
    return Ragged(np.array(values, np.uint64), bounds_of([len(row) for row in rows]))


def listed(rows: Ragged) -> Rows:
    return [rows.row(index).tolist() for index in range(rows.rows)]


@given(rows_of_numbers)
def test_rows_are_what_was_put_in(rows: Rows) -> None:
    """Rows, their number and their lengths are read back, empty ones too."""
    packed = ragged(rows)

    assert listed(packed) == rows
    assert packed.rows == len(rows)
    assert packed.lengths.tolist() == [len(row) for row in rows]


@given(st.lists(rows_of_numbers, min_size=1, max_size=5))
def test_stacked_rows_follow_each_other(pieces: list[Rows]) -> None:
    """All rows of all pieces come in order."""
    assert listed(stack([ragged(piece) for piece in pieces])) == [*chain(*pieces)]


@given(st.data(), rows_of_numbers)
def test_rows_are_taken_in_any_order(data: st.DataObject, rows: Rows) -> None:
    """A row may be taken never, once or often."""
    indexes = data.draw(
        st.lists(st.integers(0, len(rows) - 1), max_size=10) if rows else st.just([])
    )

    taken = take(ragged(rows), np.array(indexes, np.int64))

    assert listed(taken) == [rows[index] for index in indexes]


@given(st.lists(st.tuples(st.integers(0, 5000), st.sampled_from(["u1", "u2", "u4", "u8"]))))
def test_a_room_has_place_for_what_is_asked(requests: list[tuple[int, str]]) -> None:
    """Whatever was asked before, the array has the size and type asked for and can be written."""
    room = Room()
    for size, dtype in requests:
        array = room.of(size, dtype)
        array[:] = 7

        assert (array.size, array.dtype) == (size, np.dtype(dtype))


def test_a_room_is_used_again() -> None:
    """Asking for no more than before costs no new memory."""
    room = Room()
    first = room.of(1000, np.uint64)

    assert np.shares_memory(first, room.of(2000, np.uint32))
