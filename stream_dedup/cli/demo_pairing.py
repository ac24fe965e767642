"""Two texts beside each other, with the words in which they differ made plain."""

from difflib import SequenceMatcher
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from stream_dedup.events import Document, Match
from stream_dedup.feed.newsroom import Role

_WORDS_MAX = 500  # of a text; comparing takes the square of it
_WORDS_BEFORE = 6  # the first difference, so that one sees where in the text it is
_BESIDE_WIDTH_MIN = 64  # in narrower terminals texts stand one above the other
_ONLY_EARLIER = "bold red"
_ONLY_LATER = "bold green"
_GAP = 3


class Pairing(NamedTuple):
    """A document and the earlier one that it was said to be most like."""

    role: Role
    document: Document
    other: Document
    match: Match
    planted: bool  # that it is a copy of that one

    @property
    def title(self) -> Text:
        """Say what it is and how sure that is."""
        match = self.match
        error = f" ± {match.error:.3f}" if match.error else ""
        planted = (f"  planted as: {self.role}", "dim")
        mistaken = (f"  not planted, it is: {self.role}", "bold yellow")
        return Text.assemble(
            (f"{match.kind} {match.similarity:.3f}", "bold"), error,
            planted if self.planted else mistaken,
        )  # fmt: skip


def side_by_side(pairing: Pairing, console: Console, width: int, lines: int) -> RenderableType:
    """Draw both, each in so many lines, from shortly before where they first differ."""
    beside = width >= _BESIDE_WIDTH_MIN
    column = (width - _GAP) // 2 if beside else width
    texts = _marked(pairing.other.text, pairing.document.text)
    cells = [
        Group(_source(document, column), _first_lines(text, console, column, lines))
        for document, text in zip((pairing.other, pairing.document), texts, strict=True)
    ]
    if not beside:
        return Group(pairing.title, *cells)
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(width=column)
    grid.add_column(width=column)
    grid.add_row(*cells)
    return Group(pairing.title, grid)


def _source(document: Document, width: int) -> Text:
    time = f"{document.published_at:%H:%M} " if document.published_at else ""
    line = Text(f"{time}{document.source} · {document.id}", style="cyan", no_wrap=True)
    line.truncate(width, overflow="ellipsis")
    return line


def _marked(earlier: str, later: str) -> tuple[Text, Text]:
    """Mark the words that only one of the texts has, and leave out what stands far before them."""
    words = earlier.split()[:_WORDS_MAX], later.split()[:_WORDS_MAX]
    differ: tuple[set[int], set[int]] = set(), set()
    steps = SequenceMatcher(None, *words, autojunk=False).get_opcodes()
    for step, *spans in steps:
        if step != "equal":
            differ[0].update(range(*spans[:2]))
            differ[1].update(range(*spans[2:]))
    first = next(((a, b) for step, a, _, b, _ in steps if step != "equal"), (0, 0))
    return (
        _styled(words[0], differ[0], first[0] - _WORDS_BEFORE, _ONLY_EARLIER),
        _styled(words[1], differ[1], first[1] - _WORDS_BEFORE, _ONLY_LATER),
    )


def _styled(words: list[str], marked: set[int], start: int, style: str) -> Text:
    start = max(0, start)
    text = Text("… " if start else "")
    for place, word in enumerate(words[start:], start):
        text.append(word, style if place in marked else None)
        text.append(" ")
    return text


def _first_lines(text: Text, console: Console, width: int, lines: int) -> Text:
    return Text("\n").join(text.wrap(console, width)[:lines])
