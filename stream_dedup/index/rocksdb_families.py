"""An open database of RocksDB and its column families."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import NamedTuple

from rocksdict import Options, Rdict, ReadOptions


def past_the_cache() -> ReadOptions:
    """Return how to read past the cache; a `get` of several keys heeds only what its handle has."""
    options = ReadOptions()
    options.fill_cache(False)  # type: ignore[call-arg]  # the stub forgets the argument
    return options


class Family(NamedTuple):
    """A column family."""

    rows: Rdict
    sparing: Rdict  # the same; what `get` reads of it is not kept in the cache
    turns: Iterator[int]  # of its look-ups

    @classmethod
    def of(cls, database: Rdict, name: str) -> "Family":
        """Find one that exists."""
        rows, sparing = (database.get_column_family(name) for _ in range(2))
        sparing.set_read_options(past_the_cache())
        return cls(rows, sparing, count(1))

    def close(self) -> None:
        """Let go of it."""
        with ExitStack() as closing:
            closing.callback(self.rows.close)
            closing.callback(self.sparing.close)


class Families(NamedTuple):
    """An open database and its families by name."""

    database: Rdict
    by_name: dict[str, Family]
    generation: str
    options: dict[str, Options]

    def create(self, names: Iterable[str]) -> None:
        """Create those that are missing."""
        for name in names:
            if name not in self.by_name:
                self.database.create_column_family(name, self.options[name])
                self.by_name[name] = Family.of(self.database, name)

    def drop(self, name: str) -> None:
        """Forget a family and its files; who holds it may read on."""
        self.database.drop_column_family(name)
        del self.by_name[name]

    def close(self) -> None:
        """Write everything to files and let go of all of them, even where one fails."""
        with ExitStack() as closing:
            closing.callback(self.database.close)
            for family in self.by_name.values():
                closing.callback(family.close)
