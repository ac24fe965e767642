import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.quantities import Duration, Size


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (1, 1),
        ("4096", 4096),
        ("10 MB", 10_000_000),
        ("10mb", 10_000_000),
        ("1 GiB", 1024**3),
        ("1.5 KiB", 1536),
        ("3 TB", 3 * 1000**4),
        ("9007199254740993 B", 9007199254740993),
    ],
)
def test_sizes_are_read_as_people_write_them(written: object, expected: int) -> None:
    """Sizes are decimal (MB), binary (MiB) or plain numbers of bytes; whole ones are exact."""
    assert Size.parse(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [("90s", 90), ("15m", 900), ("72h", 259_200), ("30d", 2_592_000), ("1.5 h", 5400)],
)
def test_durations_are_read_as_people_write_them(written: str, expected: float) -> None:
    """Durations are a number and a unit from seconds to weeks."""
    assert Duration.parse(written) == expected


def test_no_duration_is_longer_than_every_other() -> None:
    """`none` compares as a window that never ends."""
    assert Duration.parse("none") == math.inf


@pytest.mark.parametrize("kind", [Size, Duration])
@pytest.mark.parametrize(
    "written", [True, 1.5, None, [], "", "0", "-1 B", "10 XB", "1e3", "٣ s", "h"]
)
def test_what_is_no_quantity_is_refused(kind: type[Size] | type[Duration], written: object) -> None:
    """Whatever cannot be read raises ValueError, which names how to write it."""
    with pytest.raises(ValueError, match="such as"):
        kind.parse(written)


def test_a_number_without_unit_is_no_duration() -> None:
    """`72` could be hours or seconds, so a duration needs its unit."""
    with pytest.raises(ValueError, match="such as"):
        Duration.parse("72")


@given(st.text())
def test_any_text_is_read_or_refused(written: str) -> None:
    """No text raises anything but ValueError, and what is read is above zero."""
    for kind in (Size, Duration):
        try:
            assert kind.parse(written) > 0
        except ValueError:
            continue
