"""Streamed replies in both protocols, however the bytes come, and wherever they break off."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import aclosing
from typing import Any

import pytest

from caesura.core.messages import Message
from caesura.models.failures import ModelError
from caesura.models.model import CallPart, Finish, Kept, Model, Piece, Reasoning, Text, Usage
from tests.models.conftest import KEY, Make
from tests.models.samples import (
    ANTHROPIC,
    OPENAI,
    SAMPLES,
    Sample,
    block,
    call,
    chunk,
    closing,
    named,
    opening,
)
from tests.models.wire import END, STREAM, Wire, chunked, events, hangs, says, sends, streams
from tests.waiting import until

ASKED = [Message("system", "Be brief."), Message("user", "Hello")]
COUNTS = {"input_tokens": 0, "output_tokens": 1, "total_tokens": 1}
THOUGHT = {"type": "thinking", "thinking": "", "signature": ""}
both = pytest.mark.parametrize("sample", SAMPLES, ids=["openai", "anthropic"])


async def pieces_of(model: Model) -> list[Piece]:
    return [piece async for piece in model.stream(ASKED)]


async def fault_of(model: Model) -> tuple[list[Piece], ModelError]:
    pieces: list[Piece] = []
    try:
        async for piece in model.stream(ASKED):
            pieces.append(piece)
    except ModelError as error:
        return pieces, error
    raise AssertionError(f"did not fail: {pieces}")


@both
async def test_a_reply_is_read_in_its_pieces(provider: Wire, model: Make, sample: Sample) -> None:
    provider.answer(streams(sample.events))
    assert await pieces_of(model(sample.model)) == sample.pieces


@both
async def test_a_reply_is_the_same_when_every_byte_comes_alone(
    provider: Wire, model: Make, sample: Sample
) -> None:
    body = b"".join(sample.events)
    provider.answer(streams([bytes([byte]) for byte in body], pause=True))
    assert await pieces_of(model(sample.model)) == sample.pieces


@both
async def test_a_reply_is_the_same_with_every_end_of_line(
    provider: Wire, model: Make, sample: Sample
) -> None:
    for end in (b"\r\n", b"\r"):
        body = b"".join(sample.events).replace(b"\n", end)
        provider.answer(
            streams([body]), streams([body[i : i + 7] for i in range(0, len(body), 7)], pause=True)
        )
        assert await pieces_of(model(sample.model)) == sample.pieces
        assert await pieces_of(model(sample.model)) == sample.pieces


@both
async def test_a_space_after_data_and_the_last_empty_line_may_be_missing(
    provider: Wire, model: Make, sample: Sample
) -> None:
    body = b"".join(sample.events).replace(b"data: ", b"data:").rstrip(b"\n")
    provider.answer(streams([body]))
    assert await pieces_of(model(sample.model)) == sample.pieces


@both
async def test_data_may_come_in_several_lines(provider: Wire, model: Make, sample: Sample) -> None:
    body = b"".join(sample.events).replace(b", ", b",\ndata: ")
    provider.answer(streams([body]))
    assert await pieces_of(model(sample.model)) == sample.pieces


async def test_empty_lines_between_events_may_be_missing(provider: Wire, model: Make) -> None:
    body = b"".join(OPENAI.events).replace(b"\n\n", b"\n") + b"\n"
    provider.answer(streams([body]))
    assert await pieces_of(model()) == OPENAI.pieces


@both
async def test_a_stream_that_breaks_off_at_any_event_is_broken_unless_it_said_why_it_stopped(
    provider: Wire, model: Make, sample: Sample
) -> None:
    made = model(sample.model)
    stop = next(
        n
        for n, event in enumerate(sample.events)
        if b'"tool_calls"}' in event or b'"tool_use", "sto' in event
    )
    for count in range(len(sample.events)):
        for ends in (False, True):
            provider.answer(streams(sample.events[:count], ends=ends))
            if count > stop:
                found = [piece for piece in await pieces_of(made) if not isinstance(piece, Usage)]
                assert found == [piece for piece in sample.pieces if not isinstance(piece, Usage)]
                continue
            said, error = await fault_of(made)
            assert error.kind == "broken"
            assert said == sample.pieces[: len(said)]


@both
async def test_half_a_line_at_the_end_is_no_event(provider: Wire, model: Make, sample: Sample) -> None:
    made = model(sample.model)
    for ends in (False, True):
        half = sample.events[5][:-20]
        provider.answer(streams([*sample.events[:5], half], ends=ends))
        said, error = await fault_of(made)
        assert error.kind == "broken"
        assert said == sample.pieces[: len(said)]


@both
async def test_something_else_than_events_is_broken(provider: Wire, model: Make, sample: Sample) -> None:
    strange = [
        b"data: {\n\n",
        b"data: [1]\n\n",
        b"data: 7\n\n",
        b'data: {"choices": 3, "type": 5}\n\n',
        b'data: {"choices": [{"delta": [1]}], "type": "content_block_delta"}\n\n',
        b"<html>busy</html>\n\n",
        b"\xff\xfe\n\n",
        b"",
    ]
    made = model(sample.model)
    for body in strange:
        provider.answer(streams([body] if body else []))
        _, error = await fault_of(made)
        assert error.kind == "broken"


async def test_a_line_without_an_end_is_given_up(
    provider: Wire, model: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caesura.models.sse.LONGEST", 100_000)
    provider.answer(streams([b"data: " + b"x" * 200_000]), streams([b"data: " + b"x" * 60_000 + b"\n"] * 2))
    for _ in range(2):
        _, error = await fault_of(model())
        assert error.kind == "broken"


async def test_a_head_or_a_tail_without_an_end_is_given_up(provider: Wire, model: Make) -> None:
    filler = b"x-filler: " + b"y" * 200_000
    many = b"".join(b"x-%d: y\r\n" % number for number in range(50_000))
    body = STREAM + b"".join(chunked(OPENAI.events[:3])) + b"0\r\n"
    for start in (b"HTTP/1.1 200 OK\r\n", body):
        for rest in (filler, many):
            provider.answer(sends(start + rest, closes=False))
            _, error = await fault_of(model())
            assert error.kind == "broken"


@pytest.mark.parametrize(
    ("sample", "many"),
    [
        (OPENAI, [chunk({"tool_calls": [call(n, id=f"c{n}", name="look")]}) for n in range(1_100)]),
        (OPENAI, [chunk({"reasoning_details": [{"type": "x", "data": "d" * 1000}]})] * 300),
        (ANTHROPIC, block(7, THOUGHT, *[{"type": "signature_delta", "signature": "s" * 1000}] * 300)),
        (
            ANTHROPIC,
            [e for n in range(1_100) for e in block(n, {"type": "tool_use", "id": "a", "name": "b"})],
        ),
    ],
)
async def test_what_grows_without_being_seen_is_bounded(
    provider: Wire, model: Make, monkeypatch: pytest.MonkeyPatch, sample: Sample, many: list[dict[str, Any]]
) -> None:
    monkeypatch.setattr("caesura.models.replies._MOST_KEPT", 200_000)
    provider.answer(streams([sample.events[0], *events(*many), *sample.events[1:]]))
    _, error = await fault_of(model(sample.model))
    assert error.kind == "broken"
    assert "too m" in str(error)


@pytest.mark.parametrize(
    ("sample", "error", "kind"),
    [
        (OPENAI, {"error": {"message": "busy", "type": "rate_limit_exceeded"}}, "busy"),
        (OPENAI, {"error": {"message": "down", "code": 502}}, "provider"),
        (OPENAI, {"error": {"message": "later", "code": 429}}, "busy"),
        (OPENAI, {"object": "error", "message": "wrong", "code": 400, "type": "BadRequestError"}, "request"),
        (OPENAI, {"error": "out of memory"}, "provider"),
        (
            ANTHROPIC,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "busy",
        ),
        (ANTHROPIC, {"type": "error", "error": {"type": "api_error", "message": "Internal"}}, "provider"),
    ],
)
async def test_an_error_inside_a_stream_is_a_failure_after_what_was_said(
    provider: Wire, model: Make, sample: Sample, error: dict[str, object], kind: str
) -> None:
    made = model(sample.model)
    provider.answer(streams([sample.events[0], *events(error)]))
    said, failure = await fault_of(made)
    assert (said, failure.kind) == ([], kind)
    provider.answer(streams([*sample.events[:7], *events(error)]))
    said, failure = await fault_of(made)
    assert said
    assert said == sample.pieces[: len(said)]
    assert failure.kind == kind


@both
async def test_silence_is_noticed_before_the_head_behind_it_and_in_the_midst(
    provider: Wire, model: Make, sample: Sample
) -> None:
    made = model(sample.model, idle_timeout=0.2)
    for parts in ([], [b"HTTP/1.1 200 OK\r\n"], [STREAM], [STREAM, *chunked(sample.events[:7])]):
        provider.answer(hangs(*parts))
        said, error = await fault_of(made)
        assert error.kind == "silent"
        assert said == sample.pieces[: len(said)]
        await provider.gone.acquire()


async def test_comments_are_a_sign_of_life(provider: Wire, model: Make) -> None:
    async def slowly(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        for _ in range(12):
            await asyncio.sleep(0.1)
            writer.write(chunked([b": still here\n\n"])[0])
        for part in chunked(OPENAI.events):
            writer.write(part)
        writer.write(b"0\r\n\r\n")

    provider.answer(slowly)
    assert await pieces_of(model(idle_timeout=1.0)) == OPENAI.pieces


@both
async def test_closing_a_stream_closes_its_connection(provider: Wire, model: Make, sample: Sample) -> None:
    provider.answer(hangs(STREAM, *chunked(sample.events[:7])))
    async with aclosing(model(sample.model).stream(ASKED)) as stream:
        await anext(stream)
    await provider.gone.acquire()


@both
async def test_cancelling_a_call_closes_its_connection(provider: Wire, model: Make, sample: Sample) -> None:
    for parts in ([], [STREAM], [STREAM, *chunked(sample.events[:7])]):
        provider.answer(hangs(*parts))
        asked = len(provider.requests)
        task = asyncio.ensure_future(pieces_of(model(sample.model)))
        await until(lambda asked=asked: len(provider.requests) > asked)  # type: ignore[misc]
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.gone.acquire()


async def test_a_reply_in_one_piece_is_taken_too(provider: Wire, model: Make) -> None:
    calls = [{"id": "a", "function": {"name": "find", "arguments": {"q": 1}}}]
    message = {"role": "assistant", "content": "Hi", "reasoning": "hm", "tool_calls": calls}
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    provider.answer(says(200, body, content_type="application/json"))
    assert (await pieces_of(model()))[1:] == [
        Text("Hi"),
        CallPart(0, '{"q":1}', "a", "find"),
        Usage({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
        Finish("stop"),
    ]
    content: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "a", "name": "find", "input": {"q": 1}},
    ]
    provider.answer(says(200, {"type": "message", "content": content, "stop_reason": "tool_use"}))
    assert (await pieces_of(model("anthropic:claude-test")))[1:] == [
        Kept(content[0]),
        Text("Hi"),
        CallPart(2, "", "a", "find"),
        CallPart(2, '{"q":1}'),
        Finish("tool_use"),
    ]


async def test_an_error_in_a_reply_of_one_piece_is_a_failure(provider: Wire, model: Make) -> None:
    provider.answer(says(200, {"error": {"message": f"no credit for {KEY}", "code": 402}}))
    _, error = await fault_of(model())
    assert error.kind == "key"
    assert KEY not in str(error)
    for strange in (b'{"choices": [{"mess', b"{}", b'{"detail": "Not Found"}', b'{"type": "page"}'):
        for name in ("openai:test", "anthropic:claude-test"):
            provider.answer(says(200, strange))
            _, error = await fault_of(model(name))
            assert error.kind == "broken"


@both
async def test_a_connection_is_used_again_after_a_whole_reply(
    provider: Wire, model: Make, sample: Sample
) -> None:
    made = model(sample.model)
    for _ in range(3):
        provider.answer(streams(sample.events, pause=True))
        assert await pieces_of(made) == sample.pieces
        await asyncio.sleep(0.05)  # the end of the stream is read when nobody waits for it any more
    assert provider.connections == 1


async def test_a_kept_connection_that_the_provider_has_closed_is_replaced(
    provider: Wire, model: Make
) -> None:
    async def closes(writer: asyncio.StreamWriter) -> None:
        await streams(OPENAI.events)(writer)
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.abort()

    made = model()
    provider.answer(closes, streams(OPENAI.events))
    for _ in range(2):
        assert await pieces_of(made) == OPENAI.pieces
    assert provider.connections == 2


async def test_an_interim_response_is_passed_over(provider: Wire, model: Make) -> None:
    body = b"".join(OPENAI.events)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    provider.answer(sends(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + head + body))
    assert await pieces_of(model()) == OPENAI.pieces


async def test_a_body_may_end_with_the_connection(provider: Wire, model: Make) -> None:
    provider.answer(sends(b"HTTP/1.1 200 OK\r\n\r\n" + b"".join(OPENAI.events)))
    assert await pieces_of(model()) == OPENAI.pieces


async def test_a_reader_that_takes_its_time_gets_everything(provider: Wire, model: Make) -> None:
    many = [*events(*[chunk({"content": "x" * 1000}) for _ in range(6_000)]), *OPENAI.events[-3:]]
    provider.answer(streams([b"".join(many)]))
    length = 0
    async for piece in model(idle_timeout=0.3).stream(ASKED):
        if not length:
            await asyncio.sleep(0.7)
        length += len(piece.text) if isinstance(piece, Text) else 0
    assert length == 6_000_000


async def test_what_claude_has_not_said_yet_is_no_word(provider: Wire, model: Make) -> None:
    provider.answer(streams(named(opening(input_tokens=1)), ends=False))
    said, error = await fault_of(model("anthropic:claude-test"))
    assert (said, error.kind) == ([], "broken")


async def test_what_comes_behind_a_response_is_no_part_of_it(provider: Wire, model: Make) -> None:
    body = b"".join(OPENAI.events)
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    made = model()
    for more in (b"\x00\x01", b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", b"HTTP/1.1 20", whole):
        provider.answer(sends(whole + more, closes=False))
        assert await pieces_of(made) == OPENAI.pieces
    assert provider.connections == 4


async def test_bytes_that_are_damaged_anyhow_end_in_a_reply_or_a_failure(provider: Wire, model: Make) -> None:
    chance = random.Random(7)
    made = {sample.model: model(sample.model) for sample in SAMPLES}
    kinds = set()
    for _ in range(250):
        sample = chance.choice(SAMPLES)
        data = damaged(STREAM + b"".join(chunked(sample.events)) + END, chance)
        provider.answer(sends(data))
        try:
            await pieces_of(made[sample.model])
        except ModelError as error:
            kinds.add(error.kind)
    assert "broken" in kinds
    assert "silent" not in kinds


def damaged(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 5, 30])):
        place, other = chance.randrange(len(changed)), chance.randrange(len(changed))
        length = chance.randrange(1, 60)
        match chance.randrange(4):
            case 0:
                changed[place] = chance.randrange(256)
            case 1:
                changed[place : place + length] = b" "
            case 2:
                changed[place:place] = bytes(chance.choices(b'{}[]":,\r\n019null ', k=length))
            case _:
                changed[place:place] = changed[other : other + length]
    return bytes(changed)


@pytest.mark.parametrize("reason", [KEY, f"stop {KEY}", "x" * 65, "a\nb", ["stop"], 7, {"a": "b"}])
async def test_a_reason_that_is_no_plain_word_is_not_told(provider: Wire, model: Make, reason: Any) -> None:
    """The reply is complete all the same."""
    provider.answer(streams(events(chunk({"content": "Hi"}, reason))))
    assert await pieces_of(model("openai:test")) == [Text("Hi")]
    said = block(0, {"type": "text", "text": "Hi"})
    provider.answer(streams(named(opening(), *said, *closing(reason, output_tokens=1))))
    assert await pieces_of(model("anthropic:claude-test")) == [Text("Hi"), Usage(COUNTS)]


def _whole(pieces: list[Piece], kind: type[Text] | type[Reasoning]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, kind))


async def test_a_character_that_comes_in_two_halves_is_one_character(provider: Wire, model: Make) -> None:
    halves = ('{"a\ud83d', '\ude00b":', '"\ude00\ud83d', '"}')
    whole = '{"a\U0001f600b":"\ude00\ud83d"}'
    deltas: list[dict[str, Any]] = [{"reasoning_content": half} for half in halves]
    deltas += [{"content": half} for half in halves]
    deltas += [{"tool_calls": [call(0, id="a", name="look", arguments=half)]} for half in halves]
    provider.answer(streams(events(*map(chunk, deltas), chunk({}, "stop"))))
    for_claude = [
        *block(0, THOUGHT, *({"type": "thinking_delta", "thinking": half} for half in halves)),
        *block(1, {"type": "text", "text": ""}, *({"type": "text_delta", "text": half} for half in halves)),
        *block(
            2,
            {"type": "tool_use", "id": "a", "name": "look", "input": {}},
            *({"type": "input_json_delta", "partial_json": half} for half in halves),
        ),
        *block(3, THOUGHT),
    ]
    provider.answer(streams(named(opening(), *for_claude, *closing("stop"))))
    for name in ("openai:test", "anthropic:claude-test"):
        pieces = await pieces_of(model(name))
        assert _whole(pieces, Text) == _whole(pieces, Reasoning) == whole
        assert "".join(piece.args for piece in pieces if isinstance(piece, CallPart)) == whole
    kept = [piece.block for piece in pieces if isinstance(piece, Kept)]
    assert kept[0]["thinking"] == whole
    assert kept[1] == {"type": "place", "characters": len(whole), "calls": 1}


async def test_half_a_character_at_the_end_is_told_as_it_is(provider: Wire, model: Make) -> None:
    provider.answer(streams(events(chunk({"content": "a\ud83d"}), chunk({}, "stop"))))
    assert await pieces_of(model()) == [Text("a"), Text("\ud83d"), Finish("stop")]


_CLAUDES = [
    ({"type": "text", "text": ""}, {"type": "text_delta", "text": ["a"]}),
    ({"type": "text", "text": ["a"]}, {"type": "text_delta", "text": "a"}),
    (THOUGHT, {"type": "thinking_delta", "thinking": ["a"]}),
    (THOUGHT, {"type": "thinking_delta", "thinking": {"a": "b"}}),
    (THOUGHT, {"type": "signature_delta", "signature": ["a"]}),
    ({**THOUGHT, "thinking": ["a"]}, {"type": "thinking_delta", "thinking": "a"}),
    ({"type": "redacted_thinking", "data": ["a"]}, {"type": "text_delta", "text": "a"}),
    ({"type": "tool_use", "id": "a", "name": "b"}, {"type": "input_json_delta", "partial_json": ["a"]}),
    ({"type": "tool_use", "id": ["a"], "name": "b"}, {"type": "input_json_delta", "partial_json": ""}),
]


@pytest.mark.parametrize(("content", "delta"), _CLAUDES)
async def test_a_text_of_claude_that_is_no_text_is_broken(
    provider: Wire, model: Make, content: dict[str, Any], delta: dict[str, Any]
) -> None:
    provider.answer(streams(named(opening(), *block(0, content, delta), *closing("stop"))))
    _, fault = await fault_of(model("anthropic:claude-test"))
    assert fault.kind == "broken"


@pytest.mark.parametrize(
    "delta",
    [
        {"tool_calls": [call(0, id=str(number), name="a") for number in range(1_100)]},
        {"tool_calls": [call(0, arguments="")] * 30_000},
        {"content": [{"text": "a"}] * 30_000},
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a"}] * 30_000},
        {"reasoning_details": [{"type": "reasoning.text", **{str(n): n for n in range(100)}}]},
    ],
    ids=["calls in one place", "parts of a call", "parts of a text", "details", "members of a detail"],
)
async def test_an_event_with_too_many_parts_is_broken(
    provider: Wire, model: Make, delta: dict[str, Any]
) -> None:
    provider.answer(streams(events(chunk(delta), chunk({}, "stop"))))
    pieces, fault = await fault_of(model())
    assert fault.kind == "broken"
    assert len(pieces) < 1_100


async def test_an_event_with_too_many_lines_is_broken(provider: Wire, model: Make) -> None:
    provider.answer(streams([b"data: 1\n" * 40_000 + b"\n"]))
    assert "too many parts" in str((await fault_of(model()))[1])


async def test_a_long_text_is_no_crowd(provider: Wire, model: Make) -> None:
    long = '[{"a": [1]}, \n' * 100_000
    provider.answer(streams(events(chunk({"content": long}), chunk({}, "stop"))))
    assert await pieces_of(model()) == [Text(long), Finish("stop")]


@both
async def test_a_mark_before_the_first_event_is_passed_over(
    provider: Wire, model: Make, sample: Sample
) -> None:
    parts = [b"\xef", b"\xbb", b"\xbf", *sample.events]
    provider.answer(streams([b"".join(parts)]), streams(parts, pause=True))
    assert await pieces_of(model(sample.model)) == sample.pieces
    assert await pieces_of(model(sample.model)) == sample.pieces


async def test_empty_lines_may_come_before_a_reply_in_one_piece(provider: Wire, model: Make) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}).encode()
    for before in (b"\n\n", b"\r\n \n", b"\xef\xbb\xbf"):
        provider.answer(streams([before, b"\n", body], pause=True))
        assert await pieces_of(model()) == [Text("Hi"), Finish("stop")]
