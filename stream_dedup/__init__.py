"""Say of each document in a stream whether it copies an earlier one, which one, and how closely.

The same engine reads Kafka topics, files and pipes. `similarity` is the mathematics and does no
I/O; `config` and `errors` are what an operator meets; `cli` is the only part that wires them.
`Deduplicator` is the whole of it for programs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stream_dedup.deduplicator import Deduplicator
else:

    def __getattr__(name: str) -> object:
        """Import what computes when it is asked for, so that --help answers at once."""
        if name == "Deduplicator":
            return import_module("stream_dedup.deduplicator").Deduplicator
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Deduplicator"]
__version__ = "0.1.0"
