"""Look-ups of many keys: what was surely never written is passed over, the rest is shared.

RocksDB does not hold the interpreter's lock while it looks up, so a second thread is of help.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

from rocksdict import Rdict

from stream_dedup.index.rocksdb_families import Family
from stream_dedup.index.sieve import Sieve

Keys = Sequence[bytes]
Values = list[bytes | None]

# RocksDB sorts what it is asked for and works on it: so much of that stays in the caches, and two
# threads that take one call after the other are done at about the same time.
_KEYS_OF_A_CALL = 192
_KEYS_ALONE = 64  # so few are not worth a second thread
# Of a large index hardly a block is read twice: each would drive another one out of the cache, in
# vain, and filters too. What is wanted again and again is there when its turn comes.
_KEPT_ONE_IN = 8  # look-ups: that one leaves in the cache what it read


def get(helper: Executor, family: Family, keys: Keys, sieve: Sieve | None) -> Values:
    """Return the value of each key, or None; a sieve spares most of the asking."""
    if sieve and not sieve.is_whole:  # after an opening: all is asked for, the cache is empty
        return _get(helper, family.rows, keys)
    rows = family.sparing if next(family.turns) % _KEPT_ONE_IN else family.rows
    if sieve is None:
        return _get(helper, rows, keys)
    found: Values = [None] * len(keys)
    places = sieve.passing(keys)
    put(found, places, _get(helper, rows, [keys[place] for place in places]))
    return found


def _get(helper: Executor, rows: Rdict, keys: Keys) -> Values:
    size = min(max(_KEYS_ALONE, -(-len(keys) // 2)), _KEYS_OF_A_CALL)
    starts = range(0, len(keys), size)
    waiting = iter(starts)  # both threads take from it
    found: dict[int, Any] = {}

    def look_up() -> None:
        for start in waiting:
            found[start] = rows.get(list(keys[start : start + size]))

    helping = helper.submit(look_up) if len(starts) > 1 else None
    look_up()
    if helping and not helping.cancel():
        helping.result()
    return [value for start in starts for value in found[start]]


def put(found: Values, places: Sequence[int], values: Values) -> None:
    """Put values in their places."""
    for place, value in zip(places, values, strict=True):
        found[place] = value
