"""A corpus: the documents of some files and pipes in order, signed in parallel, read again at need.

A document's position is its number among the accepted ones. Texts pass through and are not kept.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from stream_dedup.errors import DocumentRejected, InputError
from stream_dedup.events import Document, DocumentDecoder
from stream_dedup.files import Block, Source
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.sketch import Sketcher, Sketches

Item = TypeVar("Item")
Result = TypeVar("Result")


class RejectedLine(NamedTuple):
    """A line that is no document, and why."""

    source: str
    number: int
    reason: str


class Signed(NamedTuple):
    """The documents of one block of lines."""

    ids: list[str]
    sketches: Sketches
    lines: NDArray[np.int64]  # the number of each among all lines of the corpus
    rejected: list[RejectedLine]
    bytes_read: int


class Corpus:
    """Reads sources through a decoder and signs what it reads, in several threads."""

    def __init__(
        self,
        sources: Sequence[Source],
        decoder: DocumentDecoder,
        sketcher: Sketcher,
        threads: int,
    ) -> None:
        self._sources = sources
        self._decoder = decoder
        self.sketcher = sketcher
        self.threads = threads

    @property
    def size(self) -> int | None:
        """Bytes on disk, unknown if there is a pipe."""
        sizes = [source.size for source in self._sources]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def sign(self) -> Iterator[Signed]:
        """Yield all documents, signed, in order."""
        return map_ordered(self._sign_block, self._numbered_blocks(), self.threads)

    def elements(self, lines: NDArray[np.int64]) -> Iterator[tuple[Ragged, int]]:
        """Yield the elements of the documents on these ascending lines, and the bytes read."""

        def read(numbered: tuple[int, Block]) -> tuple[Ragged, int]:
            first, block = numbered
            start, end = np.searchsorted(lines, (first, first + len(block.lines)))
            texts = [self._text_again(block, line - first) for line in lines[start:end].tolist()]
            return self.sketcher.elements(texts), block.bytes_read

        found = 0
        for rows, bytes_read in map_ordered(read, self._numbered_blocks(), self.threads):
            found += rows.rows
            yield rows, bytes_read
        if found < len(lines):
            raise InputError("an input became shorter while it was read")

    def _numbered_blocks(self) -> Iterator[tuple[int, Block]]:
        number = 0
        for source in self._sources:
            for block in source.blocks():
                yield number, block
                number += len(block.lines)

    def _sign_block(self, numbered: tuple[int, Block]) -> Signed:
        first, block = numbered
        documents: list[Document] = []
        lines: list[int] = []
        rejected: list[RejectedLine] = []
        for index, line in enumerate(block.lines):
            if not line or line.isspace():
                continue
            try:
                documents.append(self._decoder.decode(line))
                lines.append(first + index)
            except DocumentRejected as rejection:
                number = block.first_line + index
                rejected.append(RejectedLine(block.source, number, rejection.reason))
        return Signed(
            [document.id for document in documents],
            self.sketcher.sketch([document.text for document in documents]),
            np.array(lines, np.int64),
            rejected,
            block.bytes_read,
        )

    def _text_again(self, block: Block, index: int) -> str:
        try:
            return self._decoder.decode(block.lines[index]).text
        except DocumentRejected:
            raise InputError(f"{block.source} changed while it was read") from None


def find_texts(source: Source, decoder: DocumentDecoder, ids: set[str]) -> dict[str, str]:
    """Return the texts of the first documents with these ids, by id; stop when all are found."""
    texts: dict[str, str] = {}
    for block in source.blocks():
        for line in block.lines:
            with suppress(DocumentRejected):
                document = decoder.decode(line)
                if document.id in ids:
                    texts.setdefault(document.id, document.text)
        if len(texts) == len(ids):
            break
    return texts


def map_ordered(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Yield function(item) for each item, in order; only a few are under way at a time."""
    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[Future[Result]] = deque()
        try:
            for item in items:
                under_way.append(pool.submit(function, item))
                if len(under_way) > 2 * threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
