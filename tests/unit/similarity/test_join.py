"""The join, against comparing every document with every earlier one."""

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stream_dedup.similarity.join import (
    Candidates,
    Limits,
    fill_buckets,
    find_candidates,
    group_identical,
)

VALUES = 6  # of a signature
UNLIMITED = Limits(bucket_size_max=10**6, partners_max=200, agreement_min=0)


class Corpus(NamedTuple):
    """Documents, by the number of their text; keys and signature of each text."""

    texts: list[int]
    keys: NDArray[np.uint64]
    signatures: NDArray[np.uint16]

    def candidates(self, limits: Limits, cuts: tuple[int, ...] = ()) -> list[Candidates]:
        groups = group_identical(self.fingerprints())
        buckets = fill_buckets(self.keys)
        places = sorted({0, *(min(cut, len(self.texts)) for cut in cuts), len(self.texts)})
        return [
            find_candidates(groups, self.signatures, buckets, limits, start, end)
            for start, end in pairwise(places)
        ]

    def fingerprints(self) -> NDArray[np.uint64]:
        """Make fingerprints whose order has nothing to do with that of the documents."""
        words = np.random.default_rng(len(self.texts)).permutation(len(self.keys)).astype(np.uint64)
        return np.stack([words % np.uint64(3), words], axis=1)[self.texts]

    def first(self, text: int) -> int:
        return self.texts.index(text)

    def agreement(self, one: int, other: int) -> int:
        return int((self.signatures[one] == self.signatures[other]).sum())

    def bucket(self, band: int, document: int) -> list[int]:
        """List the texts with the document's key that came before it, in order."""
        key = self.keys[self.texts[document], band]
        texts = range(len(self.keys))
        return [t for t in texts if self.keys[t, band] == key and self.first(t) < document]


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """Draw documents, many of the same text, texts with many keys in common."""
    texts: list[int] = []
    for fresh in draw(st.lists(st.booleans(), min_size=1, max_size=40)):
        count = len(set(texts))
        texts.append(count if fresh or not texts else draw(st.integers(0, count - 1)))
    bands, buckets = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = len(set(texts))
    keys = generator.choice(
        np.array([0, 1, 2, 2**63, 2**64 - 1, 7], np.uint64)[:buckets], (count, bands)
    )
    return Corpus(texts, keys, generator.integers(0, 2, (count, VALUES)).astype(np.uint16))


def pairs(candidates: list[Candidates]) -> list[tuple[int, int, int]]:
    return [
        triple
        for part in candidates
        for triple in zip(
            part.later.tolist(), part.earlier.tolist(), part.agreement.tolist(), strict=True
        )
    ]


def slow_pairs(corpus: Corpus, agreement_min: int) -> list[tuple[int, int, int]]:
    """Compare all with all: the same text, or a key in common and enough agreement."""
    found = []
    for later, text in enumerate(corpus.texts):
        for earlier, other in enumerate(corpus.texts[:later]):
            if text == other:
                found.append((later, earlier, VALUES))
            elif (corpus.keys[text] == corpus.keys[other]).any():
                agreement = corpus.agreement(text, other)
                found += [(later, earlier, agreement)] * (agreement >= agreement_min)
    return found


@given(st.lists(st.integers(0, 8), max_size=30))
def test_identical_texts_are_grouped(texts: list[int]) -> None:
    """Texts are numbered by first appearance, and each knows its documents in order."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    words = np.array([[7 * text % 5, text] for text in texts], np.uint64).reshape(-1, 2)
    groups = group_identical(words)

    assert groups.texts.tolist() == [numbers[text] for text in texts]
    assert groups.firsts.tolist() == [texts.index(text) for text in numbers]
    assert [groups.members[start:end].tolist() for start, end in pairwise(groups.bounds)] == [
        [at for at, other in enumerate(texts) if other == text] for text in numbers
    ]


@given(corpora())
def test_buckets_hold_the_texts_of_a_key(corpus: Corpus) -> None:
    """In each band every text has its rank, and a bucket begins where its key does."""
    buckets = fill_buckets(corpus.keys)
    for band, keys in enumerate(corpus.keys.T.tolist()):
        order = sorted(range(len(keys)), key=lambda text: keys[text])
        ordered = [keys[text] for text in order]

        assert buckets.order[band].tolist() == order
        assert [order[rank] for rank in buckets.ranks[:, band]] == list(range(len(keys)))
        assert buckets.starts[order, band].tolist() == [ordered.index(key) for key in ordered]


@given(corpora(), st.integers(0, VALUES + 1), st.lists(st.integers(0, 40), max_size=3))
def test_every_pair_that_shares_a_key_is_found(
    corpus: Corpus, agreement_min: int, cuts: list[int]
) -> None:
    """Each pair once, in order, however the documents are cut in ranges."""
    limits = UNLIMITED._replace(agreement_min=agreement_min)
    found = corpus.candidates(limits, tuple(cuts))
    expected = slow_pairs(corpus, agreement_min)
    later = Counter(later for later, _, _ in expected)

    assert pairs(found) == expected
    assert np.concatenate([part.counts for part in found]).tolist() == [
        later[document] for document in range(len(corpus.texts))
    ]
    assert not any(part.cut.any() or part.hidden for part in found)


@given(corpora(), st.integers(1, 12), st.lists(st.integers(0, 40), max_size=3))
def test_large_buckets_show_their_ends(
    corpus: Corpus, bucket_size_max: int, cuts: list[int]
) -> None:
    """Of a large bucket the oldest half and the newest texts are looked at, the rest is counted."""
    found = corpus.candidates(UNLIMITED._replace(bucket_size_max=bucket_size_max), tuple(cuts))
    seen: set[tuple[int, int]] = set()
    hidden = 0
    for document, text in enumerate(corpus.texts):
        for band in range(corpus.keys.shape[1]):
            bucket = corpus.bucket(band, document)
            skipped = max(0, len(bucket) - bucket_size_max)
            oldest = bucket_size_max // 2
            seen |= {(document, t) for t in bucket[:oldest] + bucket[oldest + skipped :]}
            hidden += skipped
        seen.add((document, text))

    assert sum(part.hidden for part in found) == hidden
    assert pairs(found) == [
        pair for pair in slow_pairs(corpus, 0) if (pair[0], corpus.texts[pair[1]]) in seen
    ]


@given(corpora(), st.integers(1, 6))
def test_a_document_has_no_more_partners_than_allowed(corpus: Corpus, partners_max: int) -> None:
    """What is kept is right and ordered, copies first of all, and who had more is marked."""
    (found,) = corpus.candidates(UNLIMITED._replace(partners_max=partners_max))
    everything = slow_pairs(corpus, 0)
    counts = Counter(later for later, _, _ in everything)
    kept = pairs([found])

    for document, text in enumerate(corpus.texts):
        copies = [(d, e, a) for d, e, a in everything if d == document and corpus.texts[e] == text]
        mine = [pair for pair in kept if pair[0] == document]
        assert found.counts[document] == len(mine) == min(counts[document], partners_max)
        assert found.cut[document] == (counts[document] > partners_max)
        assert {*mine} >= {*copies[:partners_max]}
    assert kept == sorted({*kept} & {*everything})


@given(corpora(), st.data())
def test_the_earliest_partners_are_kept(corpus: Corpus, data: st.DataObject) -> None:
    """Of each document as many pairs stay as are asked for, or as there are: the earliest."""
    (found,) = corpus.candidates(UNLIMITED)
    wanted = [data.draw(st.integers(0, count)) for count in found.counts.tolist()]

    kept = found.keep_first(np.array(wanted, np.int64))

    expected = []
    for document, count in enumerate(wanted):
        expected += [pair for pair in pairs([found]) if pair[0] == document][:count]
    assert pairs([kept]) == expected
    assert kept.counts.tolist() == wanted
    assert kept.hidden == found.hidden


def test_no_documents_have_no_candidates() -> None:
    """An empty corpus is joined with itself."""
    groups = group_identical(np.zeros((0, 2), np.uint64))
    buckets = fill_buckets(np.zeros((0, 21), np.uint64))
    found = find_candidates(groups, np.zeros((0, 128), np.uint16), buckets, UNLIMITED, 0, 0)

    assert groups.bounds.tolist() == [0]
    assert found.later.size == found.counts.size == found.hidden == 0


def test_a_dense_corpus_is_joined_in_bounds() -> None:
    """With thousands of texts in one bucket, and as many late copies, the limits hold."""
    distinct, documents = 30_000, 120_000
    keys = np.zeros((distinct, 2), np.uint64)
    signatures = np.zeros((distinct, VALUES), np.uint16)
    texts = np.r_[np.arange(distinct), np.zeros(40_000, np.int64), np.arange(distinct)]
    texts = np.r_[texts, np.arange(documents - texts.size)]
    limits = Limits(bucket_size_max=20, partners_max=50, agreement_min=VALUES)
    groups = group_identical(np.stack([texts, texts], axis=1).astype(np.uint64))

    found = find_candidates(groups, signatures, fill_buckets(keys), limits, 0, documents)

    assert found.counts.max() == 50
    assert found.cut.any()
    # Each looked at 20 texts of each bucket, and all others were counted as hidden.
    before = np.minimum(np.arange(documents), distinct)
    assert found.hidden == 2 * np.maximum(0, before - 20).sum()
