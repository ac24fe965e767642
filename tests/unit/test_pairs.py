"""The search for pairs in a small corpus, against the comparison of every two documents."""

import gzip
import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stream_dedup import files, pairs
from stream_dedup.config import EventsSettings, SimilaritySettings
from stream_dedup.corpus import Corpus, RejectedLine
from stream_dedup.decide import KINDS
from stream_dedup.events import DocumentDecoder
from stream_dedup.files import Source
from stream_dedup.pairs import PairSearch
from stream_dedup.similarity.sketch import Sketcher
from tests.oracles.text import containment, cosine, counts, jaccard, normalise, shingles, windows

MODES = ["signature", "exact"]
# 21 bands of 6 miss one pair in 8 million at .9, and fewer above.
FOUND_FROM = 0.9
HASHES = 128
LENIENT = [HealthCheck.function_scoped_fixture]


class Pair(NamedTuple):
    """A pair as it was found; a and b are what the documents were named after."""

    a: int
    b: int
    similarity: float
    error: float
    containment: float
    kind: str


class Searched(NamedTuple):
    """What a search found, and what it told on its way."""

    search: PairSearch
    pairs: list[Pair]
    rejected: list[RejectedLine]
    bytes_read: int
    documents: int


def search(
    path: Path, mode: str, threads: int = 2, threshold: float = 0.8, **more: Any
) -> Searched:
    """Take the steps in their order, as the command does."""
    sketcher = Sketcher.planned(SimilaritySettings(threshold=threshold, **more))
    decoder = DocumentDecoder(EventsSettings(), texts_only=True)
    corpus = Corpus([Source(str(path), 10_000)], decoder, sketcher, threads)
    read: list[int] = []
    joined: list[int] = []
    rejected: list[RejectedLine] = []
    found = PairSearch(corpus, threshold, read.append, rejected.append)
    candidates = list(found.candidates(joined.append))
    if mode == "signature":
        batches = [found.estimate(batch) for batch in candidates]
    else:
        with found.elements(candidates, lambda _: None) as elements:
            batches = [found.compare(elements, batch) for batch in candidates]
    rows = [
        Pair(int(found.ids[a]), int(found.ids[b]), similarity, error, contained, KINDS[kind])
        for batch in batches
        for a, b, similarity, error, contained, kind in zip(
            *(column.tolist() for column in batch), strict=True
        )
    ]
    return Searched(found, rows, rejected, sum(read), sum(joined))


def write(path: Path, texts: list[str]) -> Path:
    """Write documents named after their positions."""
    lines = (json.dumps({"id": str(place), "text": text}) for place, text in enumerate(texts))
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def some_texts(seed: int, number: int) -> list[str]:
    """Write short and long texts, copies and near copies of earlier ones, parts and wholes."""
    random = Random(seed)
    texts: list[str] = []
    while len(texts) < number:
        words = [f"w{random.randrange(500)}" for _ in range(random.choice([1, 2, 10, 30, 60, 100]))]
        if texts and random.random() < 0.7:
            words = random.choice(texts).split() or ["..."]
            for _ in range(random.choice([0, 0, 1, 2, 5])):
                words[random.randrange(len(words))] = f"w{random.randrange(500)}"
            if random.random() < 0.2:
                words = words[: len(words) * 6 // 7]
            if random.random() < 0.1:
                words += words
        texts.append(" ".join(words))
    return texts


def similar(texts: list[str], threshold: float, unit: str, size: int, multiset: bool) -> set[Pair]:
    """Compare every two documents."""
    sets = [shingles(text, unit, size, multiset) for text in texts]
    found = set()
    for a, b in combinations(range(len(texts)), 2):
        similarity = jaccard(sets[a], sets[b])
        if similarity >= threshold:
            contained, containing = containment(sets[b], sets[a]), containment(sets[a], sets[b])
            kind = "near"
            if contained >= 0.95 and len(sets[b]) <= 0.9 * len(sets[a]):
                kind = "excerpt"
            if containing >= 0.95 and len(sets[a]) <= 0.9 * len(sets[b]):
                kind = "extension"
            if normalise(texts[a]) == normalise(texts[b]):
                kind = "exact"
            found.add(Pair(a, b, similarity, 0.0, round(contained, 9), kind))
    return found


def rounded(found: list[Pair]) -> list[Pair]:
    """Forget in which way a containment was computed."""
    return [pair._replace(containment=round(pair.containment, 9)) for pair in found]


shinglings = st.sampled_from([("char", 5), ("char", 9), ("word", 1), ("word", 3)])


@settings(suppress_health_check=LENIENT, max_examples=30)
@given(seed=st.integers(0, 2**32), shingling=shinglings, multiset=st.booleans())
def test_exact_pairs_are_those_of_a_plain_comparison(
    tmp_path: Path, seed: int, shingling: tuple[str, int], multiset: bool
) -> None:
    """All pairs that are told are true to the last digit, and none well above is missed."""
    texts = some_texts(seed, 60)
    unit, size = shingling
    path = write(tmp_path / "feed.jsonl", texts)
    found = search(path, "exact", unit=unit, size=size, multiset=multiset).pairs

    truth = similar(texts, 0.8, *shingling, multiset)

    assert set(rounded(found)) <= truth
    assert {pair for pair in truth if pair.similarity >= FOUND_FROM} <= set(rounded(found))
    assert len(set(found)) == len(found)


@settings(suppress_health_check=LENIENT, max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_pairs_are_in_the_order_of_documents(tmp_path: Path, seed: int) -> None:
    """Both modes order by the later document, then by the earlier one."""
    path = write(tmp_path / "feed.jsonl", some_texts(seed, 60))
    for mode in MODES:
        found = [(pair.b, pair.a) for pair in search(path, mode).pairs]

        assert found == sorted(found)
        assert all(a < b for b, a in found)


# Always the same examples: estimates are off by any number of errors once in a long while.
@settings(suppress_health_check=LENIENT, max_examples=30, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_estimates_are_as_good_as_they_say(tmp_path: Path, seed: int) -> None:
    """Without an error a similarity is exact; with one it is near, as is the containment."""
    texts = some_texts(seed, 60)
    sets = [shingles(text, "char", 5) for text in texts]
    for pair in search(write(tmp_path / "feed.jsonl", texts), "signature").pairs:
        exact = jaccard(sets[pair.a], sets[pair.b])
        contained = containment(sets[pair.b], sets[pair.a])
        identical = normalise(texts[pair.a]) == normalise(texts[pair.b])
        standard_error = (exact * (1 - exact) / HASHES) ** 0.5

        assert pair.similarity >= 0.8
        assert 0 <= pair.containment <= 1
        assert (pair.kind == "exact") == identical
        if pair.error == 0:
            assert pair.similarity == exact
            # The sizes are estimated: each to 0.2·√size, which is more than 1 % of a short text's.
            sizes_error = 0.2 / min(len(sets[place]) for place in pair[:2]) ** 0.5
            assert pair.containment == pytest.approx(contained, abs=5 * sizes_error)
        else:
            assert not identical
            lengths = [len(windows(normalise(texts[place]), "char", 5)) for place in pair[:2]]
            assert max(lengths) > HASHES, "short ones are kept whole"
            assert abs(pair.similarity - exact) <= 5 * standard_error
            assert pair.containment == pytest.approx(contained, abs=5 * standard_error + 0.02)


@settings(suppress_health_check=LENIENT, max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_exact_cosines_are_those_of_a_plain_comparison(tmp_path: Path, seed: int) -> None:
    """By cosine too, all that is told is true, and what is surely a pair is told."""
    texts = some_texts(seed, 50)
    vectors = [counts(text, "char", 5) for text in texts]
    path = write(tmp_path / "feed.jsonl", texts)
    found = search(path, "exact", measure="cosine", hashes=HASHES, threshold=0.9).pairs

    truth = {(a, b): cosine(vectors[a], vectors[b]) for a, b in combinations(range(len(texts)), 2)}
    told = {(pair.a, pair.b): pair.similarity for pair in found}
    assert {pair: truth[pair] for pair in told} == pytest.approx(told, abs=1e-12)
    assert min(told.values(), default=1) >= 0.9
    assert {pair for pair, similarity in truth.items() if similarity >= 0.985} <= set(told)


NO_DOCUMENTS = [
    b"bad",
    b"",
    b'{"id": "no text"}',
    b"  ",
    b'{"id": "long", "text": "' + b"x" * 20_000,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("block_bytes", [50, 1000, 1 << 20])
def test_neither_threads_nor_blocks_nor_ranges_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int, threads: int, mode: str
) -> None:
    """However the lines are cut and shared out, the same is found, rejected and counted."""
    path = write(tmp_path / "feed.jsonl", some_texts(20_260_131, 80))
    lines = path.read_bytes().splitlines()
    for place, line in enumerate(NO_DOCUMENTS):
        lines.insert(place * 16, line)
    path.write_bytes(b"\n".join(lines))
    expected = search(path, mode)
    monkeypatch.setattr(files, "_BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(pairs, "_RANGE", max(1, block_bytes // 100))

    found = search(path, mode, threads)

    assert found.pairs == expected.pairs != []
    assert found.search.ids == expected.search.ids
    places = [(line.source, line.number) for line in found.rejected]
    assert places == [(str(path), place * 16 + 1) for place in (0, 2, 4)]
    assert found.rejected[:2] == expected.rejected[:2]


def test_progress_adds_up(tmp_path: Path) -> None:
    """What is reported as read and as joined is in the end all there is."""
    path = write(tmp_path / "feed.jsonl", some_texts(1, 700))
    packed = tmp_path / "feed.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for source in (path, packed):
        found = search(source, "signature")

        assert found.bytes_read == source.stat().st_size == found.search.corpus.size
        assert found.documents == len(found.search.ids) == 700 - found.search.empty


@pytest.mark.parametrize("mode", MODES)
def test_documents_without_text_are_counted_and_match_nothing(tmp_path: Path, mode: str) -> None:
    """They have no place among the documents that are compared."""
    texts = ["", "the same text", "...", "", "the same text", "\u00ad\u200b"]

    found = search(write(tmp_path / "feed.jsonl", texts), mode)

    assert found.search.ids == ["1", "4"]
    assert found.search.empty == 4
    assert [(pair.a, pair.b, pair.kind) for pair in found.pairs] == [(1, 4, "exact")]


@pytest.mark.parametrize("mode", MODES)
def test_copies_take_turns_with_near_copies(tmp_path: Path, mode: str) -> None:
    """A text and its near copy, each many times in any order: every two of all are a pair."""
    text = " ".join(f"word{place}" for place in range(60))
    near = text.replace("word30", "other")
    texts = Random(1).choices([text, near], k=40)

    found = search(write(tmp_path / "feed.jsonl", texts), mode).pairs

    assert [(pair.a, pair.b) for pair in found] == [(a, b) for b in range(40) for a in range(b)]
    for pair in found:
        assert (pair.kind == "exact") == (texts[pair.a] == texts[pair.b])


@pytest.mark.parametrize("mode", MODES)
def test_a_crowd_keeps_the_earliest_partners(tmp_path: Path, mode: str) -> None:
    """Where all have more partners than 100 on average, each keeps its earliest, and it is told."""
    found = search(write(tmp_path / "feed.jsonl", ["the same text again"] * 600), mode)

    partners = Counter(pair.b for pair in found.pairs)
    assert all(
        [pair.a for pair in found.pairs if pair.b == b] == list(range(partners[b]))
        for b in range(0, 600, 7)
    )
    assert len(found.pairs) == 600 * pairs.PARTNERS_AVERAGE_MAX
    assert found.search.cut == sum(partners[b] < b for b in range(600)) > 0


@pytest.mark.parametrize("mode", MODES)
def test_what_is_no_crowd_is_not_cut(tmp_path: Path, mode: str) -> None:
    """Two hundred copies of one text are all told, though the last of them has 199 partners."""
    found = search(write(tmp_path / "feed.jsonl", ["the same text again"] * 200), mode)

    assert len(found.pairs) == 200 * 199 // 2
    assert found.search.cut == 0
