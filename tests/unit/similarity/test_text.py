"""Normalising whole batches in arrays, against the rule applied to one text at a time."""

import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.ragged import Room
from stream_dedup.similarity.text import UNICODE_VERSION, as_text, normalise
from tests.oracles import text as oracle
from tests.strategies import texts

ALL_CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]
# Not in the reference's result for any single character.
SEPARATOR = "zzqzz"


def normalised(batch: list[str], room: Room | None = None) -> list[str]:
    rows = normalise(batch, room)
    text = as_text(rows.values)
    return [text[start:end] for start, end in pairwise(rows.bounds)]


def expected(batch: list[str]) -> list[str]:
    return [oracle.normalise(text) for text in batch]


def expected_one_by_one(batch: list[str]) -> list[str]:
    """Ask the reference once for all: a line break combines with nothing."""
    joined = oracle.normalise(SEPARATOR.join(f"\n{text}\n" for text in batch))
    return [piece.strip(" ") for piece in joined.split(SEPARATOR)]


@given(st.lists(texts(), max_size=8))
def test_any_text_is_normalised_by_the_rule(batch: list[str]) -> None:
    """Whatever stands next to whatever, each text of a batch is what the reference makes of it."""
    assert normalised(batch) == expected(batch)


def test_every_character_alone() -> None:
    """Each code point, surrogates and unassigned ones included, has its defined form."""
    assert normalised(ALL_CHARACTERS) == expected_one_by_one(ALL_CHARACTERS)


def test_every_character_between_letters() -> None:
    """Each code point has its defined form in the middle of a word."""
    batch = [f"a{character}b" for character in ALL_CHARACTERS]

    assert normalised(batch) == expected_one_by_one(batch)


def test_every_mark_after_every_character_that_ends_in_one() -> None:
    """Marks of each class stand in order after letters that come apart, and after other marks."""
    forms = {character: unicodedata.normalize("NFKC", character) for character in ALL_CHARACTERS}
    forms |= {c: unicodedata.normalize("NFKD", form) for c, form in forms.items()}
    ending = [c for c, form in forms.items() if unicodedata.combining(form[-1])]
    marks = {unicodedata.combining(c): c for c in ending if unicodedata.combining(c)}.values()
    batch = [first + mark for first in ending for mark in marks]

    assert len(batch) > 50_000
    assert normalised(batch) == expected_one_by_one(batch)


@pytest.mark.soak
@pytest.mark.parametrize(
    "frame",
    [
        *("{0}{0}", "e{}\u0301", "e\u0301{}", "\u0301{}\u0323x", "\u1100{}\u11a8", "\uac00{}"),
        *("{}\u0345", "{}\u3099", "{}\u1161", "{}\u11a8", "\u0344{}", "\xad{}\xad"),
    ],
    ids=ascii,
)
def test_every_character_beside_one_that_combines(frame: str) -> None:
    """Each code point has its defined form beside marks, jamo, itself and what is dropped."""
    batch = [frame.format(character) for character in ALL_CHARACTERS]

    assert normalised(batch) == expected_one_by_one(batch)


@given(st.lists(texts(), max_size=12), st.lists(st.integers(0, 12), max_size=3))
def test_a_result_does_not_depend_on_the_batch(batch: list[str], cuts: list[int]) -> None:
    """Cut anywhere, in a room that was used before, a batch gives the same texts."""
    room = Room()
    places = [0, *sorted(min(cut, len(batch)) for cut in cuts), len(batch)]
    pieces = [normalised(batch[start:end], room) for start, end in pairwise(places)]

    assert [*chain(*pieces)] == normalised(batch)


def test_threads_do_not_disturb_each_other() -> None:
    """Batches normalised at the same time, each in a room of its own, come out right."""
    batches = [[f"Straße {n} ﷺ e\u0301\u0327 {m}" * (n % 7) for m in range(40)] for n in range(64)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda batch: normalised(batch, Room()), batches))

    assert results == [expected(batch) for batch in batches]


@pytest.mark.parametrize(
    ("unit", "form"),
    [
        ("a", "a"),
        ("ß", "ss"),
        (" ", ""),
        ("\0", ""),
        ("\xad", ""),
        ("\ud800", ""),
        ("👍", ""),
        ("\u0301", "\u0301"),
        ("e\u0301", "é"),
        ("가", "가"),
        ("\u1100\u1161", "가"),
        ("\u1100", "\u1100"),
        ("ש", "ש"),
        ("𠀀", "𠀀"),
    ],
    ids=ascii,
)
def test_ten_megabytes_of_one_character(unit: str, form: str) -> None:
    """A text of one character, ten million bytes of it, is like a short one."""
    times = 10_000_000 // len(unit.encode("utf-8", "surrogatepass"))

    (result,) = normalised([unit * times])

    assert result == form * times


def test_texts_that_grow_find_room() -> None:
    """One character may become eighteen, in any number of texts."""
    batch = ["ﷺ" * length for length in (0, 1, 2, 100, 3000, 1, 0)]

    assert normalised(batch, Room()) == expected(batch)


@pytest.mark.parametrize("batch", [[], [""], ["", "", ""], [" \0\t", "\xad", ""], ["", "a", ""]])
def test_texts_without_content_are_empty(batch: list[str]) -> None:
    """An empty batch has no rows; what holds neither letter, number nor mark is an empty row."""
    assert normalised(batch) == expected(batch)


def test_ascii_and_other_texts_give_the_same_in_one_batch() -> None:
    """A batch of ASCII takes a path of its own and comes out no different."""
    batch = ["Plain, old ASCII!", "x" * 1000, "tab\tand\x7fdelete"]

    assert normalised(batch) == normalised([*batch, "é"])[:-1] == expected(batch)


def test_rows_lie_end_to_end() -> None:
    """The bounds of the rows are the running lengths of the texts."""
    batch = ["One", "", "Ｔｗｏ", "e\u0301"]
    rows = normalise(batch)
    lengths = [len(text) for text in expected(batch)]

    assert rows.values.dtype == np.uint32
    assert rows.bounds.tolist() == list(accumulate(lengths, initial=0))


def test_the_version_of_unicode_is_told() -> None:
    """What a character is depends on Python's version of Unicode, so the version is known."""
    assert unicodedata.unidata_version == UNICODE_VERSION


def test_long_runs_of_marks_out_of_order() -> None:
    """Marks heaped on one letter are put in order like any others."""
    marks = "\u0301\u0327\u0f73\u0344\uff9e\u0323"
    batch = ["é" + marks * times + "b" + marks[::-1] * times for times in (1, 5, 6, 50, 500)]

    assert normalised(batch) == expected(batch)


def test_a_million_marks_out_of_order() -> None:
    """A hostile text takes no longer than others, though sorting marks one by one would."""
    ordered = "a" + "\u0327" * 500_000 + "\u0300" * 500_000

    assert normalised(["a" + "\u0300\u0327" * 500_000]) == expected([ordered])
