"""Chat completions: what is sent, and the many forms of what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from caesura.core.messages import Message
from caesura.models.failures import ModelError
from caesura.models.model import CallPart, Finish, Kept, Piece, Reasoning, Schema, Text
from tests.models.conftest import KEY, Make
from tests.models.samples import OPENAI, call, chunk
from tests.models.test_streams import ASKED, fault_of, pieces_of
from tests.models.wire import Wire, events, says, streams
from tests.openai_server.history import fault_in

LOOK = Schema("look", "Looks.", {"type": "object", "properties": {}})
END: list[dict[str, Any] | str] = [chunk({}, "stop"), "[DONE]"]


async def read(provider: Wire, model: Make, *chunks: dict[str, Any] | str) -> list[Piece]:
    provider.answer(streams(events(*chunks, *END)))
    return [piece for piece in await pieces_of(model()) if not isinstance(piece, Finish)]


async def sent(provider: Wire, model: Make, messages: list[Message], **changes: Any) -> dict[str, Any]:
    provider.answer(streams(OPENAI.events))
    async for _ in model(**changes).stream(messages, [LOOK]):
        pass
    found: dict[str, Any] = provider.requests[-1].body
    assert fault_in(found["messages"]) is None
    return found


async def test_a_request_has_what_the_protocol_wants(provider: Wire, model: Make) -> None:
    body = await sent(provider, model, ASKED, temperature=0.5, options={"top_p": 0.9, "seed": 7})
    assert body == {
        "model": "test",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "tools": [
            {
                "type": "function",
                "function": {"name": "look", "description": "Looks.", "parameters": LOOK.parameters},
            }
        ],
        "top_p": 0.9,
        "seed": 7,
    }
    request = provider.requests[-1]
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["accept-encoding"] == "identity"


async def test_options_win_and_what_is_not_set_is_not_sent(provider: Wire, model: Make) -> None:
    body = await sent(provider, model, ASKED, options={"stream_options": {"x": 1}, "temperature": 1})
    assert body["stream_options"] == {"x": 1}
    assert body["temperature"] == 1
    assert "temperature" not in await sent(provider, model, ASKED)
    provider.answer(streams(OPENAI.events))
    await pieces_of(model())
    assert "tools" not in provider.requests[-1].body


async def test_a_history_is_sent_as_providers_want_it(provider: Wire, model: Make) -> None:
    calls = ({"id": "a", "name": "look", "args": {"x": "ü"}}, {"id": "b", "name": "look", "args": {}})
    messages = [
        Message("user", ""),
        Message("assistant", "", cut=True),
        Message("tool", "of nobody", tool_call_id="z"),
        Message("assistant", " ", reasoning="hm", tool_calls=calls),
        Message("user", "wait"),
        Message("tool", "", tool_call_id="b"),
        Message("assistant", "Half an ans", cut=True),
        Message("user", "Go on"),
    ]
    body = await sent(provider, model, messages)
    assert [(item["role"], item["content"]) for item in body["messages"]] == [
        ("user", "(empty)"),
        ("assistant", None),
        ("tool", "(no result: the call did not come to its end)"),
        ("tool", "(empty)"),
        ("user", "wait"),
        ("assistant", "Half an ans"),
        ("user", "Go on"),
    ]
    asked = body["messages"][1]
    assert [json.loads(item["function"]["arguments"]) for item in asked["tool_calls"]] == [{"x": "ü"}, {}]
    assert "reasoning_content" not in asked


async def test_reasoning_goes_back_with_its_calls_where_the_provider_wants_it(
    provider: Wire, model: Make
) -> None:
    calls = ({"id": "a", "name": "look", "args": {}},)
    messages = [
        Message("user", "go"),
        Message("assistant", "", reasoning="hm", tool_calls=calls),
        Message("tool", "x", tool_call_id="a"),
        Message("assistant", "", tool_calls=({**calls[0], "id": "b"},)),
        Message("tool", "x", tool_call_id="b"),
        Message("assistant", "done", reasoning="yes"),
        Message("user", "more"),
    ]
    body = await sent(provider, model, messages, name="deepseek:deepseek-flash")
    found = [item.get("reasoning_content") for item in body["messages"] if item["role"] == "assistant"]
    assert found == ["hm", "", None]


async def test_reasoning_has_many_forms(provider: Wire, model: Make) -> None:
    found = await read(
        provider,
        model,
        chunk({"reasoning_content": "a"}),
        chunk({"reasoning": "b", "content": ""}),
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "c"}]}]}),
        chunk({"content": [{"type": "text", "text": "d"}]}),
        chunk({"content": None, "refusal": "e"}),
    )
    assert found == [Reasoning("a"), Reasoning("b"), Reasoning("c"), Text("d"), Text("e")]


async def test_reasoning_details_are_kept_and_go_back(provider: Wire, model: Make) -> None:
    parts = [
        {"type": "reasoning.text", "index": 0, "text": "Let ", "format": "x"},
        {"type": "reasoning.text", "index": 0, "text": "me", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "abc"},
    ]
    found = await read(provider, model, *(chunk({"reasoning_details": [part]}) for part in parts))
    details = [
        {"type": "reasoning.text", "index": 0, "text": "Let me", "format": "x", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "abc"},
    ]
    kept = Kept({"type": "reasoning_details", "details": details})
    assert found == [Reasoning("Let "), Reasoning("me"), kept]
    calls = ({"id": "a", "name": "look", "args": {}},)
    reply = Message("assistant", "", tool_calls=calls, kept=(kept.block, {"type": "thinking"}))
    body = await sent(provider, model, [Message("user", "go"), reply, Message("tool", "x", tool_call_id="a")])
    assert body["messages"][1]["reasoning_details"] == details


async def test_calls_have_many_forms(provider: Wire, model: Make) -> None:
    whole = [
        {"id": "a", "function": {"name": "look", "arguments": {"x": 1}}},
        {"id": "b", "function": {"name": "find", "arguments": "{}"}},
    ]
    assert await read(provider, model, chunk({"tool_calls": whole})) == [
        CallPart(0, '{"x":1}', "a", "look"),
        CallPart(1, "{}", "b", "find"),
    ]
    assert await read(
        provider,
        model,
        chunk({"tool_calls": [call(None, id="a", name="look", arguments="{")]}),
        chunk({"tool_calls": [call(None, arguments="}")]}),
        chunk({"tool_calls": [call(None, name="find")]}),
        chunk({"tool_calls": [call(None, arguments="{}")]}),
    ) == [CallPart(0, "{", "a", "look"), CallPart(0, "}"), CallPart(1, "", "", "find"), CallPart(1, "{}")]
    assert await read(
        provider,
        model,
        chunk({"tool_calls": [call(0, id="a", name="look", arguments="{")]}),
        chunk({"tool_calls": [call(0, id="a", name="look", arguments="}")]}),
        chunk({"tool_calls": [call(0, id="b", name="find", arguments="{}")]}),
    ) == [CallPart(0, "{", "a", "look"), CallPart(0, "}", "a"), CallPart(0, "{}", "b", "find")]


async def test_an_answer_that_was_filtered_away_says_so(provider: Wire, model: Make) -> None:
    provider.answer(streams(events(chunk({}, "content_filter"), "[DONE]")))
    assert await pieces_of(model()) == [
        Text("The provider's content filter has held back the answer."),
        Finish("content_filter"),
    ]


def refused(message: str) -> Any:
    return says(400, {"error": {"message": message, "type": "invalid_request_error"}})


@pytest.mark.parametrize(
    ("message", "before", "after"),
    [
        ("Unrecognized request argument supplied: stream_options", {}, {"stream_options": None}),
        ("[{'type': 'extra_forbidden', 'loc': ['body', 'stream_options']}]", {}, {"stream_options": None}),
        (
            "Unsupported value: 'temperature' does not support 0.2 with this model.",
            {"temperature": 0.2},
            {"temperature": None},
        ),
        (
            "Function tools with reasoning_effort are not supported in /v1/chat/completions."
            " To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
            {},
            {"reasoning_effort": "none"},
        ),
    ],
)
async def test_what_a_provider_does_not_take_is_left_out_and_remembered(
    provider: Wire, model: Make, message: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    made = model(**before)
    provider.answer(refused(message), streams(OPENAI.events), streams(OPENAI.events))
    for _ in range(2):
        assert [piece async for piece in made.stream(ASKED, [LOOK])] == OPENAI.pieces
    assert len(provider.requests) == 3
    for request in provider.requests[1:]:
        assert {name: request.body.get(name) for name in after} == after


async def test_reasoning_goes_back_after_a_provider_has_asked_for_it(provider: Wire, model: Make) -> None:
    calls = ({"id": "a", "name": "look", "args": {}},)
    messages = [
        Message("user", "go"),
        Message("assistant", "", reasoning="hm", tool_calls=calls),
        Message("tool", "x", tool_call_id="a"),
    ]
    provider.answer(
        refused("The `reasoning_content` in the thinking mode must be passed back to the API."),
        streams(OPENAI.events),
    )
    async for _ in model().stream(messages):
        pass
    assert provider.requests[-1].body["messages"][1]["reasoning_content"] == "hm"


async def test_a_refusal_that_nothing_helps_against_is_told_at_once(provider: Wire, model: Make) -> None:
    provider.answer(*[refused("stream_options and temperature are wrong")] * 3)
    _, error = await fault_of(model(temperature=1.0))
    assert error.kind == "request"
    assert len(provider.requests) == 3
    provider.answer(refused("reasoning_effort is wrong with tools"))
    with pytest.raises(ModelError):
        async for _ in model(options={"reasoning_effort": "high"}).stream(ASKED, [LOOK]):
            pass
    assert len(provider.requests) == 4


async def test_half_a_surrogate_pair_does_not_harm_a_request(provider: Wire, model: Make) -> None:
    provider.answer(streams(OPENAI.events))
    async for _ in model().stream([Message("user", "half \ud83d of it")]):
        pass
    assert provider.requests[-1].body["messages"][0]["content"] == "half \ud83d of it"
