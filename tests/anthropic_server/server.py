"""The server, in a thread of its own, and the desks at which tests sit."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from itertools import count, islice
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.anthropic_server.history import fault_in
from tests.anthropic_server.replies import Broken, Error, Hang, Refusal, Reply

KEY = "sk-ant-test-0123456789"
_CLOSE = {"connection": "close"}


class Desk:
    """One test's place at the server: what it will say, and what it was asked."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.refused: list[str] = []
        #: The models that it offers.
        self.models = ["claude-test"]
        #: How many answers the client broke off.
        self.broken_off = 0
        self._script: deque[Reply] = deque()

    def script(self, *replies: Reply) -> None:
        """Say these, one for each request."""
        self._script.extend(replies)

    def next(self, headers: dict[str, str], asked: dict[str, Any]) -> Reply:
        self.requests.append(asked)
        self.headers.append(headers)
        if headers.get("x-api-key") != KEY:
            return Refusal(401, type="authentication_error", message="invalid x-api-key")
        fault = fault_in(headers, asked)
        if fault is None and self._script:
            return self._script.popleft()
        self.refused.append(fault or "nothing is written down")
        return Refusal(400, message=self.refused[-1])


class Server:
    """Begins with `with`; serves until the end of it."""

    def __init__(self) -> None:
        self._desks: dict[str, Desk] = {}
        self._numbers = count(1)
        self._socket = socket.create_server(("127.0.0.1", 0))
        routes = [
            Route("/{desk}/v1/messages", self._messages, methods=["POST"]),
            Route("/{desk}/v1/models", self._list),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes),
            log_level="critical",
            lifespan="off",
            timeout_graceful_shutdown=1,
            http="h11",
            loop="asyncio",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="anthropic-server", daemon=True)

    def desk(self) -> Desk:
        name = f"desk-{next(self._numbers)}"
        host, port = self._socket.getsockname()
        self._desks[name] = Desk(f"http://{host}:{port}/{name}")
        return self._desks[name]

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=5)
        self._socket.close()

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    async def _list(self, request: Request) -> Response:
        desk = self._desks[request.path_params["desk"]]
        entries = [{"id": name, "type": "model"} for name in desk.models]
        return JSONResponse({"data": entries, "has_more": False}, headers=_CLOSE)

    async def _messages(self, request: Request) -> Response:
        desk = self._desks[request.path_params["desk"]]
        reply = desk.next(dict(request.headers), await request.json())
        if isinstance(reply, Refusal):
            error = {"type": "error", "error": {"type": reply.type, "message": reply.message}}
            return JSONResponse(error, reply.status, {**_CLOSE, **reply.headers})
        return StreamingResponse(_watched(desk, reply), media_type="text/event-stream", headers=_CLOSE)


async def _watched(desk: Desk, reply: Reply) -> AsyncIterator[bytes]:
    try:
        async for part in _stream(reply):
            yield part
    except asyncio.CancelledError:
        desk.broken_off += 1
        raise


async def _stream(reply: Any) -> AsyncIterator[bytes]:
    answer = reply.answer if isinstance(reply, Broken | Error | Hang) else reply
    most = reply.events if isinstance(reply, Broken | Error | Hang) else None
    for event in islice(answer.events(), most):
        yield _event(event)
        await asyncio.sleep(answer.pause)
    if isinstance(reply, Broken):
        await asyncio.sleep(0.01)
        raise ConnectionResetError("as the test wanted")
    if isinstance(reply, Error):
        yield _event({"type": "error", "error": {"type": reply.type, "message": "as the test wanted"}})
    if isinstance(reply, Hang):
        await asyncio.sleep(60)


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
