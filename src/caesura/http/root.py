"""The root path: what is before all paths of this server, where a proxy serves others at the same address.
ASGI middleware."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class Root:
    """Some proxies remove the root path before they pass a request on, and some do not: both are understood.
    Behind this no path has it."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app, self._path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["path"] = below(self._path, scope["path"])
        await self._app(scope, receive, send)


def below(root: str, path: str) -> str:
    """The path without the root path, if it has it."""
    if path == root:
        return path.removeprefix(root) or "/"
    return path.removeprefix(root) if path.startswith(f"{root}/") else path
