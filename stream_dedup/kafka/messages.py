"""Records as they come from Kafka and go to it, without the client's types."""

from msgspec import Struct

Headers = list[tuple[str, bytes | None]]

# Of a record with all it has: brokers take no request that is larger, unless they are told to.
RECORD_BYTES_MAX = 100_000_000

# Of what is made of a record: when that was written, in milliseconds since 1970, as text.
ORIGINAL_TIMESTAMP = "stream-dedup-original-timestamp"


class Incoming(Struct, frozen=True, gc=False):
    """A record that was read."""

    topic: str
    partition: int
    offset: int
    timestamp: int  # milliseconds since 1970; `logtime.UNDATED` where it has none
    key: bytes | None
    value: bytes | None
    headers: Headers
    unreadable: str = ""  # what could not be read of it, and is missing here


class Outgoing(Struct, frozen=True, gc=False):
    """A record to write."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = []
    partition: int = -1  # the client's choice, by the key
