"""What quality on corpora is made of: theory, labels, edits and counts against the exact join."""

import random
from importlib import import_module
from itertools import product

import numpy as np
import pytest

from benchmarks.corpora import edits
from benchmarks.corpora.exact import by_length, find, scores
from benchmarks.corpora.matches import mean_score
from benchmarks.corpora.records import Labels
from benchmarks.corpora.small import edited
from benchmarks.corpora.texts import Document, Labelled
from benchmarks.corpora.theory import Bands, chance
from benchmarks.recall.pairs import made_up_pairs

PLAN = Bands(bands=2, rows=2, hashes=5)


@pytest.mark.parametrize("least", [0, 3, 5])
def test_chance_is_what_all_outcomes_add_up_to(least: int) -> None:
    """Every way in which five values may agree is gone through, and weighed."""
    similarities = np.array([0.0, 0.3, 0.8, 1.0])
    expected = np.zeros(4)
    for agreeing in product([False, True], repeat=5):
        shares_a_band = all(agreeing[:2]) or all(agreeing[2:4])
        if shares_a_band and sum(agreeing) >= least:
            weights = [similarities if one else 1 - similarities for one in agreeing]
            expected += np.prod(weights, axis=0)

    assert chance(similarities, PLAN, least).tolist() == pytest.approx(expected.tolist())


def _labels() -> Labels:
    """Judge two sets: a copy with one letter changed, and one that is another text."""
    pytest.importorskip("scipy", reason="what labels are judged with comes with make bench")
    judge = import_module("benchmarks.corpora.labels").judge
    near = ["a ferry left the harbour on monday", "a ferry left the harbour on sunday", "no news"]
    far = ["first words", "quite another text", "a third one"]
    sets = [Labelled("near", near, {(0, 1)}), Labelled("far", far, {(0, 1)})]
    labels: Labels = judge("made up", sets, [("char", 5), ("word", 1)])
    return labels


def test_settings_are_judged_by_what_people_say() -> None:
    """Words tell the near copy from the rest; the far one is found by no setting worth its name."""
    labels = _labels()
    words = next(one for one in labels.best if (one.setting.unit, one.setting.size) == ("word", 1))

    assert labels.copies == [1, 1]
    assert words.right == [1, 0]
    assert words.reported == [1, 0]
    assert mean_score(words, labels.copies) == (0.5, 1.0)
    assert labels.default.right == [0, 0]
    assert {held.name for held in labels.held_out} == {"near", "far"}


@pytest.mark.parametrize("seed", range(5))
def test_an_edit_changes_what_it_says(seed: int) -> None:
    """One letter, one word, one word more, the order of two sentences."""
    source = random.Random(seed)
    text = "The first sentence is here. The second one follows it. A third ends the text."
    others = edits.stock(["Quite different words stand here. And in another sentence."], True)

    character = edits.change_character(text, others, source) or ""
    word = edits.change_word(text, others, source) or ""
    longer = edits.add_word(text, others, source) or ""
    moved = edits.move_sentence(text, others, source) or ""

    assert sum(a != b for a, b in zip(text, character, strict=True)) == 1, seed
    assert sum(a != b for a, b in zip(text.split(), word.split(), strict=True)) == 1, seed
    assert longer.endswith(f" {text}"), seed
    assert moved != text, seed
    assert sorted(moved.split()) == sorted(text.split()), seed


def test_an_edit_that_cannot_be_made_is_none() -> None:
    """A text without letters has no word to change, one sentence nothing to change places with."""
    others = edits.stock(["Some words. Another sentence."], True)

    assert edits.change_word("– 1 –".replace("1", "–"), others, random.Random(1)) is None
    assert edits.move_sentence("Only one sentence", others, random.Random(1)) is None


def test_counts_are_those_of_the_exact_join() -> None:
    """Verified exactly, all pairs at the threshold are reported and none besides."""
    texts, jaccard = made_up_pairs("char", 5, per_bin=3, lowest=0.6, seed=4)
    documents = [Document(str(place), text) for place, text in enumerate(texts)]
    similar = int((jaccard >= 0.8).sum())

    outcome = find(documents)
    (scored,) = scores("made up", documents, outcome)
    checks = {check.verify: check for check in scored.checks}
    lengths = by_length(outcome)

    assert (scored.documents, scored.texts, scored.pairs) == (len(texts), len(texts), similar)
    assert checks["exact"].reported == checks["exact"].right == similar
    assert checks["none"].right == similar
    assert checks["none"].reported >= scored.compared >= checks["signature"].reported
    assert sum(one.pairs for one in lengths) == similar
    assert checks["signature"].expected == pytest.approx(sum(one.expected for one in lengths))


def test_edited_texts_are_found_while_they_reach_the_threshold() -> None:
    """Of texts of a hundred and more words nearly all are found after one word was changed."""
    texts, _ = made_up_pairs("char", 5, per_bin=2, lowest=0.4, seed=5)
    rows = edited([Document(str(place), text) for place, text in enumerate(texts[::2])], 20)
    row = next(one for one in rows if (one.least, one.edit) == (300, "a word changed"))

    assert row.texts == row.reaching == 20
    assert row.found >= 19
    assert row.wrong == 0
