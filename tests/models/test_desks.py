"""The clients against the servers that other tests use: retries, stops and lists over real HTTP servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing

import pytest

from caesura.core.messages import Message
from caesura.models import providers
from caesura.models.connections import Connections
from caesura.models.failures import ModelError
from caesura.models.model import CallPart, Model, Piece, Reasoning, Text
from tests import anthropic_server
from tests.anthropic_server.server import KEY
from tests.openai_server import Broken, Call, Desk, Error, Hang, Refusal, Say, Server
from tests.waiting import until

ASKED = [Message("system", "Be brief."), Message("user", "Hello")]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


def model(desk: Desk, connections: Connections, idle_timeout: float = 30.0) -> Model:
    return providers.make(
        "openai:test",
        base_url=desk.base_url,
        api_key=None,
        temperature=None,
        options={},
        idle_timeout=idle_timeout,
        environ={},
        connections=connections,
    )


async def fault(made: Model) -> tuple[list[Piece], ModelError]:
    pieces: list[Piece] = []
    try:
        async for piece in made.stream(ASKED):
            pieces.append(piece)
    except ModelError as error:
        return pieces, error
    raise AssertionError("did not fail")


async def test_an_answer_with_thoughts_and_calls_is_read(server: Server, connections: Connections) -> None:
    desk = server.desk()
    desk.script(Say(["Hi ", "there"], [Call("look", {"x": 1}, "a"), Call("find", {}, "b")], ["Hm"]))
    pieces = [piece async for piece in model(desk, connections).stream(ASKED)]
    assert pieces[:3] == [Reasoning("Hm"), Text("Hi "), Text("there")]
    written = {0: "", 1: ""}
    for piece in pieces:
        if isinstance(piece, CallPart):
            written[int(piece.place or 0)] += piece.args
    assert written == {0: '{"x": 1}', 1: "{}"}


async def test_every_fault_is_told(server: Server, connections: Connections) -> None:
    desk = server.desk()
    desk.script(
        Broken([]),
        Broken(["Hi"]),
        Error(),
        Error(["Hi"], {"message": "slow down", "type": "rate_limit_exceeded"}),
        Refusal(429, {"retry-after": "1"}),
        Refusal(500),
        Refusal(401),
        Refusal(404),
        Refusal(400, error={"message": "maximum context length is 4096 tokens"}),
        Hang(["Hi"]),
    )
    made = model(desk, connections, idle_timeout=1.0)
    found = [await fault(made) for _ in range(10)]
    assert [error.kind for _, error in found] == [
        "broken",
        "broken",
        "busy",
        "busy",
        "busy",
        "provider",
        "key",
        "missing",
        "context",
        "silent",
    ]
    assert [len(pieces) for pieces, _ in found] == [0, 1, 0, 1, 0, 0, 0, 0, 0, 1]


async def test_the_server_notices_that_a_stream_was_closed(server: Server, connections: Connections) -> None:
    desk = server.desk()
    desk.script(Hang(["Hi"]))
    async with aclosing(model(desk, connections).stream(ASKED)) as stream:
        await anext(stream)
    await until(lambda: desk.broken_off == 1)


async def test_what_an_endpoint_offers_is_listed(server: Server, connections: Connections) -> None:
    desk = server.desk()
    desk.models = ["one", "two"]
    assert await listed("openai:", desk.base_url, connections) == ["one", "two"]
    with anthropic_server.Server() as claude:
        assert await listed("anthropic:", claude.desk().base_url, connections) == ["claude-test"]


async def listed(name: str, url: str, connections: Connections) -> list[str]:
    return await providers.list_models(name, base_url=url, api_key=KEY, environ={}, connections=connections)
