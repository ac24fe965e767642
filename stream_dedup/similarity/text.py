"""Text as it is compared: NFKC, casefold, NFKC; format characters dropped; words one space apart.

The rule is the same for every script. What is neither letter, number nor mark separates words, and
a lone surrogate or a NUL is such a thing. Normalising is one table look-up per code point. This is
right because a text whose code points are replaced one by one by their normal forms is itself in
normal form unless a code point may combine with what stands before it, or marks stand out of order
(the quick check of Unicode's annex 15). Texts of that kind are composed by `unicodedata` first.
"""

import functools
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.similarity.code_points import code_points
from stream_dedup.similarity.compiled import Array, kernel
from stream_dedup.similarity.ragged import Ragged, Room, bounds_of, replace_rows

UNICODE_VERSION = unicodedata.unidata_version

# A table entry is a code point to write, or one of these kinds in the top byte with a number below.
_DROP = 1 << 24  # nothing is written
_MARK = 2 << 24  # itself, if the class of the mark before it is not above its own (the number)
_EXPAND = 3 << 24  # the run of code points of that number
_EXPAND_MARKED = 4 << 24  # the same, and it ends in a mark: no mark may follow
_COMPOSE = 5 << 24  # may combine with what stands before it: the text goes to `unicodedata`
_JOIN = (
    6 << 24
)  # a letter that may combine, but only with a `joinable` right before it; else _EXPAND

_SPACE = 0x20
EXPANSION_MAX = 18  # the longest normal form of a code point, U+FDFA's
_RUN_MAX = 30  # marks on one letter that `unicodedata` may put in order: no language has as many

# Planes 0 to 3 and 14 hold every character so far; all else is unassigned or private: a space.
_ASSIGNED = (range(0x40000), range(0xE0000, 0xE0200))


class Rules(NamedTuple):
    """What a kernel needs to know."""

    entries: NDArray[np.uint32]
    joinable: NDArray[np.bool_]
    expansions: Ragged


def normalise(texts: Sequence[str], room: Room | None = None) -> Ragged:
    """Return each text's normalised code points, in `room` if it is given."""
    rows, to_compose = _look_up(texts, rules(), room or Room())
    if not to_compose.any():
        return rows
    plain, _ = _look_up(composed(texts, to_compose), rules_of_composed(), Room())
    return replace_rows(rows, to_compose, plain)


def rules() -> Rules:
    """Return the rules for any text."""
    tables = _tables()
    return Rules(tables.entries, tables.joinable, tables.expansions)


def rules_of_composed() -> Rules:
    """Return the rules for texts that were composed."""
    return rules()._replace(entries=_tables().composed)


def as_text(code_points: NDArray[np.uint32]) -> str:
    """Return normalised code points as a string."""
    return code_points.tobytes().decode("utf-32-le")


class _Tables(NamedTuple):
    entries: NDArray[np.uint32]  # for any text
    composed: NDArray[np.uint32]  # for texts that are in normal form already
    joinable: NDArray[np.bool_]
    marks: NDArray[np.bool_]  # what is put in order after a letter
    expansions: Ragged


def composed(texts: Sequence[str], marked: NDArray[np.bool_]) -> list[str]:
    """Return those that are marked in normal form, for `rules_of_composed`."""
    return [_compose(texts[index]) for index in np.flatnonzero(marked).tolist()]


def _compose(text: str) -> str:
    form = unicodedata.normalize("NFKC", _in_order(text))
    return unicodedata.normalize("NFKC", form.casefold())


def _in_order(text: str) -> str:
    """Put long runs of marks in order; `unicodedata` takes the square of their length for it."""
    marks = _tables().marks[code_points([text])]
    if bytes([1] * (_RUN_MAX + 1)) not in marks.tobytes():
        return text
    runs = np.flatnonzero(np.diff(marks, prepend=False, append=False)).reshape(-1, 2)
    pieces = []
    at = 0
    for start, end in runs[np.diff(runs).ravel() > _RUN_MAX].tolist():
        run = text[start:end]
        forms = {ord(mark): unicodedata.normalize("NFKD", mark) for mark in set(run)}
        pieces += [text[at:start], *sorted(run.translate(forms), key=unicodedata.combining)]
        at = end
    return "".join([*pieces, text[at:]])


def _look_up(texts: Sequence[str], rules: Rules, room: Room) -> tuple[Ragged, NDArray[np.bool_]]:
    """Return the rows, and which of them were left empty because they must be composed first."""
    bounds = bounds_of([len(text) for text in texts])
    codes = code_points(texts)
    capacity = codes.size + EXPANSION_MAX
    while True:
        out = room.of(capacity, np.uint32)
        out_bounds = np.zeros(bounds.size, np.int64)
        to_compose = np.zeros(len(texts), np.bool_)
        if normalise_rows(codes, bounds, rules, out, out_bounds, to_compose):
            return Ragged(out[: out_bounds[-1]], out_bounds), to_compose
        capacity *= 2


@kernel
def normalise_rows(
    codes: Array,
    bounds: Array,
    rules: Rules,
    out: Array,
    out_bounds: Array,
    to_compose: Array,
) -> bool:
    """Write each row's normal form; return False where `out` has no room for it.

    A text to compose first is marked, and its row left empty.
    """
    at = 0
    for row in range(bounds.size - 1):
        source = codes[bounds[row] : bounds[row + 1]]
        target = out[at:]
        if target.size <= source.size:
            return False
        written = _normalise_row(source, rules, target)
        if written == -1:
            return False
        if written == -2:
            to_compose[row] = True
            written = 0
        at += written
        out_bounds[row + 1] = at
    return True


@kernel
def _normalise_row(source: Array, rules: Rules, target: Array) -> int:
    """Return how many code points were written, -1 for no room, -2 for a text to compose first."""
    table, joinable, runs = rules
    expansions, expansion_bounds = runs
    n = np.uint64(0)
    one = np.uint64(1)
    last = np.uint32(32)
    for i in range(source.size):
        entry = table[source[i]]
        if entry < np.uint32(1 << 24):
            target[n] = entry
            n += np.uint64((entry | last) != np.uint32(32))  # not the second of two spaces
            last = entry
            continue
        kind = entry >> np.uint32(24)
        number = entry & np.uint32(0xFFFFFF)
        if kind == 2:
            before = table[source[i - 1]] if i > 0 else np.uint32(0)
            before_kind = before >> np.uint32(24)
            if before_kind == 4 or (before_kind == 2 and (before & np.uint32(0xFFFFFF)) > number):
                return -2
            last = np.uint32(source[i])
            target[n] = last
            n += one
        elif kind == 5 or (kind == 6 and i > 0 and joinable[source[i - 1]]):
            return -2
        elif kind != 1:
            if np.int64(n) + EXPANSION_MAX + source.size - i > target.size:
                return -1
            for j in range(expansion_bounds[number], expansion_bounds[number + 1]):
                entry = expansions[j]
                target[n] = entry
                n += np.uint64((entry | last) != np.uint32(32))  # not the second of two spaces
                last = entry
    if n > 0 and last == 32:
        n -= one
    return int(n)


@functools.cache
def _tables() -> _Tables:
    entries = np.full(0x110000, _SPACE, np.uint32)
    composed = np.full(0x110000, _SPACE, np.uint32)
    joinable = np.zeros(0x110000, np.bool_)
    marks = np.zeros(0x110000, np.bool_)
    firsts, seconds = _compositions()
    special = firsts | seconds
    expansions: list[str] = []
    for code in (code for assigned in _ASSIGNED for code in assigned):
        character = chr(code)
        category = unicodedata.category(character)
        if category in ("Cn", "Cs", "Co"):
            continue
        if category == "Lo" and character not in special and _is_settled(character):
            entries[code] = composed[code] = code  # most of all: ideographs, syllables
            continue
        before, after = forms = _forms(character)
        composed[code] = _plain_entry(character, category)
        entries[code] = _entry(character, category, forms, seconds, expansions)
        joinable[code] = before[-1] in firsts or after[-1] in firsts
        marks[code] = unicodedata.combining(before[0])
    values = np.array([ord(c) for text in expansions for c in text], np.uint32)
    runs = Ragged(values, bounds_of([len(text) for text in expansions]))
    return _Tables(entries, composed, joinable, marks, runs)


def _is_settled(character: str) -> bool:
    return not unicodedata.decomposition(character) and character.casefold() == character


def _forms(character: str) -> tuple[str, str]:
    """Return what a character becomes before and after case is folded."""
    if _is_settled(character):
        return character, character
    form = unicodedata.normalize("NFKC", character)
    return form, unicodedata.normalize("NFKC", form.casefold())


def _plain_entry(character: str, category: str) -> int:
    if category == "Cf":
        return _DROP
    return ord(character) if category[0] in "LNM" else _SPACE


def _entry(
    character: str,
    category: str,
    forms: tuple[str, str],
    seconds: frozenset[str],
    expansions: list[str],
) -> int:
    mark_class = unicodedata.combining(character)
    settled = forms == (character, character) and character not in seconds
    if settled:
        return _MARK | mark_class if mark_class else _plain_entry(character, category)
    if any(unicodedata.combining(form[0]) for form in forms):
        return _COMPOSE
    kind = _EXPAND_MARKED if any(unicodedata.combining(form[-1]) for form in forms) else _EXPAND
    if any(form[0] in seconds for form in forms):
        if kind == _EXPAND_MARKED:
            return _COMPOSE
        kind = _JOIN
    final = [_plain_entry(c, unicodedata.category(c)) for c in forms[1]]
    written = [entry for entry in final if entry != _DROP]
    if kind == _EXPAND and len(final) == 1:
        return final[0]
    expansions.append("".join(map(chr, written)))
    return kind | (len(expansions) - 1)


def _compositions() -> tuple[frozenset[str], frozenset[str]]:
    """Return the characters with which a following letter composes, and all that compose backwards.

    A following mark is no concern of the former: a mark that may compose always sends its text to
    `unicodedata`.
    """
    firsts = {chr(code) for code in (*range(0x1100, 0x1113), *range(0xAC00, 0xD7A4, 28))}
    seconds = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for code in (code for assigned in _ASSIGNED for code in assigned):
        parts = unicodedata.decomposition(chr(code)).split()
        composes = len(parts) == 2 and not parts[0].startswith("<")
        if composes and unicodedata.normalize("NFC", chr(code)) == chr(code):
            first, second = (chr(int(part, 16)) for part in parts)
            seconds.add(second)
            if not unicodedata.combining(second):
                firsts.add(first)
    return frozenset(firsts), frozenset(seconds)
