"""Meetings, full buckets and rewriting, beside plain lists that say the same."""

import random
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.index.columns import decode_buckets
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.interfaces import Changes, Keyspace
from stream_dedup.matching.buckets import fetch, meet, rewritten
from stream_dedup.matching.crowds import Crowds
from stream_dedup.matching.logtime import NEVER
from stream_dedup.matching.overlay import Buckets
from stream_dedup.similarity.ragged import Ragged

BANDS = 3


class Model:
    """Buckets as lists: what each document meets, and what is left of whom."""

    def __init__(self, size_max: int) -> None:
        self.size_max = size_max
        self.lists: dict[tuple[int, int], list[int]] = {}
        self.capped: dict[tuple[int, int], bool] = {}

    def met(self, keys: list[int]) -> Counter[int]:
        return Counter(
            position for name in enumerate(keys) for position in self.lists.get(name, [])
        )

    def hiding(self, keys: list[int], dead: set[int]) -> int:
        return sum(
            self.capped.get(name, False)
            and len([entry for entry in self.lists[name] if entry not in dead]) >= self.size_max
            for name in enumerate(keys)
        )

    def insert(self, keys: list[int], position: int, dead: set[int], kept: set[int]) -> None:
        for name in enumerate(keys):
            entries = [entry for entry in self.lists.get(name, []) if entry not in dead]
            self.capped[name] = len(entries) >= self.size_max
            while len(entries) >= self.size_max:
                entries.remove(next((entry for entry in entries if entry not in kept), entries[0]))
            self.lists[name] = [*entries, position]


class Arrays:
    """The buckets under test, over an index in memory, a piece at a time."""

    def __init__(self, size_max: int) -> None:
        self.index = MemoryIndex()
        self.size_max = size_max

    def piece(
        self,
        keys: list[list[int]],
        inserts: list[bool],
        positions: list[int],
        dead: set[int],
        kept: set[int],
    ) -> list[tuple[Counter[int], int]]:
        """Let these documents look and insert in turn; return what each saw."""
        buckets = Buckets()
        shelf = fetch(self.index, buckets, np.array(keys, np.uint64) << np.uint64(40))
        known = np.unique(shelf.positions.values)
        entries = Ragged(np.searchsorted(known, shelf.positions.values), shelf.positions.bounds)
        flags = np.array(inserts)
        meetings = meet(shelf, entries, len(known), flags)
        crowds = Crowds(shelf, entries, meetings, flags, self.size_max)
        names = np.concatenate([known, np.array(positions)])
        seen = np.array([NEVER if name in dead else 0 for name in names.tolist()], np.int64)
        keep = np.isin(names, list(kept))
        told = []
        for place in range(len(keys)):
            mine = meetings.documents == place
            groups, bands, capped = meetings.groups[mine], meetings.bands[mine], 0
            if crowds.members[place]:
                bands = crowds.look(place, groups, len(known))
                capped = crowds.hiding(place, seen, 0)
                if inserts[place]:
                    crowds.insert(place, len(known) + place, seen, 0, keep)
            pairs = zip(names[groups].tolist(), bands.tolist(), strict=True)
            told.append((Counter(dict(pairs)), capped))
        none = np.zeros(len(keys), np.bool_)
        put = rewritten(shelf, entries, crowds.lists, flags, none, seen >= 0, names)
        buckets.put(*put)
        self.index.write(Changes({Keyspace.BUCKETS: buckets.changes()}, {}, {}))
        return told

    def stored(self) -> dict[bytes, tuple[list[int], bool]]:
        rows = dict(self.index.scan(Keyspace.BUCKETS))
        found = {}
        for key, value in rows.items():
            positions, _, capped = decode_buckets([value])
            found[key] = (positions.tolist(), bool(capped[0]))
        return found


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 5))
def test_arrays_say_what_lists_say(seed: int, size_max: int, pieces: int) -> None:
    """Who meets whom in how many bands, who is hidden, and who stays, in any stream of pieces."""
    chance = random.Random(seed)
    model, arrays = Model(size_max), Arrays(size_max)
    dead: set[int] = set()
    kept: set[int] = set()
    position = 0
    for _ in range(pieces):
        dead |= {entry for entry in range(position) if chance.random() < 0.1}
        kept |= {entry for entry in range(position) if chance.random() < 0.2}
        count = chance.randint(1, 8)
        keys = [[chance.randint(1, 3) for _ in range(BANDS)] for _ in range(count)]
        inserts = [chance.random() < 0.8 for _ in range(count)]
        positions = list(range(position, position + count))
        position += count
        told = arrays.piece(keys, inserts, positions, dead, kept)
        for place, (met, capped) in enumerate(told):
            expected = Counter(
                {p: n for p, n in model.met(keys[place]).items() if p not in dead and n}
            )
            assert Counter({p: n for p, n in met.items() if p not in dead and n}) == expected
            assert capped == model.hiding(keys[place], dead)
            if inserts[place]:
                model.insert(keys[place], positions[place], dead, kept)
    for key, (entries, capped) in arrays.stored().items():
        name = key[0], int.from_bytes(key[1:], "big") >> 16
        assert entries == model.lists[name]
        assert capped == model.capped[name]


def test_a_crowd_needs_more_room_than_was_guessed() -> None:
    """A piece in which all meet all is found whole."""
    count = 60
    told = Arrays(1000).piece([[1, 2, 3]] * count, [True] * count, [*range(count)], set(), set())

    assert [len(met) for met, _ in told] == list(range(count))
    assert all(bands == BANDS for met, _ in told for bands in met.values())
