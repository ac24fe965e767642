"""Fingerprints: the same for the same normalised text, different otherwise."""

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.fingerprint import fingerprints
from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.text import normalise
from tests.oracles import text as oracle
from tests.strategies import texts


def of_rows(rows: list[list[int]], seed: int = 0) -> list[tuple[int, int]]:
    values = [value for row in rows for value in row]
    packed = Ragged(np.array(values, np.uint32), bounds_of([len(row) for row in rows]))
    return [(int(first), int(second)) for first, second in fingerprints(packed, seed)]


@given(st.lists(texts(max_size=6), max_size=12), st.integers(0, 2**63 - 1))
def test_fingerprints_are_equal_where_normalised_texts_are(batch: list[str], seed: int) -> None:
    """In any batch, under any seed."""
    found = fingerprints(normalise(batch), seed).tolist()
    met = {
        ((first, second), oracle.normalise(text))
        for (first, second), text in zip(found, batch, strict=True)
    }

    assert len(met) == len({print_ for print_, _ in met}) == len({text for _, text in met})


def test_the_order_of_characters_matters() -> None:
    """Anagrams differ in both words."""
    found = of_rows([list(row) for row in permutations(range(7))])

    assert len({first for first, _ in found}) == len({second for _, second in found}) == 5040


def test_the_length_matters() -> None:
    """Texts that begin or end alike differ, and so do runs of one character, NUL included."""
    rows = [[character] * length for character in (0, 97, 98) for length in range(1, 2000)]
    found = of_rows([[], *rows])

    assert len({first for first, _ in found}) == len({second for _, second in found}) == 5998


def test_one_changed_character_matters() -> None:
    """Each change of one of 300 characters, by any difference, gives another fingerprint."""
    text = [97] * 300
    rows = [[*text[:at], 97 + by, *text[at + 1 :]] for at in range(300) for by in range(1, 9)]

    assert len({*of_rows([text, *rows])}) == 2401


def test_the_words_are_not_tied_to_each_other() -> None:
    """Each bit of the second word agrees with each of the first every second time."""
    found = np.array(of_rows([[n % 97, n] for n in range(4000)]), np.uint64)
    bits = (found[..., None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).astype(np.float64)
    correlation = np.corrcoef(bits[:, 0].T, bits[:, 1].T)[:64, 64:]

    # One standard error is 0.016.
    assert np.abs(correlation).max() < 0.08


def test_seeds_give_unrelated_fingerprints() -> None:
    """No word of one seed is one of another's."""
    words = [word for seed in range(500) for word in of_rows([[97, 98, 99]], seed)[0]]

    assert len({*words}) == 1000


def test_fingerprints_do_not_depend_on_the_batch() -> None:
    """A text has the same fingerprint alone and among others."""
    rows = [[97] * length for length in (0, 3, 0, 100, 1)]

    assert of_rows(rows) == [of_rows([row])[0] for row in rows]


def test_fingerprints_are_pinned() -> None:
    """Changing these changes the scheme and orphans stored fingerprints."""
    found = fingerprints(normalise(["Größe 日本語", ""]))

    assert found.tolist() == [[0xA85590C50B29EAA9, 0x7404C43B92E79DFC], [0, 0]]
