"""The contestants of `benchmarks.sign`: ours from raw text, the others on normalised text."""

import os
from collections.abc import Iterator, Sequence
from importlib import import_module, util
from typing import Literal, NamedTuple

import numpy as np
from datasketch import MinHash as DatasketchMinHash
from gaoya.minhash import MinHashStringIndex
from numpy.typing import NDArray
from rensa import RMinHash

from benchmarks import tokens
from benchmarks.rounds import Call
from stream_dedup.similarity.bands import band_keys
from stream_dedup.similarity.minhash import MinHash
from stream_dedup.similarity.ragged import Ragged, Room
from stream_dedup.similarity.shingles import Shingling
from stream_dedup.similarity.text import as_text, normalise

HASHES, BANDS, ROWS = 128, 21, 6
THRESHOLD = 0.8
SEED = 42

OURS = "stream_dedup"


class Cut(NamedTuple):
    """How texts are cut into shingles."""

    unit: Literal["char", "word"]
    size: int

    def __str__(self) -> str:
        return f"{self.unit}-{self.size}"


class Contestant(NamedTuple):
    """A library's call on one collection of texts."""

    name: str
    note: str
    call: Call


class Signer:
    """What the product does with a batch up to its band keys, in chunks of the product's size."""

    CHUNK_CHARACTERS = 1 << 18

    def __init__(self, cut: Cut, multiset: bool = False) -> None:
        self.shingling = Shingling(cut.unit, cut.size, multiset)
        self.family = MinHash(HASHES, self.shingling.seed)

    def sign(self, texts: Sequence[str]) -> list[NDArray[np.uint64]]:
        """Return the band keys of each chunk."""
        text_room, hash_room = Room(), Room()
        return [
            self.keys(self.values(self.hashes(normalise(chunk, text_room), hash_room)))
            for chunk in self.chunks(texts)
        ]

    def chunks(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        """Cut a batch of texts of about one length."""
        count = self.CHUNK_CHARACTERS // max(1, len(texts[0])) + 1
        yield from (texts[start : start + count] for start in range(0, len(texts), count))

    def hashes(self, rows: Ragged, room: Room | None = None) -> Ragged:
        """Return what is signed."""
        hashes = self.shingling.hashes(rows, room)
        return self.shingling.elements(hashes) if self.shingling.multiset else hashes

    def values(self, hashes: Ragged) -> NDArray[np.uint32]:
        """Return the signatures."""
        return self.family.sign(hashes)

    def keys(self, values: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """Return the band keys."""
        return band_keys(values, BANDS, ROWS)


def normalised(texts: Sequence[str]) -> list[str]:
    """Return the texts as they are compared."""
    rows = normalise(texts)
    return [as_text(rows.row(index)) for index in range(rows.rows)]


def contestants(texts: Sequence[str], cut: Cut) -> list[Contestant]:
    """Return ours and the other libraries' calls, all for one thread."""
    # Both are read at each call: no pool of threads, and no thread that hashes ahead.
    os.environ.update(RAYON_NUM_THREADS="1", RENSA_PIPELINE_QUEUE_CAP="0")
    plain = normalised(texts)
    signer = Signer(cut)
    ours = Contestant(OURS, "raw text to signatures and band keys", lambda: signer.sign(texts))
    others = [*_datasketch(plain, cut), *_rensa(plain, cut), _gaoya(plain, cut)]
    return [ours, *others, *_simhash(plain, cut)]


def _datasketch(texts: list[str], cut: Cut) -> Iterator[Contestant]:
    plain = tokens.characters if cut.unit == "char" else tokens.words
    tokenise = tokens.distinct(plain(cut.size))

    def sign(**options: object) -> object:
        return DatasketchMinHash.bulk(map(tokenise, texts), num_perm=HASHES, **options)

    yield Contestant("datasketch", "`MinHash.bulk`, its default hash (SHA-1)", sign)
    if util.find_spec("xxhash"):
        hash_function = import_module("xxhash").xxh32_intdigest
        note = "the same with `hashfunc=xxhash.xxh32_intdigest`"
        yield Contestant("datasketch + xxhash", note, lambda: sign(hashfunc=hash_function))


def _rensa(texts: list[str], cut: Cut) -> Iterator[Contestant]:
    character = cut.unit == "char"
    plain = (tokens.characters if character else tokens.words)(cut.size)
    quick = tokens.character_bytes(cut.size) if character else tokens.zipped_words(cut.size)

    def sign(tokenise: tokens.Tokenise) -> object:
        return RMinHash.digest_matrix_from_token_sets(map(tokenise, texts), HASHES, SEED)

    yield Contestant("rensa", "`RMinHash.digest_matrix_from_token_sets`", lambda: sign(plain))
    way = "windows of UTF-32 bytes" if character else "words joined from `zip`"
    yield Contestant("rensa, quick tokens", f"the same on {way}", lambda: sign(quick))


def _gaoya(texts: list[str], cut: Cut) -> Contestant:
    def sign() -> object:
        index = MinHashStringIndex(
            hash_size=32,
            jaccard_threshold=THRESHOLD,
            num_bands=BANDS,
            band_size=ROWS,
            analyzer=cut.unit,
            ngram_range=(cut.size, cut.size),
            id_container="vec",
        )
        for number, text in enumerate(texts):
            index.insert_document(number, text)
        return index

    note = "`MinHashStringIndex.insert_document`, shingles made in Rust, 126 functions"
    return Contestant("gaoya", note, sign)


def _simhash(texts: list[str], cut: Cut) -> Iterator[Contestant]:
    if not util.find_spec("simhash"):
        return
    tokenise = (tokens.characters if cut.unit == "char" else tokens.words)(cut.size)
    simhash = import_module("simhash").Simhash
    note = "`Simhash(shingles)`: 64 bits, no functions and no bands"
    yield Contestant("simhash", note, lambda: [simhash(tokenise(text)) for text in texts])
