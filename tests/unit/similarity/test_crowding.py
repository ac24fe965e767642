"""The price of full buckets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.crowding import recall_price
from stream_dedup.similarity.curve import miss_probability


def test_a_worked_example() -> None:
    """Of 4 documents one met 2 full buckets of 3: of its pairs at s = ½, r = 1, ½ - ⅛ are lost."""
    assert recall_price({2: 1}, 4, 0.5, bands=3, rows=1) == pytest.approx((0.5 - 0.125) / 4)


@given(
    agreement=st.floats(0, 1),
    full=st.integers(0, 21),
    rows=st.integers(1, 8),
    met=st.integers(0, 9),
)
def test_the_price_is_what_the_other_buckets_would_miss_beyond_the_curve(
    agreement: float, full: int, rows: int, met: int
) -> None:
    """It is a share, none where no bucket was full, and never more than all that could be found."""
    price = recall_price({full: met}, 10, agreement, 21, rows)

    assert -1e-12 <= price <= 1 - miss_probability(agreement, 21, rows) + 1e-12
    assert (full and met) or price == 0


def test_nothing_decided_costs_nothing() -> None:
    """An index of no documents has no price."""
    assert recall_price({}, 0, 0.8, 21, 6) == 0
