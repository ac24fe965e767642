"""What stands between a request and its answer: counts, the token, and limits of everything."""

import asyncio
import hmac
from collections.abc import Sequence
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stream_dedup.config import HttpSettings
from stream_dedup.metrics import REQUEST_SECONDS, REQUESTS, Metrics
from stream_dedup.web.answers import Answer, failure
from stream_dedup.web.bearer import is_this_machine
from stream_dedup.web.pace import Bucket, Busy

PROBES = ("/livez", "/readyz")
DESCRIPTION = "/v1/openapi.json"

_AGAIN = {"retry-after": "1"}
_ELSEWHERE = "other"  # all paths that are none, as one


class Gone(Exception):
    """Whoever asked has left."""


class Counted:
    """Counts requests by the templates of their paths, of which there are few."""

    def __init__(self, app: ASGIApp, metrics: Metrics, templates: Sequence[str]) -> None:
        self._app, self._metrics = app, metrics
        self._whole = {template for template in templates if "{" not in template}
        self._begun = {
            template.partition("{")[0]: template for template in templates if "{" in template
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count, whatever becomes of it."""
        status, started = 500, perf_counter()

        async def sending(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Gone:
            status = 499  # nobody was answered
        finally:
            name = self._template(scope["path"])
            self._metrics.add(REQUESTS, 1, name, str(status))
            self._metrics.observe(REQUEST_SECONDS, perf_counter() - started, name)

    def _template(self, path: str) -> str:
        if path in self._whole:
            return path
        begun = (name for start, name in self._begun.items() if path.startswith(start))
        return next(begun, _ELSEWHERE)


class Access:
    """Lets in who may ask, as much and as long as the settings allow."""

    def __init__(self, app: ASGIApp, settings: HttpSettings, token: str) -> None:
        self._app, self._settings = app, settings
        self._token = token.encode()
        # A page of another site could reach an open port of this machine by a name of its own.
        self._own_names_only = not token and not settings.allow_open
        # Those without the token must not use up what those with it may ask.
        self._public, self._private = (Bucket(settings.requests_per_second_max) for _ in range(2))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer in time, even if only that it takes too long."""
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        refusal = self._refusal(scope)
        request = _Request(receive, self._settings.body_bytes_max)
        try:
            async with asyncio.timeout(self._settings.request_timeout_seconds):
                refusal = refusal or await request.read()
                await (refusal or self._app)(scope, request.replayed, sending)
                return
        except TimeoutError:
            if begun:  # the connection is cut: whoever does not take the answer gets no other
                return
            late = self._late(request)
        except Busy:
            late = failure(503, "too many questions at a time", _AGAIN)
        await late(scope, request.replayed, send)

    def _refusal(self, scope: Scope) -> Answer | None:
        """Refuse by what is known before the body, or let pass."""
        path, headers = scope["path"], dict(scope["headers"])
        if self._own_names_only and not is_this_machine(_host(headers)):
            return failure(421, "without a token or http.allow_open, ask for localhost")
        private = path.startswith("/v1/") and path != DESCRIPTION
        if private and self._token and not self._is_known(headers):
            reason = "the bearer token is missing or wrong"
            return failure(401, reason, {"www-authenticate": "Bearer"})
        bucket = self._private if private else self._public
        if path not in PROBES and not bucket.take():
            limit = self._settings.requests_per_second_max
            reason = f"more than http.requests_per_second_max = {limit} requests"
            return failure(429, reason, _AGAIN)
        if int(headers.get(b"content-length", 0)) > self._settings.body_bytes_max:
            return _too_large(self._settings.body_bytes_max)
        return None

    def _is_known(self, headers: dict[bytes, bytes]) -> bool:
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._token)

    def _late(self, request: "_Request") -> Answer:
        seconds = f"within http.request_timeout_seconds = {self._settings.request_timeout_seconds}"
        if request.is_whole:
            return failure(503, f"no answer {seconds}", _AGAIN)
        return failure(408, f"the request was not read {seconds}", {"connection": "close"})


class _Request:
    """A request's body, read as a whole before anything is done with it."""

    def __init__(self, receive: Receive, bytes_max: int) -> None:
        self._receive, self._bytes_max = receive, bytes_max
        self._body = bytearray()
        self.is_whole = self._is_replayed = False

    async def read(self) -> Answer | None:
        """Read the body; return a refusal if it is too large."""
        while not self.is_whole:
            message = await self._receive()
            if message["type"] != "http.request":
                raise Gone
            self._body += message.get("body", b"")
            if len(self._body) > self._bytes_max:
                return _too_large(self._bytes_max)
            self.is_whole = not message.get("more_body", False)
        return None

    async def replayed(self) -> Message:
        """Return the body, and then what becomes of the connection."""
        if self._is_replayed:
            return await self._receive()
        self._is_replayed = True
        return {"type": "http.request", "body": bytes(self._body), "more_body": False}


def _too_large(bytes_max: int) -> Answer:
    return failure(413, f"more than http.body_bytes_max = {bytes_max} bytes")


def _host(headers: dict[bytes, bytes]) -> str:
    """Return the name that the client knows us by, without the port."""
    host = headers.get(b"host", b"").decode("latin-1")
    return host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]
