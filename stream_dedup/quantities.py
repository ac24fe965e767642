"""Sizes and durations as people write them in settings: `10 MB`, `1 GiB`, `72h`, `none`."""

import math
import re
from typing import ClassVar, Self

_NUMBER_AND_UNIT = re.compile(
    r"\s*(\d{1,18}(?:\.\d{1,9})?)\s*([a-z]*)\s*", re.ASCII | re.IGNORECASE
)


class Size(int):
    """A number of bytes, at least one."""

    written: ClassVar[str] = "a size such as '10 MB', '1 GiB' or a whole number of bytes"

    _bytes: ClassVar[dict[str, int]] = {
        "": 1,
        "b": 1,
        **{f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", start=1)},
        **{f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", start=1)},
    }

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a size, or raise ValueError."""
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        size = cls(_amount(text, cls._bytes, cls.written))
        if size < 1:
            raise ValueError(cls.written)
        return size


class Duration(float):
    """A number of seconds above zero; `none`, no limit, is infinity and compares as such."""

    written: ClassVar[str] = "a duration such as '72h', '30d', '15m', '90s' or 'none'"

    _seconds: ClassVar[dict[str, int]] = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a duration, or raise ValueError."""
        if value == "none":
            return cls(math.inf)
        duration = cls(_amount(value, cls._seconds, cls.written))
        if not 0 < duration < math.inf:
            raise ValueError(cls.written)
        return duration


def _amount(text: object, units: dict[str, int], written: str) -> float:
    """Multiply the number in `text` by its unit; whole numbers stay exact."""
    found = _NUMBER_AND_UNIT.fullmatch(text) if isinstance(text, str) else None
    if not found or (unit := found[2].lower()) not in units:
        raise ValueError(written)
    number = found[1]
    return (float(number) if "." in number else int(number)) * units[unit]
