"""Sketches: from texts to all that is compared of them, in batches.

The straight line of this package: normalise, shingle, sign, reduce to band keys.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.config import SimilaritySettings
from stream_dedup.similarity import fused
from stream_dedup.similarity.bands import band_keys, check, weights
from stream_dedup.similarity.compiled import Array
from stream_dedup.similarity.curve import Measure
from stream_dedup.similarity.elements import keep_short
from stream_dedup.similarity.fingerprint import fingerprints, key
from stream_dedup.similarity.html import strip_tags
from stream_dedup.similarity.minhash import MinHash
from stream_dedup.similarity.plan import plan_bands
from stream_dedup.similarity.ragged import Ragged, stack, take
from stream_dedup.similarity.shingles import Shingling
from stream_dedup.similarity.simhash import SimHash
from stream_dedup.similarity.text import normalise

Html = Literal["keep", "strip"]

# A chunk's code points stay in the third-level cache, and a chunk of any texts is worth a call.
_CHUNK_CHARACTERS = 1 << 20
_CHUNK_DOCUMENTS = 4096


class Sketches(NamedTuple):
    """What is compared of a batch of documents, a row each."""

    signatures: Array  # [document, value]: 16 bits of each minimum, or a byte for each bit
    keys: NDArray[np.uint64]
    fingerprints: NDArray[np.uint64]
    sizes: NDArray[np.int64]  # elements; 0 for a document without text
    short: Ragged  # the elements of documents that have fewer of them than signature values

    def rows(self, indexes: NDArray[np.integer]) -> "Sketches":
        """Return the sketches of these documents, in that order."""
        return Sketches(
            self.signatures[indexes],
            self.keys[indexes],
            self.fingerprints[indexes],
            self.sizes[indexes],
            take(self.short, indexes),
        )


def join_sketches(pieces: Sequence[Sketches]) -> Sketches:
    """Return the documents of all pieces, in order, as one batch."""
    return Sketches(
        np.concatenate([piece.signatures for piece in pieces]),
        np.concatenate([piece.keys for piece in pieces]),
        np.concatenate([piece.fingerprints for piece in pieces]),
        np.concatenate([piece.sizes for piece in pieces]),
        stack([piece.short for piece in pieces]),
    )


class Sketcher:
    """Turns texts into sketches; calls from several threads do not disturb each other."""

    def __init__(
        self,
        shingling: Shingling,
        hashes: int,
        bands: int,
        rows: int,
        measure: Measure = "jaccard",
        html: Html = "keep",
    ) -> None:
        self.shingling = shingling
        self.measure = measure
        self.hashes = hashes
        self.bands = bands
        self.rows = rows
        self._html = html
        check(bands, rows, hashes)
        seed = shingling.seed
        self._line = None
        if measure == "jaccard":
            self._line = fused.Line(
                shingling.cut(),
                shingling.multiset,
                MinHash(hashes, seed).functions,
                weights(rows),
                key(seed),
            )
        else:
            self._simhash = SimHash(hashes, seed)

    @classmethod
    def planned(cls, settings: SimilaritySettings) -> "Sketcher":
        """Return the sketcher of these settings, with bands planned where they name none."""
        bands, rows = settings.bands, settings.rows
        if bands is None or rows is None:
            plan = plan_bands(
                settings.threshold, settings.recall, settings.hashes, settings.measure
            )
            bands, rows = plan.bands, plan.rows
        shingling = Shingling(settings.unit, settings.size, settings.multiset, settings.seed)
        return cls(shingling, settings.hashes, bands, rows, settings.measure, settings.html)

    def sketch(self, texts: Sequence[str], salts: NDArray[np.uint64] | None = None) -> Sketches:
        """Return the sketches of a batch, in its order; a salt sets a text's band keys apart."""
        if salts is None:
            salts = np.zeros(len(texts), np.uint64)
        chunks = [self._sketch_chunk(texts[chunk], salts[chunk]) for chunk in _chunks(texts)]
        sketches = chunks[0] if len(chunks) == 1 else join_sketches(chunks)
        return sketches._replace(short=self.ordered(sketches.short))

    def elements(self, texts: Sequence[str]) -> Ragged:
        """Return what the exact measure compares of each text."""
        return self.ordered(self.shingling.hashes(self.normalise(texts)))

    def ordered(self, hashes: Ragged) -> Ragged:
        """Return the exact measure's elements: distinct ones for Jaccard, counts for cosine."""
        return self.shingling.elements(hashes, counts=self.measure == "cosine")

    def normalise(self, texts: Sequence[str]) -> Ragged:
        """Return the texts' code points as they are compared."""
        return normalise(self._plain(texts))

    def _plain(self, texts: Sequence[str]) -> Sequence[str]:
        return [strip_tags(text) for text in texts] if self._html == "strip" else texts

    def _sketch_chunk(self, texts: Sequence[str], salts: NDArray[np.uint64]) -> Sketches:
        if self._line is None:
            return self._simhash_chunk(texts, salts)
        return Sketches(*fused.sketch(self._plain(texts), self._line, self.bands, salts))

    def _simhash_chunk(self, texts: Sequence[str], salts: NDArray[np.uint64]) -> Sketches:
        rows = self.normalise(texts)
        hashes = self.shingling.hashes(rows)
        values = self._simhash.sign(hashes)
        return Sketches(
            signatures=values,
            keys=band_keys(values, self.bands, self.rows, salts),
            fingerprints=fingerprints(rows, self.shingling.seed),
            sizes=self.shingling.sizes(hashes),
            short=keep_short(hashes, self.hashes),
        )


def _chunks(texts: Sequence[str]) -> Iterator[slice]:
    """Cut a batch where a chunk is full; an empty batch is one empty chunk."""
    start = characters = 0
    for index, text in enumerate(texts):
        characters += len(text)
        if characters >= _CHUNK_CHARACTERS or index - start >= _CHUNK_DOCUMENTS:
            yield slice(start, index + 1)
            start, characters = index + 1, 0
    if start < len(texts) or not texts:
        yield slice(start, len(texts))
