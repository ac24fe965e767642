"""Sentences from patterns: a small language for writing many texts out of few lines.

[one|another]   one of these; they may be nested
{town}          a word of the list `town`, the same one wherever the story says {town}
{town2}         another of that list
{person!}       the last word of what {person} stands for
{~colour}       a word of the list, drawn anew each time
{3-80}          a number, drawn anew each time
{dead:3-80}     a number, the same one wherever the story says {dead:3-80}
a/an            whichever suits the next word
"""

import re
from collections.abc import Mapping, Sequence
from random import Random

from stream_dedup.feed.names import WORDS

Patterns = tuple[str, ...]

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{([^{}]+)\}")
_ARTICLE = re.compile(r"\b([Aa])/an (?=([aeiou])?)")
_NUMBER = re.compile(r"(?:(\w+):)?(\d+)-(\d+)")


def patterns(block: str) -> Patterns:
    """Split a block of text into its patterns, each of which starts with a dash."""
    parts = re.split(r"^- ", block, flags=re.MULTILINE)[1:]
    return tuple(" ".join(part.split()) for part in parts)


class Pen:
    """Write patterns as text; what a story has named once keeps its name."""

    def __init__(self, random: Random, cast: Mapping[str, str] | None = None) -> None:
        self._random = random
        self.cast: dict[str, str] = dict(cast or {})

    def write(self, pattern: str) -> str:
        """Write one pattern, with a capital letter in front."""
        text = _ARTICLE.sub(lambda a: f"{a[1]}{'n' if a[2] else ''} ", self._fill(pattern))
        return text[:1].upper() + text[1:]

    def some(self, choices: Sequence[str], count: int) -> list[str]:
        """Write so many different patterns, in any order."""
        return [self.write(pattern) for pattern in self._random.sample(choices, count)]

    def any(self, choices: Sequence[str]) -> str:
        """Write any one of the patterns."""
        return self.write(self._random.choice(choices))

    def _fill(self, pattern: str) -> str:
        while "[" in pattern:
            pattern = _CHOICE.sub(self._choose, pattern)
        return _SLOT.sub(lambda slot: self._word(slot[1]), pattern)

    def _choose(self, choice: re.Match[str]) -> str:
        phrases: list[str] = choice[1].split("|")
        return self._random.choice(phrases)

    def _word(self, slot: str) -> str:
        if number := _NUMBER.fullmatch(slot):
            name: str = number[1]
            drawn = _figure(self._random.randint(int(number[2]), int(number[3])))
            return self.cast.setdefault(name, drawn) if name else drawn
        if slot.startswith("~"):
            return self._draw(slot[1:])
        name = slot.removesuffix("!")
        if name not in self.cast:
            self.cast[name] = self._unlike_others(name.rstrip("0123456789"))
        return self.cast[name].split()[-1] if slot.endswith("!") else self.cast[name]

    def _unlike_others(self, words: str) -> str:
        """Draw a word that the story has not given to anybody else."""
        taken = set(self.cast.values())
        while (drawn := self._draw(words)) in taken:
            pass
        return drawn

    def _draw(self, words: str) -> str:
        return self._fill(self._random.choice(WORDS[words]))


def _figure(number: int) -> str:
    """Part thousands only where a year could not be meant."""
    return f"{number:,}" if number >= 10_000 else str(number)
