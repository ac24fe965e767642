"""The service on Kafka, as `stream-dedup run` starts it."""

import os
from contextlib import ExitStack, closing
from threading import Event
from typing import TYPE_CHECKING, Literal

from stream_dedup.cli.stopping import stopping
from stream_dedup.config import Settings
from stream_dedup.errors import Refused

if TYPE_CHECKING:
    from stream_dedup.index.rocksdb import RocksIndex
    from stream_dedup.kafka.service import Service
    from stream_dedup.panel import Panel

Role = Literal["all", "sign", "match"]


def serve(settings: Settings, role: Role) -> None:
    """Sign, match or both, until stopped."""
    from stream_dedup import logs
    from stream_dedup.index_gauges import IndexGauges
    from stream_dedup.kafka.service import Service, no_step
    from stream_dedup.panel import Panel
    from stream_dedup.web.bearer import token_of

    logs.begin(settings.log)
    token = token_of(settings.http, os.environ) if settings.http.enabled else ""
    stopped = Event()
    with ExitStack() as stack:
        index = None if role == "sign" else _opened(settings, stack)
        panel = Panel.of(settings)
        stack.callback(panel.tracing.close)
        # Nothing is under way before it runs: until then a signal ends the process at once.
        service = Service(settings, role, index, no_step, panel)
        if index is not None:
            directory = settings.index.directory
            gauges = IndexGauges(index, directory, service.matcher, panel.metrics)
            service.measures.append(gauges.sample)
        with stopping(stopped):
            if settings.http.enabled:
                _show(settings, token, panel, service, index, stack)
            service.run(stopped)


def _show(
    settings: Settings,
    token: str,
    panel: "Panel",
    service: "Service",
    index: "RocksIndex | None",
    stack: ExitStack,
) -> None:
    """Serve metrics, health, queries and the page."""
    from stream_dedup.query import Reader
    from stream_dedup.web.application import Desk, application
    from stream_dedup.web.server import Server

    reader = None if index is None else Reader(index, settings, service.matcher)
    app = application(Desk(settings, panel.metrics, panel.health, panel.live, reader), token)
    server = Server(app, settings.http.host, settings.http.port)
    server.start()
    stack.callback(server.close)


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
