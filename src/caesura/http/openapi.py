"""What the OpenAPI document says beyond the routes: the cookie that every route with a token takes too, and
the data of the events of its streams. The document is written once, in a thread: for it all routes and their
models are built, which takes most of a second."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from caesura.agents.aside import Aside
from caesura.http import cookies, late, sse

_SCHEME = "SessionCookie"


def install(app: FastAPI, root: str = "") -> None:
    described = app.openapi

    def write() -> dict[str, Any]:
        late.complete(app.router.routes)
        return _placed(_completed(described()), root)

    app.openapi = write  # type: ignore[method-assign]
    written = Written(lambda: bytes(JSONResponse(app.openapi()).body))

    async def document(request: Request) -> Response:
        return Response(await written.body(), media_type="application/json")

    routes = app.router.routes
    place = next(at for at, route in enumerate(routes) if getattr(route, "path", None) == app.openapi_url)
    routes[place] = Route(app.openapi_url or "", document, include_in_schema=False)


class Written:
    """The document as it is sent."""

    def __init__(self, write: Callable[[], bytes]) -> None:
        self._write = write
        self._writing = threading.Lock()
        self._body: bytes | None = None
        self._aside = Aside("caesura-document")

    async def body(self) -> bytes:
        return self._body if self._body is not None else await self._aside.run(self._once)

    def _once(self) -> bytes:
        with self._writing:
            if self._body is None:
                self._body = self._write()
            return self._body


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    schemes = document["components"]["securitySchemes"]
    tokens = [name for name in schemes if name != _SCHEME]
    schemes[_SCHEME] = {
        "type": "apiKey",
        "in": "cookie",
        "name": cookies.NAME,
        "description": f"A request that changes something also needs the header `{cookies.HEADER}`.",
    }
    for operations in document["paths"].values():
        for operation in operations.values():
            _gather(operation["responses"], document["components"]["schemas"])
            security = operation.get("security", [])
            if any(name in item for item in security for name in tokens) and {_SCHEME: []} not in security:
                security.append({_SCHEME: []})
    return document


def _placed(document: dict[str, Any], root: str) -> dict[str, Any]:
    """Say where the paths begin. The address for log-ins is not one of the paths."""
    if not root:
        return document
    for scheme in document["components"]["securitySchemes"].values():
        for flow in scheme.get("flows", {}).values():
            flow["tokenUrl"] = root + flow["tokenUrl"]
    return {**document, "servers": [{"url": root}]}


def _gather(responses: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Move the schemas of a stream's data to the components."""
    for response in responses.values():
        for content in response.get("content", {}).values():
            for name, schema in content.pop(sse.SCHEMAS, {}).items():
                schemas.setdefault(name, schema)
