"""Connections that end: none waits without bound for a client that is slow, or has none to say."""

from asyncio import AbstractEventLoop, TimerHandle, Transport

import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from stream_dedup.web.answers import JSON, Failure

# For the head of a request, and for each time that an answer waits to be taken.
PATIENCE_SECONDS = 10.0
CONNECTIONS_MAX = 100

_BODY = msgspec.json.encode(Failure("this is not HTTP"))
_NOT_HTTP = b"\r\n".join(
    [
        b"HTTP/1.1 400 Bad Request",
        f"content-type: {JSON}".encode(),
        f"content-length: {len(_BODY)}".encode(),
        b"connection: close",
        b"",
        _BODY,
    ]
)


class Connection(H11Protocol):
    """A connection that is cut where it would hold up others; its requests have their own bound."""

    _waiting: TimerHandle | None = None  # until it is cut
    since = 0.0  # when it began to wait

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Make room: who has waited longest for a client's word goes."""
        super().connection_made(transport)
        self._wait()
        others = self._others()
        if len(others) >= CONNECTIONS_MAX:
            idle = (one for one in others if one.is_idle)
            min(idle, key=lambda one: one.since, default=self).cut()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let the timer go too."""
        super().connection_lost(exc)
        self._stop_waiting()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a head no longer than for its beginning."""
        super().data_received(data)
        if not self.is_idle and not self.flow.write_paused:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def pause_writing(self) -> None:
        """Wait for a client that does not take its answer, but not for ever."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Go on with a client that takes its answer."""
        super().resume_writing()
        self._stop_waiting()

    def timeout_keep_alive_handler(self) -> None:
        """Close what nobody asks on any more, also when nobody takes the rest of an answer."""
        super().timeout_keep_alive_handler()
        self._wait()

    def send_400_response(self, msg: str) -> None:
        """Answer to what is not HTTP as to everything else; not within another answer."""
        if self.cycle is None or not self.cycle.response_started:
            self.transport.write(_NOT_HTTP)
        self.transport.close()

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing is asked at the moment."""
        return self.cycle is None or self.cycle.response_complete

    def cut(self) -> None:
        """End it at once, whatever is on its way."""
        self.transport.abort()

    def _others(self) -> list["Connection"]:
        """Return those that are open still: one that was cut takes a moment to go."""
        return [
            one
            for one in self.connections
            if isinstance(one, Connection) and one is not self and not one.transport.is_closing()
        ]

    def _wait(self) -> None:
        self._stop_waiting()
        loop: AbstractEventLoop = self.loop
        self.since = loop.time()
        self._waiting = loop.call_later(PATIENCE_SECONDS, self.cut)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
