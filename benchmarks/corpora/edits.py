"""Edits made up by us: one character, one word, one sentence of a real text."""

import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
_SENTENCE = 10  # characters; less is an abbreviation
# A word of Chinese or Japanese, which show no words, mostly has two characters.
_UNSPACED_WORD = 2

Edit = Callable[[str, "Stock", random.Random], str | None]


class Stock(NamedTuple):
    """What other texts of the language consist of, to edit with."""

    words: list[str]
    letters: str
    sentences: list[str]
    spaced: bool


def stock(texts: Sequence[str], spaced: bool) -> Stock:
    """Take words, letters and sentences as often as the texts have them."""
    joined = " ".join(texts)
    words = [word for word in joined.split() if _is_word(word)]
    if not spaced:
        letters = "".join(filter(str.isalpha, joined))
        starts = range(0, len(letters) - 1, _UNSPACED_WORD)
        words = [letters[start : start + _UNSPACED_WORD] for start in starts]
    return Stock(
        words=words,
        letters="".join(filter(str.isalpha, joined)),
        sentences=[sentence for text in texts for sentence in _sentences(text)],
        spaced=spaced,
    )


def change_character(text: str, others: Stock, source: random.Random) -> str | None:
    """Write another letter in the place of one."""
    places = [place for place, character in enumerate(text) if character.isalpha()]
    if not places:
        return None
    place = source.choice(places)
    return text[:place] + _another(text[place], others.letters, source) + text[place + 1 :]


def change_word(text: str, others: Stock, source: random.Random) -> str | None:
    """Write another word in the place of one."""
    words = _words(text, others.spaced)
    if not words:
        return None
    start, end = source.choice(words)
    return text[:start] + _another(text[start:end], others.words, source) + text[end:]


def add_word(text: str, others: Stock, source: random.Random) -> str | None:
    """Put a word in front."""
    return source.choice(others.words) + (" " if others.spaced else "") + text


def move_sentence(text: str, others: Stock, source: random.Random) -> str | None:
    """Let two neighbouring sentences change places."""
    sentences = _sentences(text)
    if len(sentences) < 2:
        return None
    place = source.randrange(len(sentences) - 1)
    pair = sentences[place : place + 2]
    sentences[place : place + 2] = reversed(pair)
    return (" " if others.spaced else "").join(sentences)


def change_sentence(text: str, others: Stock, source: random.Random) -> str | None:
    """Write another sentence in the place of one."""
    sentences = _sentences(text)
    if len(sentences) < 2:
        return None
    place = source.randrange(len(sentences))
    sentences[place] = _another(sentences[place], others.sentences, source)
    return (" " if others.spaced else "").join(sentences)


def cut(text: str, length: int, spaced: bool, source: random.Random) -> str:
    """Return a passage of about this length, from word to word."""
    start = source.randrange(max(1, len(text) - length))
    if not spaced:
        return text[start : start + length]
    start = text.rfind(" ", 0, start) + 1
    end = text.find(" ", start + length - 1)
    return text[start:] if end < 0 else text[start:end]


def _words(text: str, spaced: bool) -> list[tuple[int, int]]:
    """Return where words begin and end."""
    if spaced:
        found = ((word.start(), word.end()) for word in re.finditer(r"\S+", text))
        return [(start, end) for start, end in found if _is_word(text[start:end])]
    ends = range(_UNSPACED_WORD, len(text) + 1)
    return [
        (end - _UNSPACED_WORD, end) for end in ends if text[end - _UNSPACED_WORD : end].isalpha()
    ]


def _is_word(word: str) -> bool:
    return any(map(str.isalnum, word))


def _sentences(text: str) -> list[str]:
    """Split a text, abbreviations left with what follows."""
    sentences: list[str] = []
    for part in _SENTENCE_END.split(text):
        if sentences and len(sentences[-1]) < _SENTENCE:
            sentences[-1] += " " + part
        elif part:
            sentences.append(part)
    return sentences


def _another(old: str, choices: Sequence[str], source: random.Random) -> str:
    while (new := source.choice(choices)).casefold() == old.casefold():
        pass
    return new
