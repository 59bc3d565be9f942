"""What a long answer costs the web page in Chromium: 4,000 tokens, one in the time of each animation frame.

python -m bench.page [--tokens 4000] [--kind mixed] [--runs 1] [--profile FILE] [FOLDER ...]

A folder is a built page: `src/caesura/page`, which is the default, or `web/dist`. Several folders are
measured in turn, so that their ratio says something on a busy machine too. This program plays the API.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import mimetypes
import re
import shutil
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from playwright.async_api import Browser, CDPSession, async_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

BUILT = Path(__file__).parents[1] / "src" / "caesura" / "page"
_SECTION = """## Part

Some **bold** words and `code`, then *more* of them with a [link](https://example.com/a) to read on and on \
until the line is long enough to wrap twice.

- first item of the list
- second item with `code` in it
- third item

1. one
2. two

> A quote that says something.

| Step | Now | After |
|---|--:|--:|
| Type checking | 41.2 s | 9.8 s |
| Bundling | 18.3 s | 6.1 s |

```python
def work(n: int) -> int:
    # a note
    return n * 2 + len("text")
```

"""
KINDS = {
    "mixed": _SECTION,
    "paragraph": "words and more **bold** words and `code` to read. ",
    "list": "- an item of one very long list with `code` and **bold** words\n",
}
_FRAME = 1 / 60
_AT = 1_790_000_000_000
#: The measures of Chromium that are reported, in milliseconds of processor time.
_SPENT = {
    "script": "ScriptDuration",
    "layout": "LayoutDuration",
    "style": "RecalcStyleDuration",
    "task": "TaskDuration",
}
_CONVERSATION = {
    **{"id": "c1", "title": "Speed", "agent": "a", "status": "running", "active_turn": "t1"},
    **{"message_count": 1, "created_at": _AT, "updated_at": _AT, "questions": 0},
}
_TURN = {
    **{"id": "t1", "conversation_id": "c1", "parent_id": None, "ordinal": 1, "agent": "a", "segment": 1},
    **{"status": "running", "content": "go", "on_disconnect": "continue", "created_at": _AT},
    **{"ended_at": None, "messages": [], "interrupts": [], "running_tools": [], "writing_tools": []},
    **{"notes": [], "artifacts": [], "cursor": 0, "model": "demo", "demo": True, "usage": None},
    "siblings": ["t1"],
}
_AGENT = {
    **{"name": "a", "description": "", "version": "1", "metadata_version": None, "sub_agents": []},
    **{"type": "chat_model_agent", "is_default": True, "model": "demo", "demo": True},
}
_SNAPSHOT = {"conversation": _CONVERSATION, "turns": [_TURN], "turn": "t1", "cursor": 0}
_ANSWERS: dict[str, dict[str, Any]] = {
    "/api/auth/session": {"user_id": "alice", "csrf": "x", "expires_at": _AT * 2},
    "/api/auth/options": {"auth": "password", "registration": "open"},
    "/api/v2/agents": {"agents": [_AGENT]},
    "/api/v2/conversations/c1/snapshot": {**_SNAPSHOT, "before": None, "read": None},
    "/api/v2/conversations/c1/artifacts": {"artifacts": []},
    "/api/v2/conversations/c1/grants": {"grants": []},
    "/api/v2/conversations": {"conversations": [_CONVERSATION], "total": 1, "next": None},
    "/api/v2/interrupts": {"interrupts": [], "next": None},
}


def tokens(kind: str, count: int) -> list[str]:
    text = KINDS[kind] * (count * 6 // 40 + 1)
    return re.findall(r"\s*\S{1,5}", text)[:count]


@dataclass
class Stage:
    """A built page and an API that streams one turn to it, once `begin` is set."""

    folder: Path
    words: list[str]
    begin: asyncio.Event

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self.answer, methods=["GET", "PUT", "POST"])])

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        if path in _ANSWERS:
            return JSONResponse(_ANSWERS[path])
        if path == "/api/v2/feed":
            return StreamingResponse(_feed(), media_type="text/event-stream")
        if path == "/api/v2/turns/t1/events" and "last-event-id" not in request.headers:
            return StreamingResponse(self._spoken(), media_type="text/event-stream")
        if path.startswith("/api/"):
            return Response(status_code=204)
        file = self.folder / path.lstrip("/")
        found = file if file.suffix and file.is_file() else self.folder / "index.html"
        return FileResponse(found, media_type=mimetypes.types_map.get(found.suffix))

    async def _spoken(self) -> AsyncIterator[str]:
        started = {"call": 1, "agent": "a", "model": "demo", "parent": None, "ref": ""}
        yield _frame(1, "run_started", {"agent": "a", "segment": 1, "cause": "start", "epoch": 0})
        yield _frame(2, "model_started", started)
        await self.begin.wait()
        began, number = time.perf_counter(), 0
        while number < len(self.words):
            due = min(int((time.perf_counter() - began) / _FRAME) + 1, len(self.words))
            for word in self.words[number:due]:
                number += 1
                yield _frame(number + 2, "text_delta", {"call": 1, "text": word})
            await asyncio.sleep(_FRAME / 2)
        said = {"call": 1, "tool_calls": [], "usage": None, "finish_reason": None}
        for more, (name, data) in enumerate(
            (("model_finished", said), ("finished", {}), ("segment_ended", {})), number + 3
        ):
            yield _frame(more, name, data)


async def _feed() -> AsyncIterator[str]:
    yield _frame(1, "ready", {"inbox": 0, "user_id": "alice"})
    await asyncio.Event().wait()


def _frame(id: int, event: str, data: dict[str, Any]) -> str:
    return f"id: {id}\nevent: {event}\ndata: {json.dumps({'at': _AT, **data})}\n\n"


@asynccontextmanager
async def served(stage: Stage) -> AsyncIterator[str]:
    server = uvicorn.Server(uvicorn.Config(stage.app(), log_level="error", timeout_graceful_shutdown=1))
    # Who connects before the server has started waits in the queue of the socket.
    place = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve(sockets=[place]))
    try:
        yield f"http://127.0.0.1:{place.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


async def measure(browser: Browser, stage: Stage, profile: Path | None) -> dict[str, Any]:
    async with served(stage) as url:
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.goto(f"{url}/c/c1")
        await page.wait_for_selector(".turn")
        await page.wait_for_timeout(2000)
        client = await page.context.new_cdp_session(page)
        # The time of the processor, which other programs do not change much.
        await client.send("Performance.enable", {"timeDomain": "threadTicks"})
        if profile is not None:
            await client.send("Profiler.enable")
            await client.send("Profiler.setSamplingInterval", {"interval": 200})
            await client.send("Profiler.start")
        before = await _metrics(client)
        stage.begin.set()
        await page.wait_for_function(
            "document.querySelector('.turn.done') !== null", polling=1000, timeout=600_000
        )
        after = await _metrics(client)
        if profile is not None:
            stopped = await client.send("Profiler.stop")
            await asyncio.to_thread(profile.write_text, json.dumps(stopped["profile"]))
        characters = await page.evaluate("document.querySelector('.turn .prose').textContent.length")
        await page.close()
    spent = {name: round((after[key] - before[key]) * 1000) for name, key in _SPENT.items()}
    return {"folder": str(stage.folder), **spent, "characters": characters}


async def _metrics(client: CDPSession) -> dict[str, float]:
    found = await client.send("Performance.getMetrics")
    return {item["name"]: item["value"] for item in found["metrics"]}


async def _measured(options: argparse.Namespace, chromium: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        words = tokens(options.kind, options.tokens)
        for _ in range(options.runs):
            for folder in options.folder or [BUILT]:
                stage = Stage(folder, words, asyncio.Event())
                print(json.dumps(await measure(browser, stage, options.profile)), flush=True)
        await browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.page", description="What a long answer costs the page."
    )
    parser.add_argument("folder", nargs="*", type=Path, help=f"a built page; {BUILT.name} when left out")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--kind", choices=KINDS, default="mixed")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--profile", type=Path, help="where to write a profile of the processor")
    options = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        parser.error("Chromium is not installed")
    for folder in options.folder or [BUILT]:
        if not (folder / "index.html").is_file():
            parser.error(f"no page is built in {folder}: run make web")
    asyncio.run(_measured(options, chromium))


if __name__ == "__main__":
    main()
