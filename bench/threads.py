"""API A: what a token costs to encode, what a thread's status and history cost, and a page of sessions."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import Connection

from bench import store
from bench.log import TOKENS
from bench.measure import Line, Table, on_loop
from caesura.app import create_app
from caesura.core.events import Envelope, ModelStarted, TextDelta
from caesura.core.messages import Message
from caesura.dialects.threads import encode, thread_ids
from caesura.dialects.threads.encode import State
from caesura.http.frames import encoded
from caesura.http.tokens import Tokens
from caesura.settings import Settings
from caesura.store import conversations, life, users
from caesura.store.database import Database

TOKEN_GOAL = 6.0
ROWS_GOAL = 0.5
SAME = 1.5
MESSAGES = 1000
_SECRET = "a secret for measurements, long enough"
_BATCH = 8


def run(quick: bool) -> Iterator[Table]:
    yield _encoder(quick)
    yield on_loop(_reading(quick))
    yield on_loop(_pages(quick))


# --- a token


def _encoder(quick: bool) -> Table:
    table = Table("threads, encoding; baseline: json.dumps and an f-string for each token")
    count, times = (20_000, 3) if quick else (100_000, 5)
    texts = {"English": TOKENS, "Chinese": [text * 2 for text in "我来调用工具并把结果告诉您"]}
    for language, tokens in texts.items():
        said = [tokens[number % len(tokens)] for number in range(count)]
        events = [Envelope(number + 2, 0, TextDelta(1, text)) for number, text in enumerate(said)]
        ours = _median(times, lambda events=events: _encode(events))  # type: ignore[misc]
        bare = _median(times, lambda said=said: _encode_bare(said))  # type: ignore[misc]
        per_token = 1e6 / count
        name = f"a token of {language}, {_BATCH} at once"
        table.lines.append(Line(name, ours * per_token, bare * per_token, "µs", goal=TOKEN_GOAL))
    return table


def _encode(events: list[Envelope]) -> None:
    state, _ = encode.step(State(1), Envelope(1, 0, ModelStarted(1, "demo", "demo")))
    for start in range(0, len(events), _BATCH):
        state, _ = encoded(encode, state, events[start : start + _BATCH])


def _encode_bare(said: list[str]) -> None:
    for number, text in enumerate(said):
        f"id: {number}\nevent: messages/partial\ndata: {json.dumps({'content': text})}\n\n".encode()


def _median(times: int, work: Callable[[], None]) -> float:
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return statistics.median(found)


# --- a thread's status and history


async def _reading(quick: bool) -> Table:
    title = f"threads, a thread of {MESSAGES:,} messages; baseline: a bare aget_state of a LangGraph thread"
    table = Table(title)
    times = 20 if quick else 100
    async with _served() as (app, database):
        thread = await database.write(_talk, "talker", MESSAGES // 2)
        status = await _milliseconds(times, lambda: _get(app, "talker", f"/api/status/{thread}"))
        history = await _milliseconds(times, lambda: _get(app, "talker", f"/api/history/{thread}"))
    bare = await _bare_state(times)
    table.lines += [
        Line("GET /api/status, the whole request", status, bare, "ms", goal_ratio=ROWS_GOAL),
        Line("GET /api/history, the whole request", history, bare, "ms", goal_ratio=ROWS_GOAL),
    ]
    return table


def _talk(connection: Connection, name: str, count: int) -> str:
    users.create(connection, name, "")
    thread = conversations.create(connection, thread_ids.make(name), name, "assistant").id
    for number in range(count):
        turn = life.create(connection, life.New(thread, f"message {number}", owner="node", lease_ms=1))
        said = [Message("assistant", _answer(number))]
        life.settle(connection, [life.Settled(turn, "done", said, 1, released=True)])
    return thread


def _answer(number: int) -> str:
    return "".join(TOKENS[(number + place) % len(TOKENS)] for place in range(40))


async def _bare_state(times: int) -> float:
    said: list[AnyMessage] = []
    for number in range(MESSAGES // 2):
        said += [HumanMessage(f"message {number}"), AIMessage(_answer(number))]
    builder = StateGraph(MessagesState)
    builder.add_node("silent", lambda state: {})
    builder.add_edge(START, "silent")
    with tempfile.TemporaryDirectory(prefix="caesura-bench-") as folder:
        async with AsyncSqliteSaver.from_conn_string(str(Path(folder) / "langgraph.db")) as saver:
            graph = builder.compile(checkpointer=saver)
            config: Any = {"configurable": {"thread_id": "1"}}
            await graph.ainvoke({"messages": said}, config)
            return await _milliseconds(times, lambda: graph.aget_state(config))


# --- a page of sessions


async def _pages(quick: bool) -> Table:
    table = Table("threads, GET /api/sessions, a page of 20; baseline: a person who has 100 sessions")
    everyone = 100_000 if quick else 1_000_000
    people = {"few": 100, "many": 10_000, "rest": everyone - 10_100}
    times = 50 if quick else 200
    async with _served() as (app, database):
        for name, count in people.items():
            await store.fill(database, name, count)
        few = await _milliseconds(times, lambda: _get(app, "few", "/api/sessions"))
        for what, page in (("the first", 1), ("in the middle", 250), ("the last", 500)):
            url = f"/api/sessions?page={page}"
            cost = await _milliseconds(times, lambda url=url: _get(app, "many", url))  # type: ignore[misc]
            goal = SAME if page == 1 else None
            table.lines.append(
                Line(f"of 10,000 among {everyone:,}, {what}", cost, few, "ms", goal_ratio=goal)
            )
    return table


# --- the server, without a socket


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[FastAPI, Database]]:
    with tempfile.TemporaryDirectory(prefix="caesura-bench-") as folder:
        settings = Settings.load(data_dir=folder, secret=_SECRET, rate_requests="off", log_level="error")
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            yield app, app.state.context.service._database


async def _get(app: FastAPI, name: str, url: str) -> None:
    """The whole way through the application: token, rows, JSON."""
    path, _, query = url.partition("?")
    token = _TOKENS.setdefault(name, Tokens(_SECRET).issue(name, users.stamp("")))
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"bench"), (b"authorization", f"Bearer {token}".encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope, receive, send)
    assert statuses == [200], statuses


_TOKENS: dict[str, str] = {}


async def _milliseconds(times: int, work: Callable[[], Awaitable[object]]) -> float:
    """The median of many, after one that does not count."""
    await work()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        await work()
        found.append((time.perf_counter() - began) * 1e3)
    return statistics.median(found)
