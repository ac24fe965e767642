"""The server: a thread of its own, so that no other keeps a probe waiting."""

import logging
import socket
from contextlib import suppress
from threading import Thread
from time import monotonic

import uvicorn
from starlette.types import ASGIApp

from stream_dedup.errors import Unavailable, UsageError
from stream_dedup.logs import fields
from stream_dedup.web.connections import Connection

_log = logging.getLogger(__name__)

_START_SECONDS = 10.0
_LOOK_SECONDS = 0.01
# For answers under way; what is not done then is cut off.
_GRACE_SECONDS = 1
_CLOSE_SECONDS = 5.0


class Server:
    """Serves an application at an address."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        """Take port 0 for any that is free."""
        self._host, self._port = host, port
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                log_level="error",  # a client's mistake is told to the client
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._thread: Thread | None = None
        self.address = ""  # known once it has started

    def start(self) -> None:
        """Listen, and serve from now on."""
        listening = self._listening()
        host, port = listening.getsockname()[:2]
        self.address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        # Not waited for at the end of the process: one that hangs must not hold it.
        self._thread = Thread(
            target=self._uvicorn.run, args=([listening],), name="http", daemon=True
        )
        self._thread.start()
        give_up = monotonic() + _START_SECONDS
        while not self._uvicorn.started:
            self._thread.join(_LOOK_SECONDS)
            if not self._thread.is_alive() or monotonic() > give_up:
                raise Unavailable(f"nothing is served at {self.address}: it did not start")
        _log.info("serving", extra=fields(address=self.address))

    def close(self) -> None:
        """Let answers under way be given, and stop; a second call does nothing."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._uvicorn.should_exit = True
        thread.join(_CLOSE_SECONDS)
        if thread.is_alive():
            _log.warning("the server did not end", extra=fields(address=self.address))

    def _listening(self) -> socket.socket:
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
            family, *_, place = found[0]
            listening = socket.create_server(place[:2], family=family)
        except socket.gaierror as error:
            raise UsageError(f"http.host = {self._host}: {error.strerror}") from None
        except PermissionError:
            raise UsageError(f"http.port = {self._port}: this user may not serve there") from None
        except OSError as error:
            with suppress(OSError):  # tells an address that is not ours from one that is taken
                socket.create_server((self._host, 0)).close()
                raise Unavailable(
                    f"http.port = {self._port} on {self._host} is taken: end what serves there, or "
                    "choose another, 0 for any"
                ) from None
            raise UsageError(f"http.host = {self._host}: {error.strerror}") from None
        # Connections inherit it. Else the body of an answer waits until the client has acknowledged
        # the head: 40 ms.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
