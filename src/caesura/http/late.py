"""What a start leaves for later: a route's models are built for its first request, not for the server's
start. FastAPI builds for each route what reads its parameters and checks its replies, which takes a few
milliseconds. Most servers are asked for a few of the routes, and all routes together took a quarter of a
start. What only the OpenAPI document says is written with the document."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match, compile_path, request_response
from starlette.types import Scope

_OF_PATH = ("path_regex", "path_format", "param_convertors")


class LateRoute(APIRoute):
    """A route that knows its path and methods, and builds the rest when it is first needed: for a request or
    for the OpenAPI document, which may be written in another thread."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.path = path
        self.endpoint = endpoint
        self.methods = {method.upper() for method in options.get("methods") or ["GET"]}
        self.include_in_schema = options["include_in_schema"]
        #: What each path of this route begins with. The others are known not to match without its pattern.
        self._head = path.partition("{")[0]
        self._options: dict[str, Any] | None = options
        self._building = threading.RLock()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if (
            scope["type"] == "http"
            and not scope.get("root_path")
            and not scope["path"].startswith(self._head)
        ):
            return Match.NONE, {}
        return super().matches(scope)

    def __getattr__(self, name: str) -> Any:
        """Called for an attribute that has not been set. Names with an underscore come from copying, too."""
        if name in ("_head", "_options", "_building"):
            raise AttributeError(name)
        if name in _OF_PATH:
            self.path_regex, self.path_format, self.param_convertors = compile_path(self.path)
            return self.__dict__[name]
        with self._building:
            if self._options is not None:
                options, self._options = self._options, None
                super().__init__(self.path, self.endpoint, **options)
            try:
                return self.__dict__[name]
            except KeyError:
                raise AttributeError(name) from None


class PlainRoute(LateRoute):
    """A route whose function takes the request and returns the response. Only the OpenAPI document needs it
    to be built."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.app = request_response(endpoint)


class LateText(dict[str, Any]):
    """A part of the OpenAPI document about a route. It is empty until the document is written."""

    def __init__(self, write: Callable[[], dict[str, Any]]) -> None:
        super().__init__()
        self._write = write

    def complete(self) -> None:
        self.update(self._write())


def complete(routes: Iterable[BaseRoute]) -> None:
    """Write what the OpenAPI document says about these routes."""
    for route in routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for text in (*route.responses.values(), route.openapi_extra):
                if isinstance(text, LateText):
                    text.complete()
