"""A web service to ask: everything real but Kafka."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple

from msgspec.structs import replace

from stream_dedup.config import EventsSettings, HttpSettings, Settings, SimilaritySettings
from stream_dedup.deduplicator import Deduplicator
from stream_dedup.health import Health
from stream_dedup.live import Live
from stream_dedup.metrics import Metrics
from stream_dedup.quantities import Duration, Size
from stream_dedup.query import Reader
from stream_dedup.web.application import Desk, application
from stream_dedup.web.server import Server

TOKEN = "correct-horse-battery"
BASE = " ".join(f"word{number}" for number in range(60))
SETTINGS = Settings(
    similarity=SimilaritySettings(verify="exact"),
    events=EventsSettings(emit="none"),
    http=HttpSettings(
        body_bytes_max=Size(20_000),
        requests_per_second_max=10_000,
        request_timeout_seconds=Duration(5),
    ),
)
DOCUMENTS = [
    {"id": "a1", "text": f"{BASE} one", "source": "x"},
    {"id": "a2", "text": f"{BASE} two", "source": "y"},
    {"id": "a/b?c%\n é", "text": f"{BASE} three"},
    {"id": "a1", "text": f"{BASE} four", "namespace": "n m"},
]


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Web(NamedTuple):
    """A service that listens."""

    server: Server
    desk: Desk
    dedup: Deduplicator

    @property
    def host(self) -> str:
        return self.server.address.removeprefix("http://")

    def ask(
        self, path: str, body: object = None, method: str | None = None, **headers: str
    ) -> Reply:
        """Ask over a connection of its own, JSON where the body is none."""
        sent = json.dumps(body) if body is not None and not isinstance(body, bytes) else body
        with closing(HTTPConnection(self.host, timeout=20)) as connection:
            chosen = method or ("GET" if body is None else "POST")
            connection.request(chosen, path, sent, headers)
            return reply(connection)

    def connect(self) -> socket.socket:
        """Open a connection that says nothing yet."""
        host, _, port = self.host.partition(":")
        return socket.create_connection((host, int(port)), timeout=20)

    def raw(self, request: bytes) -> bytes:
        """Send bytes, and return all that comes until the connection ends."""
        with self.connect() as connection:
            connection.sendall(request)
            return everything(connection)


def reply(connection: HTTPConnection) -> Reply:
    """Read an answer."""
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return Reply(answer.status, headers, answer.read())


def everything(connection: socket.socket) -> bytes:
    """Read until the other side has ended the connection."""
    received = b""
    try:
        while piece := connection.recv(1 << 16):
            received += piece
    except ConnectionResetError:
        pass
    return received


@contextmanager
def serving(
    settings: Settings = SETTINGS, token: str = "", signs_only: bool = False
) -> Iterator[Web]:
    """Serve a few documents until the block ends."""
    metrics, health = Metrics(), Health()
    health.tell("match", "working")
    with Deduplicator(settings=settings) as dedup:
        dedup.add_many(DOCUMENTS)
        reader = Reader(dedup._index, settings, lambda: dedup._matcher)
        desk = Desk(
            settings, metrics, health, Live(metrics, settings), None if signs_only else reader
        )
        server = Server(application(desk, token), "127.0.0.1", 0)
        server.start()
        with closing(server):
            yield Web(server, desk, dedup)


def with_http(**changes: Any) -> Settings:
    """Return settings that differ in how requests are bounded."""
    return replace(SETTINGS, http=replace(SETTINGS.http, **changes))
