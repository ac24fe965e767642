"""What may be asked, as it is written in a request."""

from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from msgspec import Meta, Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request

Threshold = Annotated[float, Meta(gt=0, le=1)]
# To JSON and its schemas 5.0 is as whole a number as 5.
Limit = Annotated[float, Meta(ge=1, le=100, multiple_of=1)]

Asked = TypeVar("Asked", bound=Struct)


class Query(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text, and what of it is known: by default the threshold and limit of the settings hold."""

    text: str
    namespace: str = ""
    source: str = ""
    threshold: Threshold | None = None
    limit: Limit | None = None


class Explain(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two texts, or the ids of two documents of a namespace whose texts are kept."""

    a: str
    b: str
    by: Literal["text", "id"] = "text"
    namespace: str = ""
    passages: Limit = 5


async def asked(request: Request, kind: type[Asked]) -> Asked:
    """Read what is asked from the body."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except msgspec.ValidationError as error:
        raise HTTPException(422, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(400, f"the body is no JSON: {error}") from None


def named(request: Request) -> tuple[str, str]:
    """Return the id and the namespace that a request names; an id may hold any character."""
    parts = request.scope["raw_path"].split(b"/", 3)
    query: Any = request.scope["query_string"]
    try:
        identity = unquote_to_bytes(parts[-1]).decode()
        pairs = parse_qsl(query.decode(), keep_blank_values=True, errors="strict")
    except ValueError:  # of UTF-8 too
        raise HTTPException(400, "the path or the query is not UTF-8") from None
    given = dict(pairs)
    if unknown := given.keys() - {"namespace"}:
        raise HTTPException(400, f"unknown parameter {min(unknown)!r}: there is only namespace")
    if len(pairs) > 1:
        raise HTTPException(400, "namespace is given more than once")
    return identity, given.get("namespace", "")
