"""Anthropic's messages, against a server as strict as the real one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest

from caesura.core.messages import Message
from caesura.models.anthropic.speech import most_tokens, takes_temperature
from caesura.models.connections import Connections
from caesura.models.failures import ModelError, Unusable
from caesura.models.model import Finish, Kept, Model, Piece, Reasoning, Schema, Text, Usage
from caesura.models.providers import make
from tests.anthropic_server import Answer, Broken, Desk, Error, Hang, Refusal, Server, Thought, Use
from tests.anthropic_server.server import KEY
from tests.models.conftest import Make
from tests.models.samples import block, closing, named, opening
from tests.models.wire import Wire, streams
from tests.waiting import until

LOOK = Schema("look", "Looks.", {"type": "object", "properties": {}})
ASKED = [Message("system", "Be brief."), Message("user", "Hello")]
THINKING = {"type": "thinking", "thinking": "", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "xyz"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def desk(server: Server) -> Iterator[Desk]:
    desk = server.desk()
    yield desk
    assert desk.refused == []


def claude(desk: Desk, connections: Connections, name: str = "claude-test", **changes: Any) -> Model:
    usual: dict[str, Any] = {
        "base_url": desk.base_url,
        "api_key": KEY,
        "temperature": None,
        "options": {},
        "idle_timeout": 30.0,
        "environ": {},
        "connections": connections,
    }
    return make(f"anthropic:{name}", **(usual | changes))


async def said(model: Model, messages: list[Message] = ASKED, tools: tuple[Schema, ...] = ()) -> list[Piece]:
    return [piece async for piece in model.stream(messages, tools)]


async def fault(model: Model) -> tuple[list[Piece], ModelError]:
    pieces: list[Piece] = []
    try:
        async for piece in model.stream(ASKED):
            pieces.append(piece)
    except ModelError as error:
        return pieces, error
    raise AssertionError("did not fail")


async def test_an_answer_is_read_with_its_counts(desk: Desk, connections: Connections) -> None:
    desk.script(Answer(["Hi there"]))
    assert await said(claude(desk, connections)) == [
        Text("Hi "),
        Text("there "),
        Usage(
            {
                "input_tokens": 11,
                "output_tokens": 7,
                "total_tokens": 18,
                "cache_read_tokens": 4,
                "cache_write_tokens": 2,
                "reasoning_tokens": 3,
            }
        ),
        Finish("end_turn"),
    ]


async def test_a_request_has_what_the_protocol_wants(desk: Desk, connections: Connections) -> None:
    desk.script(Answer(["Hi"]))
    model = claude(desk, connections, temperature=0.5, options={"metadata": {"user_id": "u"}})
    await said(model, tools=(LOOK,))
    cached = {"type": "ephemeral"}
    assert desk.requests[-1] == {
        "model": "claude-test",
        "max_tokens": 32_000,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": cached}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello", "cache_control": cached}]}
        ],
        "tools": [{"name": "look", "description": "Looks.", "input_schema": LOOK.parameters}],
        "temperature": 0.5,
        "metadata": {"user_id": "u"},
        "stream": True,
    }
    assert desk.headers[-1]["anthropic-version"] == "2023-06-01"


async def test_every_history_is_taken(desk: Desk, connections: Connections) -> None:
    calls = (
        {"id": "functions.look:0", "name": "look", "args": {"x": 1}},
        {"id": "functions.look:1", "name": "look", "args": {}},
    )
    messages = [
        Message("assistant", "Begun earlier"),
        Message("user", " "),
        Message("user", "Look twice"),
        Message("assistant", "", cut=True),
        Message("assistant", "Well", cut=True),
        Message("assistant", "\n", tool_calls=calls),
        Message("user", "wait"),
        Message("tool", "", tool_call_id="functions.look:1", status="error"),
        Message("tool", "of nobody", tool_call_id="z"),
        Message("assistant", "Again", tool_calls=calls[:1]),
        Message("tool", "seen", tool_call_id="functions.look:0", status="answered"),
        Message("assistant", "Half an ans", cut=True),
    ]
    desk.script(Answer(["Hi"]))
    await said(claude(desk, connections), messages)
    shapes = [
        (message["role"], [(b["type"], b.get("is_error")) for b in message["content"]])
        for message in desk.requests[-1]["messages"]
    ]
    text, use = ("text", None), ("tool_use", None)
    assert shapes == [
        ("user", [text]),
        ("assistant", [text]),
        ("user", [text, text]),
        ("assistant", [text, use, use]),
        ("user", [("tool_result", True), ("tool_result", True), text]),
        ("assistant", [text, use]),
        ("user", [("tool_result", None)]),
        ("assistant", [text]),
        ("user", [text]),
    ]


async def test_histories_of_all_kinds_are_taken(desk: Desk, connections: Connections) -> None:
    call = {"id": "a", "name": "look", "args": {}}
    result = Message("tool", "x", tool_call_id="a")
    asks = Message("assistant", "", tool_calls=(call,), kept=(THINKING, REDACTED))
    user = Message("user", "go")
    histories = [
        [user, asks],
        [user, asks, result],
        [user, asks, user],
        [user, asks, result, user],
        [user, user],
        [user, Message("assistant", "", kept=(THINKING,)), user],
        [user, Message("assistant", "Hm", kept=(THINKING,)), user],
        [result, user],
        [asks, result],
        [],
    ]
    for history in histories:
        desk.script(Answer(["Hi"]))
        await said(claude(desk, connections), history)


async def test_thoughts_go_back_unchanged_within_a_turn(desk: Desk, connections: Connections) -> None:
    desk.script(Answer([Thought(""), Thought(redacted="xyz"), Use("look", {"x": 1})]), Answer(["Done"]))
    model = claude(desk, connections)
    pieces = await said(model)
    kept = tuple(piece.block for piece in pieces if isinstance(piece, Kept))
    assert kept == (THINKING, REDACTED)
    reply = Message(
        "assistant", "", tool_calls=({"id": "toolu_1", "name": "look", "args": {"x": 1}},), kept=kept
    )
    await said(model, [*ASKED, reply, Message("tool", "seen", tool_call_id="toolu_1")])
    assert desk.requests[-1]["messages"][1]["content"][:2] == [THINKING, REDACTED]


async def test_thoughts_between_texts_and_calls_keep_their_places(provider: Wire, model: Make) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    blocks: list[dict[str, Any]] = [
        thought,
        {"type": "text", "text": "First"},
        {**thought, "signature": "t"},
        {"type": "tool_use", "id": "a", "name": "look", "input": {}},
        REDACTED,
        {"type": "text", "text": "Then"},
        {"type": "tool_use", "id": "b", "name": "look", "input": {}},
    ]
    events = [event for index, item in enumerate(blocks) for event in block(index, item)]
    provider.answer(*[streams(named(opening(), *events, *closing("tool_use")))] * 2)
    made = model("anthropic:claude-test")
    pieces = await said(made)
    reply = Message(
        "assistant",
        "".join(piece.text for piece in pieces if isinstance(piece, Text)),
        reasoning="".join(piece.text for piece in pieces if isinstance(piece, Reasoning)),
        tool_calls=tuple({"id": name, "name": "look", "args": {}} for name in ("a", "b")),
        kept=tuple(piece.block for piece in pieces if isinstance(piece, Kept)),
    )
    results = [Message("tool", "x", tool_call_id=name) for name in ("a", "b")]
    await said(made, [*ASKED, reply, *results])
    assert provider.requests[-1].body["messages"][1]["content"] == blocks


async def test_thoughts_that_another_model_refuses_are_left_out(desk: Desk, connections: Connections) -> None:
    desk.script(
        Refusal(400, message="messages.1.content.0: Invalid `signature` in `thinking` block"),
        Answer(["Done"]),
    )
    reply = Message(
        "assistant", "Well", tool_calls=({"id": "a", "name": "look", "args": {}},), kept=(THINKING,)
    )
    await said(claude(desk, connections), [*ASKED, reply, Message("tool", "x", tool_call_id="a")])
    first, second = (request["messages"][1]["content"] for request in desk.requests)
    assert [item["type"] for item in first] == ["thinking", "text", "tool_use"]
    assert [item["type"] for item in second] == ["text", "tool_use"]


async def test_the_history_is_cached_up_to_the_last_question_and_to_its_end(
    desk: Desk, connections: Connections
) -> None:
    desk.script(Answer(["Hi"]))
    asks = Message("assistant", "", tool_calls=({"id": "a", "name": "look", "args": {}},))
    await said(claude(desk, connections), [*ASKED, asks, Message("tool", "x", tool_call_id="a")])
    marked = [
        (place, item["type"])
        for place, message in enumerate(desk.requests[-1]["messages"])
        for item in message["content"]
        if "cache_control" in item
    ]
    assert marked == [(0, "text"), (2, "tool_result")]


@pytest.mark.parametrize(
    ("name", "takes", "most"),
    [
        ("claude-3-haiku-20240307", True, 4_096),
        ("claude-3-5-haiku-latest", True, 8_192),
        ("claude-opus-4-20250514", True, 32_000),
        ("claude-sonnet-4-5-20250929", True, 32_000),
        ("claude-sonnet-4-6", True, 32_000),
        ("claude-opus-4-7", False, 32_000),
        ("claude-opus-5", False, 32_000),
        ("claude-sonnet-5-5", False, 32_000),
        ("claude-fable-5-1", False, 32_000),
        ("claude-test", True, 32_000),
    ],
)
def test_what_a_model_takes_is_known_by_its_name(name: str, takes: bool, most: int) -> None:
    assert (takes_temperature(name), most_tokens(name)) == (takes, most)


async def test_temperature_is_left_out_where_it_would_be_refused(
    desk: Desk, connections: Connections
) -> None:
    newer = {"anthropic_version": "2026-10-21"}
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 2_000}}
    desk.script(*[Answer(["Hi"])] * 3)
    await said(claude(desk, connections, temperature=0.5, options=newer))
    await said(claude(desk, connections, "claude-sonnet-5-5", temperature=0.5))
    await said(claude(desk, connections, temperature=0.5, options=thinking))
    assert [("temperature" in request) for request in desk.requests] == [False] * 3
    assert [headers["anthropic-version"] for headers in desk.headers] == [
        "2026-10-21",
        "2023-06-01",
        "2023-06-01",
    ]
    assert "anthropic_version" not in desk.requests[0]
    assert desk.requests[2]["max_tokens"] == 34_000


async def test_what_is_refused_is_left_out_and_remembered(desk: Desk, connections: Connections) -> None:
    desk.script(
        Refusal(400, message="`temperature` is deprecated for this model."),
        Refusal(
            400, message="max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens"
        ),
        Answer(["Hi"]),
        Answer(["Hi"]),
    )
    model = claude(desk, connections, temperature=0.5)
    for _ in range(2):
        await said(model)
    assert [request.get("temperature") for request in desk.requests] == [0.5, None, None, None]
    assert [request["max_tokens"] for request in desk.requests] == [32_000, 32_000, 8_192, 8_192]


def beyond(taken: int, asked: int, window: int) -> Refusal:
    message = f"input length and `max_tokens` exceed context limit: {taken} + {asked} > {window}, decrease it"
    return Refusal(400, message=message)


@pytest.mark.parametrize(
    ("window", "options", "most"),
    [
        (None, {}, 32_000),
        (200_000, {}, 32_000),
        (20_001, {}, 10_000),
        (20_001, {"max_tokens": 15_000}, 15_000),
        (20_001, {"thinking": {"type": "enabled", "budget_tokens": 2000}}, 10_000),
        (20_001, {"thinking": {"type": "enabled", "budget_tokens": 12_000}}, 12_001),
    ],
)
async def test_an_answer_is_asked_for_that_fits_into_a_window_that_is_known(
    desk: Desk, connections: Connections, window: int | None, options: dict[str, Any], most: int
) -> None:
    desk.script(Answer(["Hi"]))
    await said(claude(desk, connections, window=window, options=options))
    assert [request["max_tokens"] for request in desk.requests] == [most]


async def test_a_window_that_is_too_small_for_the_answer_is_learned_from_the_refusal(
    desk: Desk, connections: Connections
) -> None:
    model = claude(desk, connections)
    desk.script(beyond(1548, 32_000, 20_001), Answer(["Hi"]), Answer(["Hi"]))
    for _ in range(2):
        await said(model)
    desk.script(beyond(15_000, 10_000, 20_001), Answer(["Hi"]), Answer(["Hi"]))
    for _ in range(2):
        await said(model)
    asked = [request["max_tokens"] for request in desk.requests]
    assert asked == [32_000, 10_000, 10_000, 10_000, 5_001, 10_000], "what a long history left is not kept"


async def test_a_history_that_leaves_no_room_for_an_answer_is_too_long(
    desk: Desk, connections: Connections
) -> None:
    desk.script(beyond(19_900, 32_000, 20_001))
    _, error = await fault(claude(desk, connections))
    assert (error.kind, error.context_tokens) == ("context", 20_001)
    desk.script(beyond(1548, 32_000, 20_001))
    _, error = await fault(claude(desk, connections, options={"max_tokens": 32_000}))
    assert error.kind == "context"


def test_another_version_cannot_be_asked_for(desk: Desk, connections: Connections) -> None:
    with pytest.raises(Unusable, match="2023-06-01, 2026-10-21"):
        claude(desk, connections, options={"anthropic_version": "2020-01-01"})


async def test_betas_are_a_header(desk: Desk, connections: Connections) -> None:
    desk.script(Answer(["Hi"]))
    await said(claude(desk, connections, options={"anthropic_beta": ["one", "two"]}))
    assert desk.headers[-1]["anthropic-beta"] == "one,two"
    assert "anthropic_beta" not in desk.requests[-1]


async def test_a_refusal_is_shown_as_the_answer(desk: Desk, connections: Connections) -> None:
    desk.script(
        Answer(["I cannot help with that"], reason="refusal"),
        Answer(reason="refusal", explanation="This is about something harmful."),
        Answer(reason="refusal"),
    )
    model = claude(desk, connections)
    texts = []
    for _ in range(3):
        pieces = await said(model)
        assert pieces[-1] == Finish("refusal")
        texts.append("".join(piece.text for piece in pieces if isinstance(piece, Text)))
    assert texts == [
        "I cannot help with that ",
        "This is about something harmful.",
        "The model has declined to answer.",
    ]


async def test_every_fault_of_a_stream_is_told(desk: Desk, connections: Connections) -> None:
    answer = Answer([Thought(), "Well then", Use("look")])
    model = claude(desk, connections)
    for count in range(len(list(answer.events())) - 2):
        desk.script(Broken(answer, count), Error(answer, count), Error(answer, count, "api_error"))
        assert [(await fault(model))[1].kind for _ in range(3)] == ["broken", "busy", "provider"]


async def test_statuses_are_told(desk: Desk, connections: Connections) -> None:
    model = claude(desk, connections)
    desk.script(
        Refusal(429, {"retry-after": "2"}, "rate_limit_error"),
        Refusal(529, {}, "overloaded_error"),
        Refusal(500, {}, "api_error"),
        Refusal(404, {}, "not_found_error"),
        Refusal(400, message="prompt is too long: 210000 tokens > 200000 maximum"),
    )
    found = [(await fault(model))[1] for _ in range(5)]
    assert [error.kind for error in found] == ["busy", "busy", "provider", "missing", "context"]
    assert (found[0].retry_after, found[4].context_tokens) == (2.0, 200_000)
    _, error = await fault(claude(desk, connections, api_key="sk-ant-wrong-0123456789"))
    assert error.kind == "key"
    assert "0123456789" not in str(error)


async def test_the_server_notices_that_a_stream_was_closed(desk: Desk, connections: Connections) -> None:
    desk.script(Hang(Answer(["Well then"]), 5))
    async with aclosing(claude(desk, connections).stream(ASKED)) as stream:
        await anext(stream)
    await until(lambda: desk.broken_off == 1)
