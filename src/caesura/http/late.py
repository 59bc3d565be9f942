"""What a start leaves for later: a route's models are built for its first request, not for the server's
start. FastAPI builds for each route what reads its parameters and checks its replies, which takes a few
milliseconds. Most servers are asked for a few of the routes, and all routes together took a quarter of a
start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import compile_path


class LateRoute(APIRoute):
    """A route that knows its path and methods, and builds the rest when it is first needed: for a request or
    for the OpenAPI document, which may be written in another thread."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.path = path
        self.endpoint = endpoint
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self.methods = {method.upper() for method in options.get("methods") or ["GET"]}
        self.include_in_schema = options["include_in_schema"]
        self._options: dict[str, Any] | None = options
        self._building = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        """Called for an attribute that has not been set. Names with an underscore come from copying, too."""
        if name in ("_options", "_building"):
            raise AttributeError(name)
        with self._building:
            if self._options is not None:
                options, self._options = self._options, None
                super().__init__(self.path, self.endpoint, **options)
            try:
                return self.__dict__[name]
            except KeyError:
                raise AttributeError(name) from None
