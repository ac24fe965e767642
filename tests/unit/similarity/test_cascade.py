"""Cascades: reading them, their probability by composition, and the filter itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_dedup.errors import UsageError
from stream_dedup.similarity.cascade import parse_cascade
from stream_dedup.similarity.curve import candidate_probability, miss_probability

_TRIALS = 20_000


@st.composite
def _specs(draw: st.DrawFn) -> str:
    counts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    return "-".join(f"{('and', 'or')[i % 2]}{count}" for i, count in enumerate(counts))


def test_and4_or3_misses_as_published() -> None:
    """AND of 4 then OR of 3 misses a pair at 0.8 with probability (1-0.8^4)^3."""
    cascade = parse_cascade("and4-or3")

    assert 1 - cascade.probability(0.8) == pytest.approx((1 - 0.8**4) ** 3)
    assert cascade.hashes == 12


def test_four_levels_compose() -> None:
    """and4-or4-and4-or4 takes 256 values and is the curve of and4-or4 put into itself."""
    cascade = parse_cascade("and4-or4-and4-or4")
    once = 1 - (1 - 0.8**4) ** 4

    assert cascade.hashes == 256
    assert cascade.probability(0.8) == pytest.approx(1 - (1 - once**4) ** 4)


def test_two_levels_are_banding() -> None:
    """and6-or21 is 21 bands of 6 rows."""
    agreement = np.linspace(0, 1, 21)

    probability = parse_cascade("and6-or21").probability(agreement)

    assert probability == pytest.approx(candidate_probability(agreement, 21, 6))
    assert 1 - probability == pytest.approx(miss_probability(agreement, 21, 6))


@given(_specs())
def test_a_description_is_read_and_written_alike(spec: str) -> None:
    """A cascade prints as the description it was read from."""
    assert str(parse_cascade(spec)) == spec


@pytest.mark.parametrize("spec", [" AND4-OR3 ", "and-4-or-3"])
def test_capitals_and_hyphens_before_numbers_are_read(spec: str) -> None:
    """People write AND-4 as well as and4."""
    assert str(parse_cascade(spec)) == "and4-or3"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("", "'' is not a level"),
        ("or3", "found 'or3' where an and level belongs"),
        ("and4-and4", "found 'and4' where an or level belongs"),
        ("and4-or0", "'or0' is not a level"),
        ("and4-xor3", "'xor3' is not a level"),
        ("and4-", "'' is not a level"),
        ("and4--or3", "is not a level"),
        ("and4or3", "'and4or3' is not a level"),
        ("and٤", "is not a level"),
    ],
)
def test_what_is_no_cascade_is_refused_with_the_level_at_fault(spec: str, reason: str) -> None:
    """The message names the part that is wrong and shows a right one."""
    with pytest.raises(UsageError) as refusal:
        parse_cascade(spec)

    assert reason in str(refusal.value)
    assert "and4-or4-and4-or4" in str(refusal.value)


@settings(deadline=None, max_examples=40)
@given(_specs(), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_composition_agrees_with_simulation(spec: str, agreement: float, seed: int) -> None:
    """The share of simulated pairs that pass lies within 5 standard errors of the composition.

    Five rather than three, since each run draws 40 new examples.
    """
    cascade = parse_cascade(spec)
    rng = np.random.default_rng(seed)
    agrees = rng.random((_TRIALS, cascade.hashes), np.float32) < agreement

    share = cascade.evaluate(agrees).mean()

    expected = cascade.probability(agreement)
    error = np.sqrt(max(expected * (1 - expected), 1 / _TRIALS) / _TRIALS)
    assert abs(share - expected) <= 5 * error, f"{spec}, agreement {agreement}, seed {seed}"


def test_neighbouring_values_form_the_groups() -> None:
    """and2-or2 passes on values 0 and 1, or on 2 and 3, and on no other two."""
    cascade = parse_cascade("and2-or2")
    pairs = [(first, second) for first in range(4) for second in range(first)]
    agreement = np.zeros((len(pairs), 4), np.bool_)
    for pair, values in enumerate(pairs):
        agreement[pair, values] = True

    passed = cascade.evaluate(agreement)

    assert [pair for pair, hit in zip(pairs, passed, strict=True) if hit] == [(1, 0), (3, 2)]


def test_any_leading_shape_is_kept_and_further_values_are_not_read() -> None:
    """Agreement of shape (2, 3, 10) is decided to shape (2, 3) from its first values."""
    agreement = np.zeros((2, 3, 10), np.bool_)
    agreement[1, 2, :4] = True
    agreement[0, 0, 4:] = True

    passed = parse_cascade("and4").evaluate(agreement)

    assert passed.shape == (2, 3)
    assert passed.tolist() == [[False] * 3, [False, False, True]]


def test_too_few_values_are_an_error() -> None:
    """A cascade over more values than the signatures have is a mistake, not an answer."""
    with pytest.raises(ValueError, match="and4-or3 reads 12 values, got 11"):
        parse_cascade("and4-or3").evaluate(np.ones(11, np.bool_))
