"""Pairs and clusters as lines of JSON."""

import json
from collections.abc import Iterable, Sequence
from typing import BinaryIO

import msgspec
import numpy as np

from stream_dedup.decide import KINDS, Clusters
from stream_dedup.pairs import Pairs

_DECIMALS = 6  # more than any estimate has, and enough to tell exact similarities apart


def write_pairs(found: Iterable[Pairs], ids: Sequence[str], out: BinaryIO) -> int:
    """Write a line for each pair as it is found; return their number."""
    encoded = [msgspec.json.encode(identity).decode() for identity in ids]
    count = 0
    for pairs in found:
        columns = (pairs.similarity, pairs.error, pairs.containment)
        numbers = [np.round(column, _DECIMALS).tolist() for column in columns]
        rows = zip(
            pairs.earlier.tolist(), pairs.later.tolist(), pairs.kind.tolist(), *numbers, strict=True
        )
        lines = [
            f'{{"a": {encoded[a]}, "b": {encoded[b]}, "similarity": {similarity}, '
            f'"error": {error}, "kind": "{KINDS[kind]}", "containment": {containment}}}\n'
            for a, b, kind, similarity, error, containment in rows
        ]
        out.write("".join(lines).encode())
        count += len(lines)
    return count


def write_clusters(found: Iterable[Pairs], ids: Sequence[str], out: BinaryIO) -> int:
    """Write a line for each cluster of two or more, the earliest first; return their number."""
    clusters = Clusters(len(ids))
    for pairs in found:
        clusters.add(pairs.earlier, pairs.later, pairs.similarity)
    representatives = clusters.representatives
    order = np.argsort(representatives, kind="stable")
    starts = np.flatnonzero(np.diff(representatives[order], prepend=-1))
    groups = [group for group in np.split(order, starts[1:]) if len(group) > 1]
    for group in groups:
        documents = [ids[position] for position in group.tolist()]
        line = {"cluster": documents[0], "size": len(documents), "documents": documents}
        out.write(f"{json.dumps(line, ensure_ascii=False)}\n".encode())
    return len(groups)
