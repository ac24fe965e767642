import json
from typing import Any

import pytest

from stream_dedup.web.openapi import description
from tests.desks import TOKEN, serving


@pytest.mark.parametrize("token", ["", TOKEN])
def test_every_route_is_described(token: str) -> None:
    """All that is asked for data is in the document, under the methods it has."""
    described = json.loads(description(has_token=bool(token)))["paths"]
    with serving(token=token) as web:
        served = json.loads(web.ask("/v1/openapi.json").body)["paths"]
        app: Any = web.server._uvicorn.config.app
        routes = {
            route.path_format: (route.methods - {"HEAD"}).pop().lower() for route in app.routes
        }

    assert described == served
    own = {"/", "/page/{name}", "/metrics", "/v1/openapi.json"}
    assert {path: method for path, method in routes.items() if path not in own} == {
        path: next(iter(methods)) for path, methods in described.items()
    }


def test_the_token_is_described_where_it_is_asked_for() -> None:
    """Who reads the document knows where the token is needed, and where none is."""
    without, with_token = (json.loads(description(has_token)) for has_token in (False, True))

    assert "securitySchemes" not in without["components"]
    for path, methods in with_token["paths"].items():
        for operation in methods.values():
            assert ("security" in operation) == path.startswith("/v1/")
            assert ("401" in operation["responses"]) == path.startswith("/v1/")
