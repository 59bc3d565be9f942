"""What a stream costs with nothing behind it: Starlette, the same frames, no agent, no log."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from bench.parrot import WORDS


async def stream(request: Request) -> StreamingResponse:
    tokens, delay = int(request.query_params["tokens"]), float(request.query_params["delay"])
    clock = "clock" in request.query_params
    return StreamingResponse(_frames(tokens, delay, clock), media_type="text/event-stream")


async def _frames(tokens: int, delay: float, clock: bool) -> AsyncIterator[bytes]:
    for number in range(tokens):
        await asyncio.sleep(delay)
        word = b"%d " % time.monotonic_ns() if clock else WORDS[number % 100].encode()
        yield b'id: %d\nevent: messages/partial\ndata: {"content":"%b"}\n\n' % (number, word)


if __name__ == "__main__":
    app = Starlette(routes=[Route("/", stream, methods=["POST"])])
    uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False, loop="uvloop")
