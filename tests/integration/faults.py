"""What the trials do to the service within its own process: steps of the index, and bugs.

A step of the index is one at which the process can be made to die as at the service's own. A bug
is made on purpose, for an audit that finds none in any trial might find none at all.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, Producer

from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.index.rocksdb_families import Families
from stream_dedup.interfaces import Changes
from stream_dedup.kafka.follower import Follower, Step
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.replay import Replay
from stream_dedup.kafka.transactions import Transactions

OnStep = Callable[[str], None]


def name_steps_of_the_index(on_step: OnStep) -> None:
    """Tell of the steps of a change of generations."""
    rotate, create = RocksIndex.rotate, Families.create

    def rotating(index: RocksIndex, meta: Mapping[str, bytes]) -> None:
        on_step("index: rotating")
        rotate(index, meta)
        on_step("index: rotated")

    def creating(families: Families, names: Any) -> None:
        on_step("index: dropped")
        create(families, names)

    _replace(RocksIndex, "rotate", rotating)
    _replace(Families, "create", creating)


def remember_before_the_commit(_on_step: OnStep) -> None:
    """The index is written as soon as it is decided, and nobody asks whether it is ahead."""
    decide, remember = Follower.decide, Follower.remember

    def hasty(follower: Follower, records: Sequence[Incoming]) -> Step:
        step = decide(follower, records)
        remember(follower, step)
        return step

    _replace(Follower, "decide", hasty)
    _replace(Follower, "remember", lambda *_: None)
    _replace(Replay, "check", lambda *_: None)


def ignore_outcomes(_on_step: OnStep) -> None:
    """A transaction that went wrong is taken for one that was committed."""

    def settled(
        transactions: Transactions, producer: Producer, error: object, offsets: object, _: Consumer
    ) -> bool:
        transactions.open()
        return True

    _replace(Transactions, "_settle", settled)


def keep_the_producer(_on_step: OnStep) -> None:
    """A transaction that went wrong is taken for one that was committed, and its producer kept."""
    _replace(Transactions, "_settle", lambda *_: True)


def write_rows_and_position_apart(on_step: OnStep) -> None:
    """The rows of a batch and the position that it reached are two writes."""
    write = RocksIndex.write

    def written(index: RocksIndex, changes: Changes) -> None:
        before = {**changes.meta, **index.meta()}
        write(index, changes._replace(meta=before))
        on_step("index: rows written")
        write(index, changes._replace(puts={}, deletes={}))

    _replace(RocksIndex, "write", written)


BUGS: dict[str, Callable[[OnStep], None]] = {
    bug.__name__: bug
    for bug in (
        remember_before_the_commit,
        ignore_outcomes,
        keep_the_producer,
        write_rows_and_position_apart,
    )
}


def _replace(owner: type, name: str, method: object) -> None:
    setattr(owner, name, method)
