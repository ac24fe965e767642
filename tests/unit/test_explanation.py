"""What is said of two texts, against the plain measures and a plain search for passages."""

from itertools import groupby
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.config import SimilaritySettings
from stream_dedup.explanation import Explanation, explain_pair
from stream_dedup.similarity.sketch import Sketcher
from tests.oracles.text import containment, cosine, counts, jaccard, normalise, shingles, windows

PASSAGES_MAX = 4
Shingles = tuple[str, int]

# Short words of few letters: texts that share some passages, in another order, more than once.
texts = st.lists(st.sampled_from(["a", "ab", "abc", "bca", "cab", "aaaa", "A!", "B-a"])).map(
    " ".join
)
shinglings = st.sampled_from([("char", 1), ("char", 3), ("char", 5), ("word", 1), ("word", 2)])


def explain(
    a: str, b: str, shingling: Shingles = ("char", 5), threshold: float = 0.8
) -> Explanation:
    """Compare two texts as the command does."""
    settings = SimilaritySettings(unit=shingling[0], size=shingling[1])  # type: ignore[arg-type]
    return explain_pair((a, b), Sketcher.planned(settings), threshold, PASSAGES_MAX)


def places(text: str, shingling: Shingles) -> list[range]:
    """List the characters of each shingle of a normalised text."""
    unit, size = shingling
    if unit == "char":
        return [
            range(at, at + len(shingle)) for at, shingle in enumerate(windows(text, *shingling))
        ]
    starts = [at for at in range(len(text)) if at == 0 or text[at - 1] == " "]
    found = windows(text, unit, size)
    return [range(at, at + len(word)) for at, word in zip(starts, found, strict=False)]


def longest(passages: list[str]) -> list[str]:
    """Take the longest different passages, the earlier among equals, in their order."""
    different = list(dict.fromkeys(passages))
    chosen = sorted(different, key=len, reverse=True)[:PASSAGES_MAX]
    return [passage for passage in different if passage in chosen]


def passages_only_in(a: str, b: str, shingling: Shingles) -> list[str]:
    """List the runs of words of which a character is in no shingle of the other text."""
    others = set(windows(b, *shingling))
    pairs = zip(places(a, shingling), windows(a, *shingling), strict=True)
    covered = {at for place, shingle in pairs if shingle in others for at in place}
    words, at = [], 0
    for word in a.split():
        words.append((word, not covered.issuperset(range(at, at + len(word)))))
        at += len(word) + 1
    runs = groupby(words, key=lambda pair: pair[1])
    return [" ".join(word for word, _ in run) for alone, run in runs if alone]


def passages_in_both(a: str, b: str, shingling: Shingles) -> list[str]:
    """List the runs of shingles that the other text has too, without the words they cut."""
    others = set(windows(b, *shingling))
    pairs = zip(places(a, shingling), windows(a, *shingling), strict=True)
    found = []
    for shared, run in groupby(pairs, key=lambda pair: pair[1] in others):
        spans = [place for place, _ in run]
        begin, end = spans[0].start, spans[-1].stop
        while begin < end and begin > 0 and a[begin - 1] != " ":
            begin += 1
        while begin < end < len(a) and a[end] != " ":
            end -= 1
        if shared and a[begin:end].strip():
            found.append(a[begin:end].strip())
    return found


@given(a=texts, b=texts, shingling=shinglings)
def test_figures_are_the_exact_ones(a: str, b: str, shingling: Shingles) -> None:
    """Similarity, sizes and containments are those of the sets of shingles."""
    explained = explain(a, b, shingling)
    sets = [shingles(text, *shingling) for text in (a, b)]

    assert explained.similarity == jaccard(*sets)
    assert explained.duplicate == (jaccard(*sets) >= 0.8)
    for side, text, own, other in zip(
        (explained.a, explained.b), (a, b), sets, reversed(sets), strict=True
    ):
        assert side.characters == len(normalise(text))
        assert side.shingles == len(own)
        assert side.containment == pytest.approx(containment(own, other))


@given(a=texts, b=texts, shingling=shinglings)
def test_passages_are_whole_words_found_where_it_says(a: str, b: str, shingling: Shingles) -> None:
    """Each passage is of whole words; in both or in one only, as every shingle of it says."""
    explained = explain(a, b, shingling)
    a, b = normalise(a), normalise(b)

    assert explained.shared == longest(passages_in_both(a, b, shingling))
    assert explained.a.only == longest(passages_only_in(a, b, shingling))
    assert explained.b.only == longest(passages_only_in(b, a, shingling))


@given(a=texts, b=texts, shingling=shinglings)
def test_shared_passages_have_shared_shingles_only(a: str, b: str, shingling: Shingles) -> None:
    """Nothing is shown as found in both that is pieced together from places apart."""
    for passage in explain(a, b, shingling).shared:
        assert f" {passage} " in f" {normalise(a)} "
        if len(windows(passage, *shingling)[0]) >= len(windows(normalise(a), *shingling)[0]):
            assert set(windows(passage, *shingling)) <= set(windows(normalise(b), *shingling))


def test_passages_tell_what_was_edited() -> None:
    """An insertion, a deletion and a replacement are shown with the words they touch."""
    a = "Yesterday the minister said that taxes would rise in spring, according to officials."
    b = "Yesterday the prime minister wrote that taxes would rise, according to officials."

    explained = explain(a, b)

    assert explained.shared == [
        "yesterday the",
        "minister",
        "that taxes would rise",
        "according to officials",
    ]
    assert explained.a.only == ["said", "in spring"]
    assert explained.b.only == ["prime", "wrote"]


def test_passages_apart_are_not_shown_as_one() -> None:
    """Two halves in another order are two shared passages, and nothing is alone."""
    explained = explain("abcde fghij", "fghij xxx abcde")

    assert explained.shared == ["abcde", "fghij"]
    assert explained.a.only == []
    assert explained.b.only == ["xxx"]


def test_a_passage_is_told_once() -> None:
    """What is repeated does not hide what is not."""
    a = "one two three four five six seven eight nine ten"
    b = a.replace("two", "zwei").replace("five", "zwei").replace("eight", "zwei") + " elf"

    assert explain(a, b, ("word", 1)).b.only == ["zwei", "elf"]


def test_the_same_text_is_shared_as_a_whole() -> None:
    """Of a copy all is shared, all bands and all values agree, and the error says an estimate."""
    explained = explain("Some words, and more.", "SOME WORDS and more")

    assert explained.duplicate
    assert (explained.similarity, explained.estimate) == (1.0, 1.0)
    assert explained.bands_shared == explained.bands == 21
    assert explained.candidate_probability == 1
    assert explained.shared == ["some words and more"]
    assert explained.a.only == explained.b.only == []


@pytest.mark.parametrize(("a", "b"), [("", ""), ("...", ""), ("", "words"), ("words", "\u00ad")])
def test_no_text_is_like_nothing(a: str, b: str) -> None:
    """Without text there is no similarity, no band and no passage in both."""
    explained = explain(a, b, threshold=1e-9)

    assert not explained.duplicate
    assert (explained.similarity, explained.estimate, explained.error) == (0, 0, 0)
    assert (explained.bands_shared, explained.candidate_probability) == (0, 0)
    assert explained.shared == []
    assert explained.a.only == ([a] if a == "words" else [])
    assert explained.b.only == ([b] if b == "words" else [])


def test_estimate_and_bands_agree_with_the_similarity() -> None:
    """Over many pairs the estimate is off by its error, and bands are shared as often as told."""
    random = Random(20_260_131)
    off, shared, told = 0.0, 0, 0.0
    for _ in range(200):
        words = [str(random.random()) for _ in range(40)]
        edited = [str(random.random()) if random.random() < 0.06 else word for word in words]
        explained = explain(" ".join(words), " ".join(edited))
        off += ((explained.estimate - explained.similarity) / explained.error) ** 2
        shared += explained.bands_shared > 0
        told += explained.candidate_probability

        assert 0 <= explained.bands_shared <= explained.bands

    assert off / 200 == pytest.approx(1, abs=0.3)
    assert shared == pytest.approx(told, abs=8)


@given(a=texts, b=texts)
def test_cosines_are_explained_too(a: str, b: str) -> None:
    """With the cosine the similarity is that of the counts."""
    settings = SimilaritySettings(measure="cosine")
    explained = explain_pair((a, b), Sketcher.planned(settings), 0.8, PASSAGES_MAX)

    expected = cosine(counts(a, "char", 5), counts(b, "char", 5))
    assert explained.measure == "cosine"
    assert explained.similarity == pytest.approx(expected, abs=1e-12)
    assert 0 <= explained.candidate_probability <= 1


def test_a_script_without_spaces_is_not_cut_at_words() -> None:
    """A small change in a long run of characters is shown as such, and the rest as shared."""
    before, after = "天地玄黃宇宙洪荒日月盈昃辰宿列張", "寒來暑往秋收冬藏閏餘成歲律呂調陽"
    explained = explain(before + "雲騰致雨" + after, before + "露結為霜" + after, threshold=0.5)

    assert explained.shared == [before, after]
    assert (explained.a.only, explained.b.only) == (["雲騰致雨"], ["露結為霜"])
