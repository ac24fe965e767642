"""What full buckets cost: pairs that are missed because a bucket does not show all it was given."""

from collections.abc import Mapping


def recall_price(
    capped: Mapping[int, int], looked_up: int, agreement: float, bands: int, rows: int
) -> float:
    """Return the share of pairs of this row agreement that full buckets hide, at the most.

    `capped` maps a number c of full buckets to how many of all `looked_up` documents met so many.
    Of the pairs of such a document, (1-s^r)^(b-c) meet in none of its other buckets, and of these
    (1-s^r)^b would meet nowhere anyway. The rest is lost if the full ones hide the partner, which
    they need not do.
    """
    apart = 1 - agreement**rows  # in one band
    lost = sum(
        documents * (apart ** (bands - full) - apart**bands) for full, documents in capped.items()
    )
    return lost / max(1, looked_up)
