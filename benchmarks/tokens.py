"""Shingles made in Python, as users of the other libraries make them, and the fastest way we know.

All give the shingles of `stream_dedup`: a text shorter than one is a single shingle.
"""

from collections.abc import Callable, Sequence

Tokenise = Callable[[str], Sequence[str] | Sequence[bytes]]


def characters(size: int) -> Callable[[str], list[str]]:
    """Slice the text."""

    def tokenise(text: str) -> list[str]:
        return [text[i : i + size] for i in range(max(1, len(text) - size + 1))]

    return tokenise


def words(size: int) -> Callable[[str], list[str]]:
    """Split the text, slice the words and join each slice."""

    def tokenise(text: str) -> list[str]:
        split = text.split()
        return [" ".join(split[i : i + size]) for i in range(max(1, len(split) - size + 1))]

    return tokenise


def distinct(tokenise: Callable[[str], list[str]]) -> Callable[[str], list[bytes]]:
    """Encode each different token once, for libraries that hash bytes in Python."""
    return lambda text: [token.encode() for token in set(tokenise(text))]


def character_bytes(size: int) -> Callable[[str], list[bytes]]:
    """Slice the encoded text, four bytes a character: bytes are made faster than strings."""

    def tokenise(text: str) -> list[bytes]:
        encoded = text.encode("utf-32-le")
        starts = range(0, max(1, len(encoded) - 4 * size + 4), 4)
        return [encoded[i : i + 4 * size] for i in starts]

    return tokenise


def zipped_words(size: int) -> Callable[[str], list[str]]:
    """Join tuples of words: without a slice, and without a loop in the interpreter."""

    def tokenise(text: str) -> list[str]:
        split = text.split()
        if len(split) <= size:
            return [text]
        return list(map(" ".join, zip(*(split[i:] for i in range(size)), strict=False)))

    return tokenise
