"""The server itself: uvicorn in a thread of its own, and a desk for each test."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import count
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from caesura.agents import summaries, titles
from tests.openai_server.history import fault_in
from tests.openai_server.replies import Broken, Error, Hang, Held, Refusal, Reply, Say, said
from tests.openai_server.windows import counted, too_long

#: Each connection is used once: a client's pool must not outlive the event loop of its test.
_CLOSE = {"connection": "close"}


class Desk:
    """One test's place at the server: what it will say, and what it was asked. Titles are apart."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.requests: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.title: Reply = Say("A title")
        #: The models that were asked for a title.
        self.title_models: list[str] = []
        #: The models that it offers.
        self.models = ["test"]
        #: How many tokens the models take, and whether a refusal names that; None if any history is taken.
        self.window: int | None = None
        self.names_window = True
        self.too_long = 0
        #: What is said when nothing is written down: always the same, or what is made of the request.
        self.otherwise: Reply | Callable[[dict[str, Any]], Reply] | None = None
        self.summary: Reply = Say("They talked.")
        #: The texts of which a summary was wanted.
        self.to_summarise: list[str] = []
        #: How many answers the client broke off.
        self.broken_off = 0
        self._script: dict[str, deque[Reply]] = {}

    def script(self, *replies: Reply, model: str = "test") -> None:
        """Say these, one for each request to that model."""
        self._script.setdefault(model, deque()).extend(replies)

    def next(self, asked: dict[str, Any]) -> Reply:
        if _asks_for_title(asked):
            self.title_models.append(asked["model"])
            return self.title
        if self.window is not None:
            asked["counted"] = counted(asked)
            if asked["counted"] > self.window:
                self.too_long += 1
                return Refusal(400, error=too_long(asked["counted"], self.window, self.names_window))
        if summaries.is_prompt(last := str(asked["messages"][-1].get("content"))):
            self.to_summarise.append(last)
            return self.summary
        self.requests.append(asked)
        if fault := fault_in(asked["messages"]):
            self.refused.append(fault)
            return Refusal(400)
        script = self._script.get(asked["model"])
        if not script and self.otherwise is not None:
            return self.otherwise(asked) if callable(self.otherwise) else self.otherwise
        if not script:
            self.refused.append(f"nothing is written down for {asked['model']}")
            return Refusal(400)
        return script.popleft()

    @property
    def titles_asked(self) -> int:
        return len(self.title_models)

    def sent(self, place: int = -1) -> list[tuple[str, str]]:
        """The messages of a request, as role and text."""
        return [(item["role"], item.get("content") or "") for item in self.requests[place]["messages"]]


class Server:
    """Begins with `with`; serves until the end of it."""

    def __init__(self) -> None:
        self._desks: dict[str, Desk] = {}
        self._numbers = count(1)
        self._socket = socket.create_server(("127.0.0.1", 0))
        routes = [
            Route("/{desk}/v1/chat/completions", self._complete, methods=["POST"]),
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
        self._thread = threading.Thread(target=self._serve, name="openai-server", daemon=True)

    def desk(self) -> Desk:
        name = f"desk-{next(self._numbers)}"
        host, port = self._socket.getsockname()
        self._desks[name] = Desk(f"http://{host}:{port}/{name}/v1")
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
        entries = [{"id": name, "object": "model"} for name in desk.models]
        return JSONResponse({"object": "list", "data": entries}, headers=_CLOSE)

    async def _complete(self, request: Request) -> Response:
        desk = self._desks[request.path_params["desk"]]
        asked = await request.json()
        reply = desk.next(asked)
        if isinstance(reply, Refusal):
            error = reply.error or {"message": "; ".join(desk.refused) or "refused", "type": "error"}
            return JSONResponse({"error": error}, reply.status, {**_CLOSE, **reply.headers})
        if isinstance(reply, Say) and not asked.get("stream"):
            await asyncio.sleep(reply.pause)
            return JSONResponse(reply.whole(), headers=_CLOSE)
        stream = _watched(desk, _stream(reply, asked))
        return StreamingResponse(stream, media_type="text/event-stream", headers=_CLOSE)


async def _watched(desk: Desk, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for part in stream:
            yield part
    except asyncio.CancelledError:
        desk.broken_off += 1
        raise


async def _stream(reply: Say | Broken | Error | Hang | Held, asked: dict[str, Any]) -> AsyncIterator[bytes]:
    if isinstance(reply, Held):
        for chunk in said([reply.words]):
            yield _line(chunk)
        while not reply.go_on.is_set():  # noqa: ASYNC110 - another thread sets it
            await asyncio.sleep(0.005)
        reply = reply.rest
    chunks: Iterable[dict[str, Any]] = (
        reply.chunks(asked) if isinstance(reply, Say) else said(reply.pieces, getattr(reply, "calls", ()))
    )
    for chunk in chunks:
        yield _line(chunk)
        await asyncio.sleep(reply.pause if isinstance(reply, Say) else 0.01)
    if isinstance(reply, Broken):
        raise ConnectionResetError("as the test wanted")
    if isinstance(reply, Error):
        yield _line({"error": dict(reply.error)})
        return
    if isinstance(reply, Hang):
        await asyncio.sleep(60)
    yield b"data: [DONE]\n\n"


def _line(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()


def _asks_for_title(asked: dict[str, Any]) -> bool:
    content = asked["messages"][-1].get("content")
    return isinstance(content, str) and titles.message_in(content) is not None
