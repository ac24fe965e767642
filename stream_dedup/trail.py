"""How a file is known again: by the length, the first and the last bytes of what was used of it."""

import os
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

from msgspec import Struct

_KEPT_BYTES = 4096  # at either end: a file that was cut or written anew differs somewhere there


class Mark(Struct, frozen=True):
    """What is remembered of a file: so many bytes, and a digest of the first and last of them."""

    bytes: int
    digest: str


class Trail(NamedTuple):
    """The content up to a place."""

    length: int = 0
    head: bytes = b""
    tail: bytes = b""

    def after(self, content: bytes) -> "Trail":
        """Return the trail to the end of the content that follows."""
        head = self.head
        if len(head) < _KEPT_BYTES:
            head = (head + content[:_KEPT_BYTES])[:_KEPT_BYTES]
        tail = (self.tail + content[-_KEPT_BYTES:])[-_KEPT_BYTES:]
        return Trail(self.length + len(content), head, tail)

    def mark(self) -> Mark:
        """Make what is remembered."""
        digest = blake2b(self.head + self.tail, digest_size=16)
        return Mark(bytes=self.length, digest=digest.hexdigest())


def trail_of(file: BinaryIO, length: int) -> Trail:
    """Return the trail to a place in a file, or to its end if that comes first, and go there."""
    length = min(length, file.seek(0, os.SEEK_END))
    ends = []
    for start in (0, max(0, length - _KEPT_BYTES)):
        file.seek(start)
        ends.append(file.read(min(length, _KEPT_BYTES)))
    return Trail(length, *ends)


def trail_through(content: BinaryIO, length: int) -> Trail:
    """The same for content that can only be read from its start."""
    trail = Trail()
    while trail.length < length and (read := content.read(min(1 << 20, length - trail.length))):
        trail = trail.after(read)
    return trail
