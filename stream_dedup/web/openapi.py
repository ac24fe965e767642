"""The OpenAPI document: what can be asked, and every answer that may come."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from stream_dedup import __version__
from stream_dedup.explanation import Explanation
from stream_dedup.health import Report
from stream_dedup.query import QueryAnswer
from stream_dedup.snapshot import InForce, Snapshot
from stream_dedup.upkeep.lookup import KnownCluster, Remembered
from stream_dedup.web.answers import JSON, Failure
from stream_dedup.web.questions import Explain, Query

_REASONS = {
    400: "The body is no JSON, or the path or the query cannot be read.",
    401: "The bearer token is missing or wrong.",
    404: "Nothing of this id is remembered.",
    408: "The request was not read within http.request_timeout_seconds.",
    409: "The texts of documents are not kept.",
    413: "The body is larger than http.body_bytes_max.",
    421: "Without a token, asked for by a name that is not of this machine.",
    422: "The body is JSON, and not what is asked for here.",
    429: "More than http.requests_per_second_max requests.",
    500: "A mistake of the service; its log tells more.",
    503: "Too many questions at a time, no answer in time, or no index to ask.",
}
# What any request may be answered: the limits come before the routes.
_ALWAYS = (400, 408, 413, 421, 500, 503)
_LIMITED = (*_ALWAYS, 429)


class _Operation(NamedTuple):
    path: str
    summary: str
    answer: type
    failures: tuple[int, ...] = _LIMITED
    body: type | None = None
    is_private: bool = True
    is_probe: bool = False


_OPERATIONS = [
    _Operation(
        "/v1/query",
        "What a document of this text would match; nothing is stored.",
        QueryAnswer,
        (*_LIMITED, 422),
        Query,
    ),
    _Operation(
        "/v1/explain",
        "Why two texts are duplicates, or are not.",
        Explanation,
        (*_LIMITED, 404, 409, 422),
        Explain,
    ),
    _Operation(
        "/v1/documents/{id}", "What is remembered of a document.", Remembered, (*_LIMITED, 404)
    ),
    _Operation(
        "/v1/clusters/{id}",
        "The group of copies that a document is in.",
        KnownCluster,
        (*_LIMITED, 404),
    ),
    _Operation("/v1/plan", "The settings in force, and what they promise.", InForce),
    _Operation("/v1/live", "What the live page shows.", Snapshot),
    _Operation(
        "/livez", "Whether the process is alive.", Report, _ALWAYS, None, False, is_probe=True
    ),
    _Operation(
        "/readyz", "Whether all roles do their work.", Report, _ALWAYS, None, False, is_probe=True
    ),
]
_EXAMPLES: Mapping[type, Any] = {
    Query: {"text": "Yesterday the minister said that taxes would rise.", "threshold": 0.6},
    Explain: {"a": "a1", "b": "a2", "by": "id"},
}
_PARAMETERS: list[Mapping[str, Any]] = [
    {
        "name": "id",
        "in": "path",
        "required": True,
        "description": "The document's id, its characters percent-encoded where they need be.",
        "schema": {"type": "string", "minLength": 1},
        "example": "a1",
    },
    {
        "name": "namespace",
        "in": "query",
        "description": "The document's namespace; documents without one share one.",
        "schema": {"type": "string", "default": ""},
    },
]


def description(has_token: bool) -> bytes:
    """Write the document; with a token, what is private asks for it."""
    answered = [operation.answer for operation in _OPERATIONS]
    bodies = [operation.body for operation in _OPERATIONS if operation.body]
    types = [*answered, *bodies, Failure]
    references, schemas = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    schema_of = dict(zip(types, references, strict=True))
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "stream_dedup",
            "version": __version__,
            "description": "What is remembered of a stream of documents, and how it is doing.",
        },
        "paths": {
            operation.path: {
                "post" if operation.body else "get": _described(operation, schema_of, has_token)
            }
            for operation in _OPERATIONS
        },
        "components": {"schemas": schemas},
    }
    if has_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return msgspec.json.encode(document)


def _described(
    operation: _Operation, schema_of: Mapping[type, Any], has_token: bool
) -> dict[str, Any]:
    is_guarded = has_token and operation.is_private
    statuses = sorted({*operation.failures, *([401] if is_guarded else [])})
    answers = {str(status): _answer(_REASONS[status], schema_of[Failure]) for status in statuses}
    answers["200"] = _answer(operation.summary, schema_of[operation.answer])
    if operation.is_probe:
        either = {"anyOf": [schema_of[operation.answer], schema_of[Failure]]}
        answers["503"] = _answer("No, and why.", either)
    described: dict[str, Any] = {"summary": operation.summary, "responses": answers}
    if is_guarded:
        described["security"] = [{"token": []}]
    if "{id}" in operation.path:
        described["parameters"] = _PARAMETERS
    if operation.body:
        body = {"schema": schema_of[operation.body], "example": _EXAMPLES[operation.body]}
        described["requestBody"] = {"required": True, "content": {JSON: body}}
    return described


def _answer(meaning: str, schema: Any) -> dict[str, Any]:
    return {"description": meaning, "content": {JSON: {"schema": schema}}}
