"""Who is in a consumer group, and what is theirs.

It is asked in the older of two ways: librdkafka's newer one, as all of its admin client that looks
for a coordinator, now and then ends the process where the broker goes away meanwhile.
"""

import logging
import struct
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from confluent_kafka import KafkaException

from stream_dedup.errors import Unavailable
from stream_dedup.kafka.clients import Clients

_log = logging.getLogger(__name__)

_CALL_SECONDS = 5.0
_PAUSE_SECONDS = 0.5


class Member(NamedTuple):
    """A member of a group."""

    id: str
    client_id: str
    partitions: frozenset[tuple[str, int]]


def members(clients: Clients, group: str, seconds_max: float) -> list[Member]:
    """Return the members; wait for a broker that is away, with a bound."""
    give_up = time.monotonic() + seconds_max
    while True:
        try:
            return _asked(clients, group)
        except KafkaException as error:
            if time.monotonic() > give_up:
                raise Unavailable(f"no answer about the group {group}: {error}") from None
            _log.warning("waiting to hear of the group %s: %s", group, error)
            time.sleep(_PAUSE_SECONDS)


def _asked(clients: Clients, group: str) -> list[Member]:
    admin = clients.admin()
    found: list[Member] = []
    groups: list[Any] = admin.list_groups(group, _CALL_SECONDS)
    for described in groups:
        if described.error is not None:
            raise KafkaException(described.error)
        found += [
            Member(member.id, member.client_id, frozenset(_partitions(member.assignment or b"")))
            for member in described.members
        ]
    return found


def _partitions(assignment: bytes) -> Iterator[tuple[str, int]]:
    """Read what a consumer was assigned, as Kafka's protocol of consumers writes it.

    version i16 · count i32 of topics, each: length i16, name, count i32 of partitions, i32 each;
    all big-endian. During a rebalance there is none.
    """
    place = 6
    for _ in range(int.from_bytes(assignment[2:6])):
        start = place + 2
        end = start + int.from_bytes(assignment[place:start])
        (count,) = struct.unpack_from(">i", assignment, end)
        topic = assignment[start:end].decode()
        yield from (
            (topic, number) for number in struct.unpack_from(f">{count}i", assignment, end + 4)
        )
        place = end + 4 + 4 * count
