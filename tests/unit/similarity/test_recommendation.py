"""Which shingles are recommended for which texts."""

import numpy as np
import pytest

from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.recommendation import Recommendation, recommend

ENGLISH = "the quick brown fox jumps over the lazy dog "
CHINESE = "敏捷的棕色狐狸跳过了懒狗"
JAPANESE = "すばやい茶色の狐はのろまな犬を飛び越える"
KOREAN = "빠른 갈색 여우가 게으른 개를 뛰어넘는다 "
THAI = "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ"


def _texts(*rows: str) -> Ragged:
    points = [np.array([ord(letter) for letter in row], np.uint32) for row in rows]
    return Ragged(np.concatenate(points), bounds_of([len(row) for row in points]))


def _of_length(text: str, length: int) -> str:
    return (text * (length // len(text) + 1))[:length]


@pytest.mark.parametrize(
    ("text", "length", "size"),
    [
        (ENGLISH, 60, 5),
        (ENGLISH, 3000, 5),
        (ENGLISH, 20_000, 9),
        (THAI, 300, 5),
        (THAI, 20_000, 9),
        (CHINESE, 60, 3),
        (JAPANESE, 200, 3),
        (KOREAN, 200, 3),
        (CHINESE, 3000, 5),
        (KOREAN, 20_000, 5),
    ],
)
def test_size_follows_length_and_script(text: str, length: int, size: int) -> None:
    """Letters want 5 or, in long texts, 9; ideographs and syllables, which tell more, 3 or 5."""
    found = recommend(_texts(_of_length(text, length)))

    assert (found.unit, found.size) == ("char", size)
    assert found.reason


def test_words_are_an_alternative_only_where_spaces_part_them() -> None:
    """Long English may be cut at words; long Thai and Chinese may not."""
    assert recommend(_texts(_of_length(ENGLISH, 9000))).also_good == "word 3"
    assert recommend(_texts(_of_length(THAI, 9000))).also_good is None
    assert recommend(_texts(_of_length(ENGLISH + THAI, 9000))).also_good is None
    assert recommend(_texts(_of_length(CHINESE, 9000))).also_good is None


def test_what_was_found_is_told() -> None:
    """Lengths are those of the texts, shares those of characters that are not spaces."""
    found = recommend(_texts("abc def", "漢字漢字漢字", "ab"))

    assert (found.documents, found.length_median) == (3, 6)
    assert found.syllables_share == round(6 / 14, 4)
    assert found.unspaced_share == 0


def test_changeable_words_are_those_that_leave_the_threshold_met() -> None:
    """Replacing so many words of a text keeps its Jaccard at the threshold, one more does not."""
    letters = np.random.default_rng(3).integers(ord("a"), ord("z") + 1, (200, 6))
    words = ["".join(map(chr, row)) for row in letters[:100]]
    others = ["".join(map(chr, row)) for row in letters[100:]]
    original = " ".join(words)
    found = recommend(_texts(original))
    assert found.size == 5

    allowed = found.words_changeable(0.8, "jaccard")

    for changed, above in [(allowed, True), (allowed + 1, False)]:
        altered = words.copy()
        altered[1 : 1 + 10 * changed : 10] = others[:changed]  # too far apart to share shingles
        assert (_jaccard(original, " ".join(altered)) >= 0.8) == above
    assert found.words_changeable(0.8, "cosine") > allowed


def test_one_letter_texts_have_a_recommendation() -> None:
    """Texts shorter than any shingle are no error; no word of them may change."""
    found: Recommendation = recommend(_texts("a", "b"))

    assert found.words_changeable(0.8, "jaccard") == 0


def _jaccard(a: str, b: str) -> float:
    first, second = ({text[i : i + 5] for i in range(len(text) - 4)} for text in (a, b))
    return len(first & second) / len(first | second)
