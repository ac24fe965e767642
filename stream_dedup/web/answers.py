"""What every answer looks like: JSON or a file, and headers that keep browsers from mischief."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from stream_dedup.errors import StreamDedupError

# The page needs nothing but its own files and this service, and nobody may frame it.
_POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "connect", "img")),
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
JSON = "application/json"


class Failure(Struct, frozen=True):
    """What was wrong with a request, or with the service."""

    error: str


class Answer(Response):
    """Bytes of some type."""

    def __init__(
        self,
        content: bytes,
        media_type: str,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(content, status, {**_HEADERS, **(headers or {})}, media_type)


def json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Answer with JSON."""
    return Answer(msgspec.json.encode(value), JSON, status, headers)


def failure(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Answer that it cannot be done, and why."""
    return json(Failure(reason), status, headers)


async def refused(_: Request, error: Exception) -> Answer:
    """Answer to what was asked wrongly."""
    assert isinstance(error, HTTPException)
    return failure(error.status_code, error.detail, error.headers)


async def not_now(_: Request, error: Exception) -> Answer:
    """Answer while the index is closed or the disk is away."""
    assert isinstance(error, StreamDedupError)
    return failure(503, str(error), {"retry-after": "1"})


async def failed(_: Request, error: Exception) -> Answer:
    """Answer to a mistake of ours; what it was stands in the log."""
    return failure(500, f"an error of the service: {type(error).__name__}")
