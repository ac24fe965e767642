"""What was surely never written, told without asking the disk.

A document looks into some twenty buckets, nearly all of which were never written; neither were,
mostly, its id and its text. A sieve is a Bloom filter of the keys of one keyspace, in blocks: a key
sets two bits in each word of one block, which is half a line of the processor's cache. It lies in
memory alone. After an opening, and where one has become too small, another is filled with the keys
that are there, a little with every write, and takes over when it has them all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.config import IndexSettings
from stream_dedup.interfaces import Keyspace, Puts
from stream_dedup.similarity.compiled import Array, kernel, mix64
from stream_dedup.similarity.fetching import fetch_ahead
from stream_dedup.similarity.ragged import bounds_of

Keys = Sequence[bytes]
Hashes = NDArray[np.uint64]

_WORDS = 4  # of a block, 64 bits each
_BLOCK_BYTES = 8 * _WORDS
_AHEAD = 16  # keys, in whose time a block comes from memory
_KEYS_OF_BLOCK = 21  # some 12 bits a key: of 200 keys that were never written one passes
_BYTES_MIN = 1 << 20
_ROOM = 64  # times the keys that are there: the later another is filled, the more work that is
_SHARE = 4  # of the time between two writes, as a divisor, goes into filling one
_SECONDS_MAX = 0.025  # by which that may hold up a write
# How many parts of the memory the sieve of a keyspace may take: of a document there are some twenty
# buckets, an id and a text. What is looked for in other keyspaces is there.
_PARTS = {Keyspace.BUCKETS: 16, Keyspace.IDS: 1, Keyspace.EXACT: 1}
_PARTS_OF_MEMORY = 64


def bytes_by_keyspace(settings: IndexSettings) -> dict[Keyspace, int]:
    """Return what the sieves of a generation may take; without a window there is but one."""
    generations = 1 if settings.window == float("inf") else 2
    part = settings.memory_bytes_max // _PARTS_OF_MEMORY // generations
    return {keyspace: part * parts for keyspace, parts in _PARTS.items()}


class _Mesh:
    """A filter of one size; the more keys beyond its room, the more pass that were not written."""

    def __init__(self, keys: int, bytes_max: int) -> None:
        """Make one that has room for many more than these keys."""
        wanted = keys * _ROOM // _KEYS_OF_BLOCK * _BLOCK_BYTES
        size = min(max(wanted, _BYTES_MIN), bytes_max) // _BLOCK_BYTES
        self.blocks = np.zeros((size, _WORDS), np.uint64)
        self.keys = 0

    @property
    def is_filling_up(self) -> bool:
        return self.keys > len(self.blocks) * _KEYS_OF_BLOCK // 4

    def add(self, hashes: Hashes) -> None:
        self.keys += _add(self.blocks, hashes)


class _Filling(NamedTuple):
    mesh: _Mesh
    rest: Iterator[Keys]  # what it lacks of the keys that were there when it was begun


class Sieve:
    """The keys of a family; one thread writes, any number may ask beside it."""

    def __init__(
        self,
        written: Callable[[], Iterator[Keys]],
        estimate: int,
        bytes_max: int,
        key_bytes: int | None = None,
    ) -> None:
        """Begin with the keys that are `written`, about so many; with an estimate of 0 are none.

        It is faster if told how long all keys are.
        """
        self._written, self._estimate, self._bytes_max = written, estimate, bytes_max
        self._key_bytes = key_bytes
        self._whole = None if estimate else _Mesh(0, bytes_max)
        self._filling: _Filling | None = None
        self._asked: tuple[Keys, Hashes] | None = None
        self._filled_at = monotonic()

    @property
    def is_whole(self) -> bool:
        """Tell whether it has all keys; before that it may not be asked."""
        return self._whole is not None

    @property
    def size_bytes(self) -> int:
        """Tell what it takes in memory."""
        return sum(mesh.blocks.nbytes for mesh in self._meshes())

    def passing(self, keys: Keys) -> list[int]:
        """Return the places of those that may have been written; the others never were."""
        assert self._whole is not None
        hashes = self._hashes(keys)
        self._asked = keys, hashes
        places: list[int] = _passing(self._whole.blocks, hashes).tolist()
        return places

    def add(self, keys: Keys) -> None:
        """Take in what is about to be written; nobody changes a list of keys that was asked for."""
        asked = self._asked
        hashes = asked[1] if asked and asked[0] is keys else self._hashes(keys)
        for mesh in self._meshes():
            mesh.add(hashes)

    def settle(self) -> None:
        """Grow no more: nothing will be written."""
        if self._whole is not None:
            self._filling, self._bytes_max = None, self._whole.blocks.nbytes

    def catch_up(self) -> bool:
        """Fill another mesh for a moment, if one is wanted, and tell whether it was.

        To be called before each write.
        """
        now = monotonic()
        deadline = now + min((now - self._filled_at) / _SHARE, _SECONDS_MAX)
        if self._filling is None and self._is_wanting():
            keys = self._whole.keys if self._whole else self._estimate
            self._filling = _Filling(_Mesh(keys, self._bytes_max), self._written())
        filling = self._filling
        if filling is not None:
            self._fill(filling, deadline)
        self._filled_at = monotonic()
        return filling is not None

    def _fill(self, filling: _Filling, deadline: float) -> None:
        self._filling = None  # where it fails it has to be begun anew
        for keys in filling.rest:
            filling.mesh.add(self._hashes(keys))
            if monotonic() >= deadline:
                self._filling = filling
                return
        self._whole = filling.mesh

    def _is_wanting(self) -> bool:
        whole = self._whole
        if whole is None:
            return True
        return whole.is_filling_up and whole.blocks.nbytes + _BLOCK_BYTES <= self._bytes_max

    def _meshes(self) -> list[_Mesh]:
        filling = self._filling
        return [mesh for mesh in (self._whole, filling and filling.mesh) if mesh]

    def _hashes(self, keys: Keys) -> Hashes:
        raw = np.frombuffer(b"".join(keys), np.uint8)
        if self._key_bytes is None:
            bounds = bounds_of(list(map(len, keys)))
        elif len(raw) == self._key_bytes * len(keys):
            bounds = np.arange(0, len(raw) + 1, self._key_bytes)
        else:
            raise ValueError(f"a key of this family has {self._key_bytes} bytes")
        hashes: Hashes = _hashed(raw, bounds)
        return hashes


class Sieves(NamedTuple):
    """Those of the two generations, by keyspace; who only looks at an index has none."""

    current: Mapping[Keyspace, Sieve] = {}
    previous: Mapping[Keyspace, Sieve] = {}

    def add(self, puts: Mapping[Keyspace, Puts]) -> None:
        """Take in what is about to be written, and go on with what was there before."""
        for sieve in self._all():
            if sieve.catch_up():  # one after the other: together they would hold the write up
                break
        for keyspace, sieve in self.current.items():
            if keyspace in puts:
                sieve.add(puts[keyspace].keys)

    def rotated(self, current: Mapping[Keyspace, Sieve]) -> "Sieves":
        """Return those of a new generation, and of the one that was the current one."""
        for sieve in self.current.values():
            sieve.settle()
        return Sieves(current, self.current)

    @property
    def are_whole(self) -> bool:
        return all(sieve.is_whole for sieve in self._all())

    @property
    def size_bytes(self) -> int:
        return sum(sieve.size_bytes for sieve in self._all())

    def _all(self) -> Iterator[Sieve]:
        return chain(self.current.values(), self.previous.values())


@kernel
def _hashed(raw: Array, bounds: Array) -> Array:
    hashes = np.empty(bounds.size - 1, np.uint64)
    for index in range(hashes.size):
        end = bounds[index + 1]
        value = np.uint64(end - bounds[index])
        for start in range(bounds[index], end, 8):
            number = np.uint64(0)
            for at in range(start, min(start + 8, end)):
                number = (number << np.uint64(8)) | np.uint64(raw[at])
            value = mix64(value ^ number)
        hashes[index] = value
    return hashes


@kernel
def _block(value: np.uint64, count: int) -> np.uint64:
    return ((value >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)


@kernel
def _fetch_ahead(blocks: Array, hashes: Array, index: int) -> None:
    """Have the block of a later key on its way."""
    ahead = hashes[min(index + _AHEAD, hashes.size - 1)]
    fetch_ahead(blocks, np.int64(_block(ahead, len(blocks))))


@kernel
def _bits(value: np.uint64, word: int) -> np.uint64:
    """Return what the key sets in this word of its block."""
    spread = (value * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(16 + 12 * word)
    one = np.uint64(1)
    return one << (spread & np.uint64(63)) | one << (spread >> np.uint64(6) & np.uint64(63))


@kernel
def _add(blocks: Array, hashes: Array) -> int:
    """Return how many of the keys were not there."""
    new = 0
    for index in range(len(hashes)):
        _fetch_ahead(blocks, hashes, index)
        value = hashes[index]
        block = _block(value, len(blocks))
        missing = np.uint64(0)
        for word in range(_WORDS):
            bits = _bits(value, word)
            missing |= bits & ~blocks[block, word]
            blocks[block, word] |= bits
        new += missing != 0
    return new


@kernel
def _passing(blocks: Array, hashes: Array) -> Array:
    places = np.empty(len(hashes) + 1, np.int64)
    count = 0
    for index in range(len(hashes)):
        _fetch_ahead(blocks, hashes, index)
        value = hashes[index]
        block = _block(value, len(blocks))
        missing = np.uint64(0)
        for word in range(_WORDS):
            missing |= _bits(value, word) & ~blocks[block, word]
        places[count] = index
        count += missing == 0
    return places[:count]
