"""The service on Kafka, as `stream-dedup run` starts it."""

from contextlib import ExitStack, closing
from threading import Event
from typing import TYPE_CHECKING, Literal

from stream_dedup.cli.stopping import stopping
from stream_dedup.config import Settings
from stream_dedup.errors import Refused

if TYPE_CHECKING:
    from stream_dedup.index.rocksdb import RocksIndex

Role = Literal["all", "sign", "match"]


def serve(settings: Settings, role: Role) -> None:
    """Sign, match or both, until stopped."""
    from stream_dedup import logs
    from stream_dedup.kafka.service import Service

    logs.begin(settings.log)
    stopped = Event()
    with ExitStack() as stack:
        index = None if role == "sign" else _opened(settings, stack)
        # Nothing is under way before it runs: until then a signal ends the process at once.
        service = Service(settings, role, index)
        with stopping(stopped):
            service.run(stopped)


def _opened(settings: Settings, stack: ExitStack) -> "RocksIndex":
    """Open the index; one that was fed from files has no place in any log."""
    from stream_dedup.checkpoint import Checkpoint
    from stream_dedup.index.rocksdb import RocksIndex

    directory = settings.index.directory
    index = stack.enter_context(closing(RocksIndex.open(directory, settings.index)))
    if Checkpoint(index.meta()).inputs():
        raise Refused(
            f"the index in {directory} was fed from files: it cannot go on from a topic. Give the "
            "service an index of its own: index.directory, or --index DIR"
        )
    return index
