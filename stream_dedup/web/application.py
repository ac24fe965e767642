"""The routes: what a service shows of itself, and what it can be asked."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import Route

from stream_dedup.config import Settings
from stream_dedup.errors import StreamDedupError
from stream_dedup.health import Health, Report
from stream_dedup.live import Live
from stream_dedup.metrics import CONTENT_TYPE, Metrics
from stream_dedup.query import Reader
from stream_dedup.web import answers
from stream_dedup.web.access import DESCRIPTION, Access, Counted
from stream_dedup.web.answers import Answer, json
from stream_dedup.web.openapi import description
from stream_dedup.web.pace import Threads
from stream_dedup.web.page_files import INDEX, page_files
from stream_dedup.web.questions import Explain, Query, asked, named

# Two work while two wait for a write; so many more are answered within the time of a request.
_THREADS = 4
_WAITING_MAX = 28

Given = TypeVar("Given")


class Desk(NamedTuple):
    """What the web shows of a service."""

    settings: Settings
    metrics: Metrics
    health: Health
    live: Live
    reader: Reader | None  # the role sign has no index to read


class _AnyId(Convertor[str]):
    """An id, whatever characters are in it."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any_id", _AnyId())


def application(desk: Desk, token: str) -> Starlette:
    """Put all of it together; an empty token asks for none."""
    told, asks, page = _Told(desk), _Asked(desk), _Page()
    openapi = answers.Answer(description(has_token=bool(token)), answers.JSON)

    async def describe(_: Request) -> Answer:
        return openapi

    routes = [
        Route("/", page.index),
        Route("/page/{name}", page.file),
        Route("/metrics", told.metrics),
        Route("/livez", told.livez),
        Route("/readyz", told.readyz),
        Route("/v1/live", told.live),
        Route("/v1/query", asks.query, methods=["POST"]),
        Route("/v1/explain", asks.explain, methods=["POST"]),
        Route("/v1/documents/{id:any_id}", asks.document),
        Route("/v1/clusters/{id:any_id}", asks.cluster),
        Route("/v1/plan", asks.plan),
        Route(DESCRIPTION, describe),
    ]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Counted, desk.metrics, [route.path_format for route in routes]),
            Middleware(Access, desk.settings.http, token),
        ],
        exception_handlers={
            HTTPException: answers.refused,
            StreamDedupError: answers.not_now,
            Exception: answers.failed,
        },
    )
    app.router.redirect_slashes = False  # a redirect would be to whatever host was asked for
    return app


class _Told:
    """What is known without asking the index."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def metrics(self, _: Request) -> Answer:
        self._desk.live.settle()
        return Answer(self._desk.metrics.exposition(), CONTENT_TYPE)

    async def livez(self, _: Request) -> Answer:
        return _probed(self._desk.health.live())

    async def readyz(self, _: Request) -> Answer:
        return _probed(self._desk.health.ready())

    async def live(self, _: Request) -> Answer:
        return json(self._desk.live.snapshot())


class _Asked:
    """What the index is asked, on threads that may wait for it."""

    def __init__(self, desk: Desk) -> None:
        self._reader = desk.reader
        self._threads = Threads(_THREADS, _WAITING_MAX)

    async def query(self, request: Request) -> Answer:
        of = await asked(request, Query)
        limit = int(of.limit) if of.limit else None
        call = partial(self._index.query, of.text, of.namespace, of.source, of.threshold, limit)
        return json(await self._threads.run(call))

    async def explain(self, request: Request) -> Answer:
        of = await asked(request, Explain)
        return json(await self._threads.run(partial(self._explained, of)))

    async def document(self, request: Request) -> Answer:
        return await self._known(request, self._index.document)

    async def cluster(self, request: Request) -> Answer:
        return await self._known(request, self._index.cluster)

    async def plan(self, _: Request) -> Answer:
        return json(self._index.plan())

    @property
    def _index(self) -> Reader:
        if self._reader is None:
            raise HTTPException(503, "this process only signs: ask one of the role match")
        return self._reader

    async def _known(self, request: Request, look_up: Callable[[str, str], Given]) -> Answer:
        identity, namespace = named(request)
        found = await self._threads.run(partial(look_up, identity, namespace))
        if found is None:
            raise _unknown(identity)
        return json(found)

    def _explained(self, of: Explain) -> object:
        a, b = of.a, of.b
        if of.by == "id":
            a, b = (self._text(identity, of.namespace) for identity in (a, b))
        return self._index.explain(a, b, int(of.passages))

    def _text(self, identity: str, namespace: str) -> str:
        found = self._index.document(identity, namespace)
        if found is None:
            raise _unknown(identity)
        if found.text is None:
            raise HTTPException(409, 'texts are kept with similarity.verify = "exact" only')
        return found.text


class _Page:
    """The live page and its files."""

    def __init__(self) -> None:
        self._files = page_files()

    async def index(self, request: Request) -> Answer:
        return self._answer(request, INDEX)

    async def file(self, request: Request) -> Answer:
        return self._answer(request, request.path_params["name"])

    def _answer(self, request: Request, name: str) -> Answer:
        found = self._files.get(name)
        if found is None:
            raise HTTPException(404)
        headers = {"etag": found.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == found.tag:
            return Answer(b"", found.media_type, 304, headers)
        return Answer(found.content, found.media_type, headers=headers)


def _probed(report: Report) -> Answer:
    return json(report, 200 if report.ok else 503)


def _unknown(identity: str) -> HTTPException:
    return HTTPException(404, f"no document {identity!r} is remembered")
