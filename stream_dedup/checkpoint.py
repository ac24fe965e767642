"""What an index remembers of the files it was fed from and of those its verdicts went to.

An index is fed from files or from a log, never from both: each would miss what the other brought.

The entries lie in its meta and change in the same write as its rows.
"""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from stream_dedup.errors import Refused
from stream_dedup.trail import Mark

_INPUT = "input "
_STRETCH = "stretch "
_OUTPUT = "output "
LOG = "log"  # the entry of an index that is fed from a log; `kafka/ledger.py` says what is in it


class InputProgress(Struct, frozen=True, kw_only=True):
    """How far an input was read; of a pipe, which cannot be read again, only the lines count."""

    read: Mark | None = None
    lines: int = 0


class Stretch(Struct, frozen=True, kw_only=True):
    """Where one input was taken up after another: who reads all of them again needs the order."""

    input: str
    name: str  # by which records refer to it
    line: int


class Checkpoint:
    """The entries as they were when the index was opened."""

    def __init__(self, meta: Mapping[str, bytes]) -> None:
        self._meta = meta

    def input(self, key: str) -> InputProgress:
        """Return how far an input was read, which is nowhere if it is new."""
        entry = self._meta.get(_INPUT + key)
        return msgspec.json.decode(entry, type=InputProgress) if entry else InputProgress()

    def refuse_log(self, directory: object, feeder: str, way_out: str) -> None:
        """Refuse an index that was fed from a log, which lacks what this feeder would add."""
        if LOG in self._meta:
            raise Refused(
                f"the index in {directory} is fed from Kafka: its log does not have what {feeder} "
                f"would add. {way_out}"
            )

    def inputs(self) -> dict[str, InputProgress]:
        """Return how far each input was read, by key."""
        keys = [name.removeprefix(_INPUT) for name in self._meta if name.startswith(_INPUT)]
        return {key: self.input(key) for key in keys}

    def stretches(self) -> list[Stretch]:
        """Return in which order inputs were read."""
        numbers = [name.removeprefix(_STRETCH) for name in self._meta if name.startswith(_STRETCH)]
        return [
            msgspec.json.decode(self._meta[_STRETCH + number], type=Stretch)
            for number in sorted(numbers, key=int)
        ]

    def outputs(self) -> dict[str, bytes]:
        """Return the entries of all outputs as they are."""
        return {name: entry for name, entry in self._meta.items() if name.startswith(_OUTPUT)}

    def output(self, key: str) -> Mark | None:
        """Return what is sure to have been written to a file, or None if it is new."""
        entry = self._meta.get(_OUTPUT + key)
        return msgspec.json.decode(entry, type=Mark) if entry else None


def input_entry(key: str, progress: InputProgress) -> dict[str, bytes]:
    """Write how far an input was read."""
    return {_INPUT + key: msgspec.json.encode(progress)}


def stretch_entry(checkpoint: Checkpoint, stretch: Stretch) -> dict[str, bytes]:
    """Write that an input is taken up, unless it was the last one that was."""
    before = checkpoint.stretches()
    if before and (before[-1].input, before[-1].name) == (stretch.input, stretch.name):
        return {}
    return {f"{_STRETCH}{len(before)}": msgspec.json.encode(stretch)}


def output_entry(key: str, written: Mark) -> dict[str, bytes]:
    """Write how much of an output is sure."""
    return {_OUTPUT + key: msgspec.json.encode(written)}
