"""Shingle hashes: equal where the reference's windows are equal, and nowhere else."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import chain, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.ragged import Ragged, Room
from stream_dedup.similarity.shingles import Shingling, Unit
from stream_dedup.similarity.text import normalise
from tests.oracles import text as oracle
from tests.strategies import repetitive_texts, texts

units: st.SearchStrategy[Unit] = st.sampled_from(["char", "word"])
seeds = st.integers(0, 2**63 - 1)
any_texts = st.lists(st.one_of(texts(), repetitive_texts()), max_size=6)


def rows_of(
    shingling: Shingling, batch: Sequence[str], room: Room | None = None
) -> list[list[int]]:
    hashes = shingling.hashes(normalise(batch), room)
    return [row.tolist() for row in np.split(hashes.values, hashes.bounds[1:-1])][: len(batch)]


def windows_of(shingling: Shingling, batch: Sequence[str]) -> list[list[str]]:
    normalised = [oracle.normalise(text) for text in batch]
    return [oracle.windows(text, shingling.unit, shingling.size) for text in normalised]


def assert_equal_where_windows_are(shingling: Shingling, batch: Sequence[str]) -> None:
    """Each text has as many hashes as windows, and both are equal in the same places."""
    hashes, windows = rows_of(shingling, batch), windows_of(shingling, batch)
    assert [len(row) for row in hashes] == [len(row) for row in windows]
    met = {*zip(chain(*hashes), chain(*windows), strict=True)}
    assert len(met) == len({hashed for hashed, _ in met}) == len({window for _, window in met})


@given(any_texts, units, st.integers(1, 60), seeds)
def test_hashes_are_equal_where_shingles_are(
    batch: list[str], unit: Unit, size: int, seed: int
) -> None:
    """Of any texts, in text order, any size and seed."""
    assert_equal_where_windows_are(Shingling(unit, size, seed=seed), batch)


@pytest.mark.parametrize("unit", ["char", "word"])
@pytest.mark.parametrize("size", range(1, 61))
def test_every_size_is_cut_alike(unit: Unit, size: int) -> None:
    """From one character or word to sixty, about all lengths on which the loops differ."""
    random = Random(size)
    lengths = [*range(10), size - 1, size, size + 1, 2 * size, 200]
    batch = [" ".join(random.choices("abc", k=length)) for length in lengths]

    assert_equal_where_windows_are(Shingling(unit, size), [*batch, *(t[::2] for t in batch)])


@pytest.mark.parametrize("length", [8190, 8191, 8192, 8193, 20_000])
@pytest.mark.parametrize("size", [1, 3, 60])
@pytest.mark.parametrize("unit", ["char", "word"])
def test_long_texts_are_cut_like_short_ones(unit: Unit, size: int, length: int) -> None:
    """A shingle's hash is the same in a text of any length."""
    random = Random(length)
    words = ["".join(random.choices("ab", k=random.randrange(1, 9))) for _ in range(length)]
    text = " ".join(words)[:length].rstrip()
    pieces = [text[start : start + 1500].strip() for start in range(0, len(text), 1000)]

    assert_equal_where_windows_are(Shingling(unit, size), [text, *pieces])


@given(texts(), units, st.integers(1, 60))
def test_a_text_shorter_than_a_shingle_is_one(text: str, unit: Unit, size: int) -> None:
    """It is the same shingle for every size it is too short for; an empty text has none."""
    (hashes,) = rows_of(Shingling(unit, size), [text])
    (windows,) = windows_of(Shingling(unit, size), [text])

    assert len(hashes) == len(windows)
    if len(windows) == 1:
        assert hashes == rows_of(Shingling(unit, size + 17), [text])[0]


@pytest.mark.parametrize("length", [4096, 8189, 8191, 8193, 12_000, 40_000])
def test_a_long_word_is_cut_like_a_short_one(length: int) -> None:
    """A word of any length, wherever it stands, is a part of shingles like any other."""
    word = ("ab" * length)[:length]
    batch = [word, f"a {word}", f"b a {word}", f"c a {word} a", f"{word} {word}", "a"]

    assert_equal_where_windows_are(Shingling("word", 2), batch)


@given(any_texts, units, st.integers(1, 9), st.booleans())
def test_elements_are_those_of_the_reference(
    batch: list[str], unit: Unit, size: int, multiset: bool
) -> None:
    """Sets and multisets have the reference's sizes and share as much as those of the reference."""
    shingling = Shingling(unit, size, multiset)
    elements = shingling.elements(shingling.hashes(normalise(batch)))
    sets = [{*elements.row(index).tolist()} for index in range(len(batch))]
    references = [oracle.shingles(text, unit, size, multiset) for text in batch]

    assert elements.lengths.tolist() == [len(reference) for reference in references]
    for elements_a, reference_a in zip(sets, references, strict=True):
        for elements_b, reference_b in zip(sets, references, strict=True):
            assert len(elements_a & elements_b) == len(reference_a & reference_b)


@given(any_texts, units, st.integers(1, 9), st.booleans())
def test_counts_are_those_of_the_reference(
    batch: list[str], unit: Unit, size: int, multiset: bool
) -> None:
    """With their repeats, each row is sorted and every hash is there as often as its shingle."""
    shingling = Shingling(unit, size, multiset)
    rows = shingling.elements(shingling.hashes(normalise(batch)), counts=True)

    for index, text in enumerate(batch):
        row = rows.row(index)
        _, repeats = np.unique(row, return_counts=True)
        assert sorted(repeats.tolist()) == sorted(oracle.counts(text, unit, size).values())
        assert row.tolist() == sorted(row.tolist())


@given(any_texts, units, st.integers(1, 9))
def test_sizes_of_short_texts_are_right(batch: list[str], unit: Unit, size: int) -> None:
    """A set of some dozens is counted right but for one that met another; a multiset always."""
    rows = normalise(batch)
    for multiset in (False, True):
        shingling = Shingling(unit, size, multiset)
        sizes = shingling.sizes(shingling.hashes(rows))
        references = [len(oracle.shingles(text, unit, size, multiset)) for text in batch]

        assert np.abs(sizes - references).max(initial=0) <= (0 if multiset else 2)


def test_sizes_of_long_texts_are_within_one_percent() -> None:
    """Thousands of distinct shingles are counted without sorting them."""
    random = Random(7)
    batch = ["".join(random.choices("abcdef", k=length)) for length in (3000, 30_000, 300_000)]
    shingling = Shingling("char", 9)
    distinct = [len(oracle.shingles(text, "char", 9)) for text in batch]

    assert shingling.sizes(shingling.hashes(normalise(batch))) == pytest.approx(distinct, rel=0.01)


@given(any_texts, units, st.integers(1, 20), st.lists(st.integers(0, 6), max_size=3))
def test_hashes_do_not_depend_on_the_batch(
    batch: list[str], unit: Unit, size: int, cuts: list[int]
) -> None:
    """Cut anywhere, in a room that was used before, a batch gives the same hashes."""
    shingling, room = Shingling(unit, size), Room()
    places = [0, *sorted(min(cut, len(batch)) for cut in cuts), len(batch)]
    pieces = [rows_of(shingling, batch[start:end], room) for start, end in pairwise(places)]

    assert [*chain(*pieces)] == rows_of(shingling, batch)


@pytest.mark.parametrize("unit", ["char", "word"])
def test_threads_do_not_disturb_each_other(unit: Unit) -> None:
    """Batches hashed at the same time come out as they do one by one."""
    batches = [[f"text {n} of thread {m} " * n for m in range(20)] for n in range(32)]
    shingling = Shingling(unit, 3)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda batch: rows_of(shingling, batch, Room()), batches))

    assert results == [rows_of(shingling, batch) for batch in batches]


def test_seeds_give_unrelated_hashes() -> None:
    """No hash of one seed is one of another's."""
    batch = ["the quick brown fox jumps over the lazy dog"]
    hashes = [rows_of(Shingling("char", 5, seed=seed), batch)[0] for seed in range(50)]

    assert len({*chain(*hashes)}) == sum(len({*row}) for row in hashes)


def strings_equal_as_plain_polynomials() -> tuple[str, str]:
    """Return two strings whose code points are polynomials equal at all points 3 modulo 8.

    Their difference is (1 - x^2)^20 (1 + x^2)^4. There 1 - x^2 is a multiple of 2^3 and 1 + x^2 of
    2, so that it vanishes modulo 2^64.
    """
    coefficients = np.array([1])
    for factor in [[1, 0, -1]] * 20 + [[1, 0, 1]] * 4:
        coefficients = np.convolve(coefficients, factor)
    base = ord("一")
    one = [base + max(coefficient, 0) for coefficient in coefficients.tolist()]
    other = [base + max(-coefficient, 0) for coefficient in coefficients.tolist()]
    return "".join(map(chr, one)), "".join(map(chr, other))


@given(units, seeds)
def test_strings_crafted_without_the_seed_do_not_collide(unit: Unit, seed: int) -> None:
    """Hashes are not those of polynomials whose coefficients are the code points."""
    one, other = strings_equal_as_plain_polynomials()
    values = [[ord(character) for character in text] for text in (one, other)]
    for point in (3, 11, 2**63 + 3):
        totals = [reduce(lambda total, value: total * point + value, row) for row in values]
        assert (totals[0] - totals[1]) % 2**64 == 0

    assert_equal_where_windows_are(Shingling(unit, 60, seed=seed), [one, other])


@pytest.mark.parametrize("unit", ["char", "word"])
def test_ten_megabytes_of_one_character(unit: Unit) -> None:
    """As a set it has one element, as a multiset as many as it has shingles."""
    text = normalise(["a" * 10_000_000])
    shingles = 10_000_000 - 4 if unit == "char" else 1

    hashes = Shingling(unit, 5).hashes(text)

    assert Shingling(unit, 5).elements(hashes).lengths.tolist() == [1]
    assert Shingling(unit, 5).sizes(hashes).tolist() == [1]
    assert Shingling(unit, 5, multiset=True).elements(hashes).lengths.tolist() == [shingles]


def test_any_number_is_a_code_point() -> None:
    """Hashing knows nothing of Unicode: rows of numbers are cut like text."""
    rows = Ragged(np.array([0, 0, 1, 2**32 - 1, 0, 0], np.uint32), np.array([0, 3, 3, 6]))
    hashes = Shingling("char", 1).hashes(rows)

    assert hashes.bounds.tolist() == [0, 3, 3, 6]
    assert len({*hashes.values.tolist()}) == 3


@pytest.mark.parametrize(
    ("shingling", "expected"),
    [
        (Shingling("char", 5), [0x7EDD02B9D48D1B94, 0x5A1128CE599348D1, 0x6FC1C1D360133E5D]),
        (Shingling("char", 50), [0x176B519D06F60E2E]),
        (Shingling("word", 1), [0x8032756346677E2B, 0xF0B8EC13FC5F1338]),
        (Shingling("char", 5, seed=2**63 - 1), [0xFDEBDE637DE8F016, 0x7A43A93AF00A9B62]),
    ],
)
def test_hashes_are_pinned(shingling: Shingling, expected: list[int]) -> None:
    """Changing these changes the scheme and orphans stored signatures."""
    assert rows_of(shingling, ["Größe 日本語"])[0][: len(expected)] == expected


def test_repeats_are_pinned() -> None:
    """Changing these changes the scheme of multisets and orphans stored signatures."""
    shingling = Shingling("char", 1, multiset=True)
    elements = shingling.elements(shingling.hashes(normalise(["aaa"])))

    assert elements.values.tolist() == [0x01EE6F19E0FD6102, 0x2CDDB33DB4A85F25, 0x9E362F73773CEE24]
