"""Texts for hypothesis: all of Unicode, and above all the characters that have caused trouble."""

from typing import Final

from hypothesis import strategies as st

_SEPARATORS: Final = " \t\n\r.,;-_'\"!\x00\x1f\x7f\x85\xa0\u2028\u3000\ufffd\ufffe\uffff\U0010ffff"
_FORMAT: Final = "\u00ad\u061c\u200b\u200c\u200d\u200e\u202a\u202e\u2060\u2066\ufeff\U000e0041"
_SURROGATES: Final = "\ud800\udbff\udc00\udfff"
# Combining marks of many classes, some that compose, decompose or expand, and variation selectors.
_MARKS: Final = (
    "\u0300\u0301\u0308\u0316\u0323\u0327\u0328\u0334\u0338\u0340\u0343\u0344\u0345\u034f\u05b0"
    "\u05b8\u064b\u0653\u093c\u0f71\u0f72\u0f73\u0f75\u1dce\u20dd\u302a\u3099\u309a\ufe0e\ufe0f"
    "\U0001d165\U0001d16e"
)
_JAMO: Final = "\u1100\u1112\u1161\u1175\u11a7\u11a8\u11c2가각힣\u3131\u314f\uffa1\uffc2\u115f"
# Fold to something else, to several characters, or only after another folding.
_FOLDING: Final = (
    "AZÀÅßẞİıſςΣΐΰᾈᾷῼǅŉǰﬁﬀﬓﷺ①½²ªKÅΩ㎏℻㌀ＡｂｱｶﾞﾟヷがカЀЙйԱև𐐀𝐀𝛔𝟘\u0958\u0ddd\u1e9b\u2adc\u0f77\u1b35\ufb1f"
    "\U0002f800\U0001d15e"
)
_LETTERS: Final = "abcxyz019 é日本語שלוםعربيहिन्ไทยあイ한𠀀👍🏽🇮"
_POOLS: Final = (_SEPARATORS, _FORMAT, _SURROGATES, _MARKS, _JAMO, _FOLDING, _LETTERS)

characters = st.one_of(
    *(st.sampled_from(pool) for pool in _POOLS), st.characters(exclude_categories=())
)


def texts(max_size: int = 30) -> st.SearchStrategy[str]:
    """Draw texts in which every kind of character meets every other."""
    return st.text(characters, max_size=max_size)


def repetitive_texts(max_size: int = 60) -> st.SearchStrategy[str]:
    """Draw texts of few characters, in which shingles recur within a text and between texts."""
    return st.text(st.sampled_from("aab  é\u0301日"), max_size=max_size)
