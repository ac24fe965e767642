"""How pairs and clusters are written: each line valid JSON, whatever the ids and the numbers."""

import io
import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.decide import KINDS
from stream_dedup.pairs import Pairs
from stream_dedup.results import write_clusters, write_pairs

Row = tuple[int, int, float, float, float, int]

ratios = st.floats(0, 1)
# Decoded documents hold no half of a surrogate pair.
identities = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def batch(rows: Sequence[Row]) -> Pairs:
    """Make columns of rows: earlier, later, similarity, error, containment, kind."""
    columns = zip(*rows, strict=True) if rows else [()] * 6
    types = (np.int32, np.int32, np.float64, np.float64, np.float64, np.int8)
    return Pairs(*(np.array(column, kind) for column, kind in zip(columns, types, strict=True)))


def written_pairs(batches: Sequence[Sequence[Row]], ids: Sequence[str]) -> list[dict[str, Any]]:
    """Write batches of pairs and read them again."""
    out = io.BytesIO()
    count = write_pairs(map(batch, batches), ids, out)
    lines = out.getvalue().splitlines(keepends=True)

    assert count == len(lines)
    assert all(line.endswith(b"\n") for line in lines)
    return [json.loads(line) for line in lines]


def written_clusters(rows: Sequence[Row], ids: Sequence[str]) -> list[dict[str, Any]]:
    """Write the clusters of pairs, which come in batches, and read them again."""
    ordered = sorted(rows, key=lambda row: (row[1], row[0]))
    batches = [batch(list(group)) for _, group in groupby(ordered, key=lambda row: row[1] // 3)]
    out = io.BytesIO()
    count = write_clusters(batches, ids, out)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]

    assert count == len(lines)
    return lines


def test_a_pair_is_one_line() -> None:
    """A line has the names, the order and the number of decimals that users were told of."""
    out = io.BytesIO()
    rows = [(0, 1, 0.9140625, 0.02477, 1.0, 0), (0, 2, 0.85, 0.0, 0.9999999, 2)]

    assert write_pairs([batch(rows)], ["r1", "x7", "é\n"], out) == 2

    assert out.getvalue().decode() == (
        '{"a": "r1", "b": "x7", "similarity": 0.914062, "error": 0.02477, "kind": "near", '
        '"containment": 1.0}\n'
        '{"a": "r1", "b": "é\\n", "similarity": 0.85, "error": 0.0, "kind": "excerpt", '
        '"containment": 1.0}\n'
    )


@given(
    ids=st.lists(identities, min_size=2, max_size=5),
    numbers=st.lists(st.tuples(ratios, ratios, ratios, st.sampled_from(range(4))), max_size=5),
)
def test_any_ids_and_numbers_make_valid_json(
    ids: list[str], numbers: list[tuple[float, float, float, int]]
) -> None:
    """What is read again is what was written, to six decimals."""
    lines = written_pairs([[(0, len(ids) - 1, *row)] for row in numbers], ids)

    assert lines == [
        {
            "a": ids[0],
            "b": ids[-1],
            "similarity": round(similarity, 6),
            "error": round(error, 6),
            "kind": KINDS[kind],
            "containment": round(containment, 6),
        }
        for similarity, error, containment, kind in numbers
    ]


def test_pairs_are_written_as_they_are_found() -> None:
    """The first batch is out before the second is asked for."""
    out = io.BytesIO()
    sizes: list[int] = []

    def found() -> Any:
        for later in (1, 2):
            sizes.append(len(out.getvalue()))
            yield batch([(0, later, 1.0, 0.0, 1.0, 1)])

    write_pairs(found(), ["a", "b", "c"], out)

    assert sizes[0] == 0
    assert sizes[1] > 0


def test_nothing_found_writes_nothing() -> None:
    """No batches and empty batches make neither lines nor errors."""
    out = io.BytesIO()

    assert write_pairs([], [], out) == 0
    assert write_pairs([batch([])], ["a"], out) == 0
    assert write_clusters([], [], out) == 0
    assert write_clusters([batch([])], ["a"], out) == 0
    assert out.getvalue() == b""


def similar(*pairs: tuple[int, int, float]) -> list[Row]:
    """Make pairs of earlier, later and similarity."""
    return [(a, b, similarity, 0.0, 1.0, 0) for a, b, similarity in pairs]


def test_clusters_do_not_chain() -> None:
    """A document that is like a member but not like the representative starts anew."""
    lines = written_clusters(similar((0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9)), list("abcd"))

    assert lines == [
        {"cluster": "a", "size": 2, "documents": ["a", "b"]},
        {"cluster": "c", "size": 2, "documents": ["c", "d"]},
    ]


def test_a_document_joins_the_most_similar_representative() -> None:
    """Of two clusters it joins the better one, the earlier one among equals."""
    rows = similar((0, 2, 0.8), (1, 2, 0.9), (0, 3, 0.9), (1, 3, 0.9))

    assert written_clusters(rows, list("abcd")) == [
        {"cluster": "a", "size": 2, "documents": ["a", "d"]},
        {"cluster": "b", "size": 2, "documents": ["b", "c"]},
    ]


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([0.8, 0.9, 1.0])),
        unique_by=lambda pair: (min(pair[:2]), max(pair[:2])),
    )
)
def test_clusters_are_groups_around_their_first_document(
    pairs: list[tuple[int, int, float]],
) -> None:
    """Each document is in one group at most; all of a group resemble its first, which is earliest.

    And nobody is left alone who resembles a document that is first of a group, or in none.
    """
    edges = {(min(a, b), max(a, b)): similarity for a, b, similarity in pairs if a != b}
    ids = [f"d{position}" for position in range(12)]

    lines = written_clusters(similar(*((*pair, edges[pair]) for pair in edges)), ids)

    groups = [[ids.index(document) for document in line["documents"]] for line in lines]
    members = [position for group in groups for position in group]
    assert len(set(members)) == len(members)
    assert groups == sorted(groups)
    for line, (first, *others) in zip(lines, groups, strict=True):
        assert (line["cluster"], line["size"]) == (ids[first], len(others) + 1)
        assert others != []
        assert [first, *others] == sorted([first, *others])
        assert all((first, other) in edges for other in others)
    leaders = {group[0] for group in groups} | (set(range(12)) - set(members))
    assert not any(a in leaders and b in leaders for a, b in edges)
