"""A file is known again if it only grew, and not if it was cut or written anew."""

import io
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.trail import Trail, trail_of, trail_through

CONTENT = Random(1).randbytes(20_000)


@given(st.lists(st.integers(0, len(CONTENT)), max_size=8), st.integers(0, len(CONTENT)))
def test_the_trail_is_that_of_the_file(cuts: list[int], end: int) -> None:
    """However the content came, piece by piece, from the file or through it, the mark is one."""
    places = [0, *sorted(min(cut, end) for cut in cuts), end]
    trail = Trail()
    for start, stop in pairwise(places):
        trail = trail.after(CONTENT[start:stop])

    assert trail == trail_of(io.BytesIO(CONTENT), end) == trail_through(io.BytesIO(CONTENT), end)
    assert trail.mark().bytes == end


def test_reading_goes_on_behind_the_trail(tmp_path: Path) -> None:
    """After the trail was looked at, the file stands at its end."""
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    with path.open("rb", buffering=0) as file:
        trail_of(file, 12_345)

        assert file.read() == CONTENT[12_345:]


@pytest.mark.parametrize("place", [0, 4095, 9_000 - 4096, 8_999])
def test_other_content_leaves_another_mark(place: int) -> None:
    """A byte that differs at the beginning or before the end is seen, one after it is not."""
    other = bytearray(CONTENT)
    other[place] ^= 1
    mark = trail_of(io.BytesIO(CONTENT), 9_000).mark()

    assert trail_of(io.BytesIO(other), 9_000).mark() != mark
    assert trail_of(io.BytesIO(CONTENT + b"more"), 9_000).mark() == mark


def test_a_shorter_file_gives_a_shorter_trail() -> None:
    """Where the content ends before the place, the length says so."""
    assert trail_of(io.BytesIO(CONTENT), 30_000).length == len(CONTENT)
    assert trail_through(io.BytesIO(CONTENT), 30_000).length == len(CONTENT)
