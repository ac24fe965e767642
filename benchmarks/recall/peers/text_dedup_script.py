"""Run by the interpreter that has text-dedup: does what `text_dedup.minhash.main` does with a file.

Reads a question as JSON and writes a file of arrays for each threshold. All options have the
values that the script has by default, but for the threshold and the words in a shingle.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import import_module, metadata
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

_SCRIPT: Any = import_module("text_dedup.minhash")
_FUNCTIONS = 250
_WORDS_MIN = 5  # in a document; shorter ones are left out
_TYPE, _HASH_MAX, _PRIME = np.uint64, np.uint32((1 << 32) - 1), np.uint64((1 << 61) - 1)

Pair = tuple[int, int]


def main() -> None:
    """Answer for each threshold."""
    asked = json.load(sys.stdin)
    kept = [place for place, text in enumerate(asked["texts"]) if len(text.split()) >= _WORDS_MIN]
    permutations = (
        _SCRIPT.RNG.randint(1, _PRIME, size=_FUNCTIONS, dtype=_TYPE),
        _SCRIPT.RNG.randint(0, _PRIME, size=_FUNCTIONS, dtype=_TYPE),
    )
    for threshold in asked["thresholds"]:
        bands, rows = _SCRIPT.optimal_param(threshold, _FUNCTIONS, 0.5, 0.5)
        tables: list[dict[bytes, list[int]]] = [defaultdict(list) for _ in range(bands)]
        for place in kept:
            keys = _keys(asked["texts"][place], asked["size"], bands, rows, permutations)
            for table, key in zip(tables, keys, strict=True):
                table[key].append(place)
        buckets = [bucket for table in tables for bucket in table.values() if len(bucket) > 1]
        np.savez(
            Path(sys.argv[1]) / f"{threshold}.npz",
            version=metadata.version("text-dedup"),
            setting=(bands, rows),
            bucket_pairs=_pairs(buckets),
            cluster_pairs=_pairs(_clusters(buckets)),
        )


def _keys(
    text: str, size: int, bands: int, rows: int, permutations: tuple[Any, Any]
) -> list[bytes]:
    embedded = _SCRIPT.embed_func(
        text,
        0,
        num_perm=_FUNCTIONS,
        ngram_size=size,
        min_length=_WORDS_MIN,
        hashranges=[(band * rows, (band + 1) * rows) for band in range(bands)],
        permutations=permutations,
        hash_func=_SCRIPT.sha1_hash,
        dtype=_TYPE,
        max_hash=_HASH_MAX,
        modulo_prime=_PRIME,
    )
    keys: list[bytes] = embedded[_SCRIPT.SIGNATURE_COLUMN]
    return keys


def _clusters(buckets: Iterable[list[int]]) -> Iterator[list[int]]:
    """Join buckets that have a document in common, as the script does."""
    joined = _SCRIPT.UnionFind()
    for bucket in buckets:
        for place in bucket:
            joined.union(place, min(bucket))
    clusters: dict[int, list[int]] = defaultdict(list)
    for place in sorted({place for bucket in buckets for place in bucket}):
        clusters[joined.find(place)].append(place)
    yield from clusters.values()


def _pairs(groups: Iterable[list[int]]) -> Any:
    """Return all pairs within a group, each once."""
    pairs: set[Pair] = set()
    for group in groups:
        pairs.update(combinations(group, 2))
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


if __name__ == "__main__":
    main()
