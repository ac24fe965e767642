"""Kinds of pairs, and clusters that never chain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.decide import KINDS, Clusters, kinds
from stream_dedup.similarity.verify import containment

Pair = tuple[int, int, float]


def kind(identical: bool, contained: float, containing: float, size: int, other: int) -> str:
    (found,) = kinds(
        np.array([identical]),
        np.array([contained]),
        np.array([containing]),
        np.array([size]),
        np.array([other]),
    )
    return str(KINDS[found])


@pytest.mark.parametrize(
    ("contained", "containing", "size", "other", "expected"),
    [
        (0.95, 0.855, 90, 100, "excerpt"),
        (0.94, 0.85, 90, 100, "near"),
        (0.95, 0.86, 91, 100, "near"),
        (0.855, 0.95, 100, 90, "extension"),
        (0.85, 0.94, 100, 90, "near"),
        (0.86, 0.95, 100, 91, "near"),
        (1.0, 1.0, 100, 100, "near"),
        (0.9, 0.9, 100, 100, "near"),
    ],
)
def test_a_kind_follows_from_containment_and_size(
    contained: float, containing: float, size: int, other: int, expected: str
) -> None:
    """An excerpt is found in the earlier text by 0.95 or more and has 0.9 of its size at most."""
    assert kind(False, contained, containing, size, other) == expected


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_same_text_is_exact(contained: float, containing: float, size: int, other: int) -> None:
    """Whatever was estimated of two identical texts."""
    assert kind(True, contained, containing, size, other) == "exact"


@given(st.sets(st.integers(0, 40), min_size=1), st.sets(st.integers(0, 40), min_size=1))
def test_kinds_turn_with_the_order(a: set[int], b: set[int]) -> None:
    """What is an excerpt of the other makes the other an extension, and of no pair is it both."""
    similarity = np.array([len(a & b) / len(a | b)])
    sizes, others = np.array([len(a)]), np.array([len(b)])
    contained = containment(similarity, sizes, others, "jaccard")[0]
    containing = containment(similarity, others, sizes, "jaccard")[0]

    one = kind(False, contained, containing, len(a), len(b))
    turned = kind(False, containing, contained, len(b), len(a))

    assert turned == {"near": "near", "excerpt": "extension", "extension": "excerpt"}[one]


def test_many_pairs_are_decided_at_once() -> None:
    """Each pair of a batch has its own kind."""
    found = kinds(
        np.array([False, True, False, False]),
        np.array([0.5, 1, 1, 0.5]),
        np.array([0.5, 1, 0.5, 1]),
        np.array([10, 10, 10, 20]),
        np.array([10, 10, 20, 10]),
    )

    assert [KINDS[index] for index in found] == ["near", "exact", "excerpt", "extension"]


@st.composite
def pairs_of_documents(draw: st.DrawFn) -> tuple[int, list[Pair]]:
    """Draw pairs, ordered by the later document and then by the earlier one."""
    count = draw(st.integers(1, 12))
    similarity = st.sampled_from([0.8, 0.85, 0.9, 1.0])
    every = [(earlier, later) for later in range(count) for earlier in range(later)]
    chosen = [pair for pair in every if draw(st.booleans())]
    return count, [(earlier, later, draw(similarity)) for earlier, later in chosen]


def slow_representatives(count: int, pairs: list[Pair]) -> list[int]:
    """Give each document in turn to the best representative it is paired with."""
    found: list[int] = []
    for document in range(count):
        partners = {e: s for e, later, s in pairs if later == document and found[e] == e}
        best = min(partners, key=lambda earlier: (-partners[earlier], earlier), default=document)
        found.append(best)
    return found


def added(clusters: Clusters, pairs: list[Pair]) -> None:
    clusters.add(
        np.array([earlier for earlier, _, _ in pairs], np.int32),
        np.array([later for _, later, _ in pairs], np.int32),
        np.array([similarity for _, _, similarity in pairs], np.float64),
    )


@given(pairs_of_documents(), st.integers(0, 12))
def test_a_document_joins_its_best_representative(drawn: tuple[int, list[Pair]], cut: int) -> None:
    """The most similar one, the earliest among equals, in one batch of pairs or in two."""
    count, pairs = drawn
    clusters = Clusters(count)
    added(clusters, [pair for pair in pairs if pair[1] < cut])
    added(clusters, [pair for pair in pairs if pair[1] >= cut])

    assert clusters.representatives.tolist() == slow_representatives(count, pairs)


@given(pairs_of_documents())
def test_clusters_never_chain(drawn: tuple[int, list[Pair]]) -> None:
    """Each member is similar to the representative itself, which represents itself."""
    count, pairs = drawn
    clusters = Clusters(count)
    added(clusters, pairs)
    similar = {(earlier, later) for earlier, later, _ in pairs}

    for document, representative in enumerate(clusters.representatives.tolist()):
        assert clusters.representatives[representative] == representative
        assert representative == document or (representative, document) in similar


@given(st.integers(1, 2000), st.integers(1, 10))
def test_a_share_of_exactly_so_much_is_enough(twentieths: int, more: int) -> None:
    """An earlier text that holds exactly 0.95 of the later one, from similarity, is its source."""
    size, shared = 20 * twentieths, 19 * twentieths
    other = -(-10 * size // 9) + more
    similarity = np.array([shared / (size + other - shared)])
    sizes, others = np.array([size]), np.array([other])
    contained = containment(similarity, sizes, others, "jaccard")
    containing = containment(similarity, others, sizes, "jaccard")

    assert kind(False, contained[0], containing[0], size, other) == "excerpt"
