"""Known answers: the reference is judged by what can be seen, not by another program."""

import math
from collections import Counter

import pytest

from tests.oracles.text import containment, cosine, counts, jaccard, normalise, shingles


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \t\n.,-_!\x00\x7f", ""),
        ("  Hello,\r\n WORLD!! ", "hello world"),
        ("Straße STRASSE", "strasse strasse"),
        ("\uff21\uff22\u3000\uff43\u2460", "ab c1"),
        ("ﬁle", "file"),
        ("e\u0301 \u00e9", "\u00e9 \u00e9"),
        ("co\u00adop\u200bera\u200dte", "cooperate"),
        ("\u202eשמש\u202c ים", "שמש ים"),
        ("हिन्दी", "हिन्दी"),
        ("全角カナ、ｶﾞ", "全角カナ ガ"),
        ("a\ud800b\udfff", "a b"),
        ("a👍🏽b", "a b"),
        ("snake_case 3½", "snake case 31 2"),
    ],
)
def test_normalise_follows_the_rule(text: str, expected: str) -> None:
    """Case and width fold, format characters go, all else but letters, marks, numbers is space."""
    assert normalise(text) == expected


def test_shingles_are_windows_of_code_points() -> None:
    """A character shingle is a run of code points, single spaces included."""
    assert shingles("Ab,  cd", "char", 3) == {"ab ", "b c", " cd"}


def test_shingles_are_windows_of_words() -> None:
    """A word shingle is a run of words."""
    assert shingles("One two, three", "word", 2) == {"one two", "two three"}


@pytest.mark.parametrize(("unit", "size"), [("char", 9), ("word", 3)])
def test_short_text_is_one_shingle(unit: str, size: int) -> None:
    """A text shorter than a shingle is one shingle; one without text has none."""
    assert shingles("No more!", unit, size) == {"no more"}
    assert shingles("...", unit, size) == set()


def test_multiset_numbers_the_occurrences() -> None:
    """In a multiset the second occurrence is an element of its own."""
    assert shingles("abab", "char", 2, multiset=True) == {("ab", 0), ("ba", 0), ("ab", 1)}


def test_measures_of_sets() -> None:
    """Jaccard divides by the union, containment by the first set; nothing is like nothing."""
    a, b = frozenset("abcd"), frozenset("cdefgh")

    assert jaccard(a, b) == 2 / 8
    assert containment(a, b) == 2 / 4
    assert containment(b, a) == 2 / 6
    assert jaccard(frozenset(), frozenset()) == containment(frozenset(), a) == 0.0


def test_cosine_of_counts() -> None:
    """The cosine is the scalar product over the lengths, 1 for equal counts, 0 for none."""
    assert cosine(Counter(a=3, b=4), Counter(a=1)) == 3 / 5
    assert math.isclose(cosine(Counter(a=1), Counter(a=1, b=1)), math.sqrt(1 / 2))
    assert cosine(counts("abab ab", "char", 2), counts("abab ab", "char", 2)) == 1.0
    assert cosine(Counter(), Counter(a=1)) == 0.0
