"""What people are told of lines that are no documents: the first few one by one, all in number."""

from stream_dedup.cli.terminal import stderr
from stream_dedup.errors import InputError

_SHOWN = 20


class Rejections:
    """Tells of rejected lines, or stops at the first one if it is strict."""

    def __init__(self, strict: bool = False) -> None:
        self._strict = strict
        self.count = 0

    def add(self, source: str, number: int, reason: str) -> None:
        """Tell of a line; lines are counted from 1."""
        message = f"{source}:{number}: {reason}"
        if self._strict:
            raise InputError(f"{message} (without --strict such lines are skipped)")
        self.count += 1
        if self.count <= _SHOWN:
            stderr.print(f"skipped {message}", markup=False)

    def summarise(self) -> None:
        """Tell how many there were."""
        if self.count > _SHOWN:
            stderr.print(f"… and {self.count - _SHOWN:,} more lines like these")
        if self.count:
            stderr.print(f"lines skipped: {self.count:,}")
