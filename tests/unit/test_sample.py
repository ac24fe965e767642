"""Samples: drawn evenly and alike each time, compared exactly."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_dedup.config import EventsSettings, Settings, SimilaritySettings
from stream_dedup.errors import InputError
from stream_dedup.sample import take_sample

TEXTS = ["the cat sat on the mat", "the cat sat on a mat", "it rains in the hills today"]


def _settings(**similarity: Any) -> Settings:
    events = EventsSettings(text_fields=("text",))
    return Settings(similarity=SimilaritySettings(**similarity), events=events)


def _write(path: Path, texts: list[str]) -> str:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return str(path)


def _counts(text: str) -> dict[str, int]:
    shingles = [text[i : i + 4] for i in range(len(text) - 3)]
    return {shingle: shingles.count(shingle) for shingle in shingles}


def _jaccard(a: str, b: str) -> float:
    first, second = set(_counts(a)), set(_counts(b))
    return len(first & second) / len(first | second)


def _cosine(a: str, b: str) -> float:
    first, second = _counts(a), _counts(b)
    product = sum(count * second.get(shingle, 0) for shingle, count in first.items())
    squares = [sum(count * count for count in counts.values()) for counts in (first, second)]
    return product / math.sqrt(squares[0] * squares[1])


def test_similarities_are_those_of_all_pairs(tmp_path: Path) -> None:
    """Three texts make three exact similarities, in either measure; an empty text makes none."""
    name = _write(tmp_path / "texts.jsonl", [*TEXTS, "", "..."])
    pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[0], TEXTS[2]), (TEXTS[1], TEXTS[2])]

    for measure, reference in [("jaccard", _jaccard), ("cosine", _cosine)]:
        settings = _settings(measure=measure, size=4)
        sample = take_sample(name, settings, in_chosen_shingles=True)

        expected = sorted(reference(a, b) for a, b in pairs)
        assert np.sort(sample.similarities) == pytest.approx(expected)


def test_markup_is_stripped_where_the_settings_say_so(tmp_path: Path) -> None:
    """A text and the same text in tags are alike under html = "strip", and only there."""
    name = _write(tmp_path / "pages.jsonl", [TEXTS[0], f"<article><p>{TEXTS[0]}</p></article>"])

    stripped, kept = (
        take_sample(name, _settings(html=html), in_chosen_shingles=True)
        for html in ("strip", "keep")
    )

    assert stripped.similarities.tolist() == [1.0]
    assert kept.similarities[0] < 1


def test_unrelated_pairs_are_those_below_the_threshold(tmp_path: Path) -> None:
    """Duplicates are not taken for the background of a corpus."""
    name = _write(tmp_path / "texts.jsonl", [*TEXTS, TEXTS[0]])

    sample = take_sample(name, _settings(), in_chosen_shingles=False)

    assert sample.similarities.max() == 1
    assert sample.unrelated(0.8).max() < 0.8
    assert sample.unrelated(0.8).size == sample.similarities.size - 1


def test_a_long_file_is_drawn_from_evenly_and_alike_each_time(tmp_path: Path) -> None:
    """Of 4,000 texts 1,000 are drawn, about as many from either half, the same on each run."""
    texts = ["x" * 10 if number < 2000 else "y" * 20 for number in range(4000)]
    name = _write(tmp_path / "long.jsonl", texts)

    first, second = (take_sample(name, _settings(), in_chosen_shingles=False) for _ in range(2))

    assert first.recommendation.documents == 1000
    # Pairs from one half are alike, pairs across are not: half of all, give or take, are alike.
    assert first.similarities.mean() == pytest.approx(0.5, abs=0.02)
    assert np.array_equal(first.similarities, second.similarities)


def test_long_texts_are_compared_in_fewer_pairs(tmp_path: Path) -> None:
    """The comparison is bounded: of 200 texts of 100,000 characters some 100 are compared."""
    texts = ["on and on " * 10_000] * 200

    name = _write(tmp_path / "books.jsonl", texts)

    sample = take_sample(name, _settings(), in_chosen_shingles=False)

    assert sample.recommendation.documents == 200
    assert sample.similarities.size <= 101 * 100 // 2
    assert sample.recommendation.size == 9


def test_lines_that_are_no_documents_are_returned_in_order(tmp_path: Path) -> None:
    """Each has its number in the file, blank lines counted, and a reason."""
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "one text"}\n\nnonsense\n{"text": "two texts"}\n{"id": 1}\n')

    sample = take_sample(str(path), _settings(), in_chosen_shingles=False)

    assert [line.number for line in sample.rejected] == [3, 5]
    assert sample.rejected[1].reason == "no text: text missing"


@pytest.mark.parametrize("texts", [[], ["only one"], ["one", "", "  "]])
def test_fewer_than_two_texts_are_no_sample(tmp_path: Path, texts: list[str]) -> None:
    """What holds no pair is refused by name."""
    name = _write(tmp_path / "small.jsonl", texts)

    with pytest.raises(InputError, match=r"small\.jsonl: a sample takes at least two documents"):
        take_sample(name, _settings(), in_chosen_shingles=False)
