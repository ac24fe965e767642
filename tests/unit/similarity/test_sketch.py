"""The straight line from texts to sketches, in batches of any size."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.config import SimilaritySettings
from stream_dedup.similarity.bands import band_keys
from stream_dedup.similarity.curve import Measure
from stream_dedup.similarity.fingerprint import fingerprints
from stream_dedup.similarity.minhash import MinHash
from stream_dedup.similarity.ragged import Ragged
from stream_dedup.similarity.shingles import Shingling
from stream_dedup.similarity.simhash import SimHash
from stream_dedup.similarity.sketch import Sketcher, Sketches, join_sketches
from stream_dedup.similarity.text import normalise
from tests.oracles import text as oracle
from tests.strategies import repetitive_texts, texts

batches = st.lists(st.one_of(texts(), repetitive_texts()), max_size=10)
sketchers = st.builds(
    Sketcher,
    st.builds(
        Shingling,
        st.sampled_from(["char", "word"]),
        st.integers(1, 6),
        st.booleans(),
        st.integers(0, 2**63 - 1),
    ),
    st.just(64),
    st.just(9),
    st.just(7),
    st.sampled_from(["jaccard", "cosine"]),
)


def assert_same(one: Sketches, other: Sketches) -> None:
    for column, expected in zip((*one[:-1], *one.short), (*other[:-1], *other.short), strict=True):
        assert column.dtype == expected.dtype
        assert np.array_equal(column, expected)


def listed(rows: Ragged) -> list[list[int]]:
    return [rows.row(index).tolist() for index in range(rows.rows)]


def random_texts(count: int, seed: int) -> list[str]:
    random = Random(seed)
    lengths = random.choices([0, 3, 40, 700, 3000], k=count)
    return ["".join(random.choices("abcde é日\u0301", k=length)) for length in lengths]


@given(batches, sketchers)
def test_a_sketch_is_made_step_by_step(batch: list[str], sketcher: Sketcher) -> None:
    """Every column is what its own module makes of the batch."""
    shingling, measure = sketcher.shingling, sketcher.measure
    rows = normalise(batch)
    hashes = shingling.hashes(rows)
    signed = shingling.elements(hashes) if measure == "jaccard" else hashes
    family = MinHash if measure == "jaccard" else SimHash
    values = family(64, shingling.seed).sign(signed)
    sketches = sketcher.sketch(batch)

    assert sketches.signatures.itemsize == (2 if measure == "jaccard" else 1)
    assert np.array_equal(sketches.signatures, values.astype(np.uint16))
    assert np.array_equal(sketches.keys, band_keys(values, 9, 7))
    assert np.array_equal(sketches.fingerprints, fingerprints(rows, shingling.seed))
    assert np.array_equal(sketches.sizes, shingling.sizes(hashes))
    assert listed(sketches.short) == [
        row if len(shingles) <= 64 else []
        for row, shingles in zip(listed(sketcher.elements(batch)), listed(hashes), strict=True)
    ]


def test_repeats_count_where_they_are_asked_for() -> None:
    """As sets the texts are the same, as multisets and as vectors they share what both have."""
    batch = ["ab" * 100, "ab" * 1000]

    def agreement(multiset: bool, measure: Measure) -> float:
        sketcher = Sketcher(Shingling("char", 1, multiset), 1024, 1, 1, measure)
        first, second = sketcher.sketch(batch).signatures
        return float((first == second).mean())

    assert agreement(multiset=False, measure="jaccard") == 1
    # Jaccard 0.1, of which one standard error is 0.009.
    assert agreement(multiset=True, measure="jaccard") == pytest.approx(0.1, abs=0.04)
    assert agreement(multiset=True, measure="cosine") == 1


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
def test_a_sketch_does_not_depend_on_the_batch(measure: Measure) -> None:
    """Cut anywhere, a batch of several chunks gives the same sketches."""
    batch = random_texts(1000, seed=1)
    sketcher = Sketcher(Shingling(), 64, 9, 7, measure)
    whole = sketcher.sketch(batch)
    for places in ([0, 1, 1, 2, 500, 1000], [0, 999, 1000], [*range(0, 1001, 50)]):
        pieces = [sketcher.sketch(batch[start:end]) for start, end in pairwise(places)]
        assert_same(join_sketches(pieces), whole)


def test_a_batch_of_many_short_texts_is_cut_and_joined() -> None:
    """Ten thousand headlines come out in their order."""
    batch = [f"headline {number}" for number in range(10_000)]
    sketcher = Sketcher(Shingling(), 16, 2, 8)
    sketches = sketcher.sketch(batch)

    assert len(np.unique(sketches.fingerprints[:, 0])) == 10_000
    for number in (0, 4095, 4096, 4097, 9999):
        assert_same(sketches.rows(np.array([number])), sketcher.sketch([batch[number]]))


def test_threads_do_not_disturb_each_other() -> None:
    """One sketcher, used by several threads at a time, gives each the right sketches."""
    batches = [random_texts(200, seed) for seed in range(12)]
    sketcher = Sketcher(Shingling("word", 2, multiset=True), 64, 9, 7)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(sketcher.sketch, batches))

    for batch, result in zip(batches, results, strict=True):
        assert_same(result, sketcher.sketch(batch))


@given(batches, sketchers, st.data())
def test_rows_are_taken_and_joined(
    batch: list[str], sketcher: Sketcher, data: st.DataObject
) -> None:
    """Sketches of some documents, in any order, are those that these would have by themselves."""
    indexes = data.draw(st.permutations(range(len(batch))))[: data.draw(st.integers(0, 10))]
    picked = [batch[index] for index in indexes]

    taken = sketcher.sketch(batch).rows(np.array(indexes, np.int64))

    assert_same(taken, sketcher.sketch(picked))
    assert_same(join_sketches([taken, taken]), sketcher.sketch([*picked, *picked]))


@pytest.mark.parametrize("measure", ["jaccard", "cosine"])
def test_texts_without_content_have_size_zero(measure: Measure) -> None:
    """By its size 0 a document without text is known; an empty batch has no rows."""
    sketcher = Sketcher(Shingling(), 64, 9, 7, measure)

    assert sketcher.sketch(["", "...", "a", "\ud800\0"]).sizes.tolist() == [0, 0, 1, 0]
    assert sketcher.sketch([]).signatures.shape == (0, 64)
    assert sketcher.sketch([]).short.rows == 0


@given(st.lists(repetitive_texts(), max_size=5), st.booleans())
def test_elements_are_those_of_the_reference(batch: list[str], multiset: bool) -> None:
    """What the exact measure compares has the reference's sizes."""
    elements = Sketcher(Shingling("char", 2, multiset), 8, 1, 8).elements(batch)

    assert elements.lengths.tolist() == [
        len(oracle.shingles(text, "char", 2, multiset)) for text in batch
    ]


def test_markup_is_stripped_only_if_asked_for() -> None:
    """With `html = "strip"` a page is like its text, else its tags are letters like any others."""
    page, text = "<p>Caf&eacute;</p> <b>noir</b>", "Café noir"
    sketches = {
        html: Sketcher(Shingling(), 8, 1, 8, html=html).sketch([page, text])
        for html in ("keep", "strip")
    }

    assert np.array_equal(*sketches["strip"].fingerprints)
    assert not np.array_equal(*sketches["keep"].fingerprints)


def test_bands_are_planned_unless_they_are_given() -> None:
    """128 values, threshold 0.8 and recall 0.99 make 21 bands of 6."""
    planned = Sketcher.planned(SimilaritySettings())
    given_ = Sketcher.planned(SimilaritySettings(bands=10, rows=3, measure="cosine", hashes=64))

    assert (planned.bands, planned.rows, planned.hashes) == (21, 6, 128)
    assert (given_.bands, given_.rows, given_.hashes, given_.measure) == (10, 3, 64, "cosine")
    assert planned.sketch(["abc"]).keys.shape == (1, 21)


@pytest.mark.parametrize(
    ("settings", "signature", "key"),
    [
        (
            SimilaritySettings(),
            [32089, 53397, 17161, 17629, 6840, 52052, 10332, 21657],
            0x7C3E6AC78ACB4EF5,
        ),
        (
            SimilaritySettings(unit="word", size=3, seed=11),
            [12682, 6928, 10811, 63467, 41100, 9820, 1696, 31712],
            0xC05227343C24734A,
        ),
        (
            SimilaritySettings(multiset=True),
            [32089, 53397, 17161, 50349, 53833, 52052, 1625, 33310],
            0x218A73EA54CFC711,
        ),
        (
            SimilaritySettings(measure="cosine", bands=8, rows=16),
            [0, 1, 0, 1, 1, 1, 0, 0],
            0xFEFF3B51B1E6F1BF,
        ),
    ],
)
def test_sketches_are_pinned(settings: SimilaritySettings, signature: list[int], key: int) -> None:
    """Changing these changes the scheme and orphans stored signatures."""
    text = "The ferry to Skagen, to Skagen, to Skagen, sails again: Größe 日本語, e\u0301tude."
    sketches = Sketcher.planned(settings).sketch([text])

    assert sketches.signatures[0, :8].tolist() == signature
    assert sketches.keys[0, 0] == key
