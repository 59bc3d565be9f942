"""No reply of a model blocks the event loop, whatever its tool calls look like."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from caesura.core import described
from caesura.core import events as ev
from caesura.engine import speech
from caesura.engine.calls import BROKEN, LONGEST, LONGEST_TOGETHER, MOST_CALLS, REFUSED, Calls
from caesura.models.model import CallPart
from tests.engine.world import YES, World
from tests.openai_server import Call, Say
from tests.pauses import LONGEST_STEP, Pauses

SIZES = (100_000, 1_000_000)


pytestmark = pytest.mark.usefixtures("frozen_collector")

Shape = Callable[[int], Sequence[str]]
SHAPES: dict[str, Shape] = {
    "one piece": lambda n: [json.dumps({"content": "x" * n})],
    "two pieces": lambda n: ['{"content": "' + "x" * (n // 2), "x" * (n // 2) + '"}'],
    "small pieces": lambda n: ['{"content": "', *["x" * 100] * (n // 100), '"}'],
    "broken": lambda n: ["path = " + "x" * n],
    "never closed": lambda n: ['{"content": "' + "x" * n],
    "closed by the wrong end": lambda n: ["x" * n + '"}'],
    "deep lists": lambda n: ["[" * n],
    "deep objects": lambda n: ['{"a":' * (n // 5) + "1" + "}" * (n // 5)],
    "many lists": lambda n: ['{"a":[' + "[]," * (n // 3) + "1]}"],
    "many numbers": lambda n: ['{"a":[' + "1," * (n // 2) + "1]}"],
    "huge key": lambda n: [json.dumps({"x" * n: 1})],
    "escapes": lambda n: [json.dumps({"a": '"\\' * (n // 4)})],
    "Chinese": lambda n: [json.dumps({"a": "文" * n}, ensure_ascii=False)],
    "spaces": lambda n: [" " * n + "{" + " " * n + "}"],
}


class Gathered:
    """A reply gathered as the engine does it, and the longest step."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.longest = 0.0
        reply = speech.Reply()
        self._step(lambda: reply.add(CallPart(0, "", "c", "write_file")))
        for text in texts:
            self._step(lambda text=text: reply.add(CallPart(0, text)))  # type: ignore[misc]
        calls = self._step(lambda: reply.tool_calls(()))
        self.args: dict[str, Any] = calls[0]["args"]

    def _step(self, work: Callable[[], Any]) -> Any:
        began = time.thread_time()
        result = work()
        self.longest = max(self.longest, time.thread_time() - began)
        return result


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_of_arguments_makes_a_long_step(shape: str) -> None:
    for size in SIZES:
        assert Gathered(SHAPES[shape](size)).longest < LONGEST_STEP, size


def test_whole_arguments_are_what_the_model_sent() -> None:
    for shape in ("one piece", "two pieces", "small pieces"):
        assert Gathered(SHAPES[shape](100_000)).args == {"content": "x" * 100_000}


@pytest.mark.parametrize("shape", ["broken", "never closed", "closed by the wrong end"])
def test_invalid_json_is_kept_in_part(shape: str) -> None:
    texts = SHAPES[shape](100_000)
    assert Gathered(texts).args == {BROKEN: "".join(texts)[:1000]}


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ("deep lists", "nested deeper than 64 levels"),
        ("deep objects", "nested deeper than 64 levels"),
        ("many lists", "more than 50000 values"),
        ("many numbers", "more than 50000 values"),
    ],
)
def test_arguments_too_large_to_walk_are_refused_with_the_reason(shape: str, reason: str) -> None:
    size = 40_000 if "deep" in shape else 1_000_000
    assert reason in Gathered(SHAPES[shape](size)).args[REFUSED]


def test_arguments_nested_a_little_too_deep_are_refused_too() -> None:
    assert "nested deeper" in Gathered(['{"a":' * 65 + "1" + "}" * 65]).args[REFUSED]
    assert REFUSED not in Gathered(['{"a":' * 64 + "1" + "}" * 64]).args


def test_arguments_beyond_the_limit_are_refused_and_nothing_of_them_is_kept() -> None:
    calls = Calls()
    for _ in range(3 * LONGEST // 10_000):
        calls.add(CallPart(0, "x" * 10_000))
    assert calls._calls[0].parts == []
    assert f"longer than {LONGEST} characters" in calls.read()[0]["args"][REFUSED]


def test_all_arguments_of_a_reply_together_are_bounded() -> None:
    calls = Calls()
    for index in range(20):
        calls.add(CallPart(index, json.dumps({"a": "x" * 900_000})))
    assert sum(len(part) for call in calls._calls for part in call.parts) <= LONGEST_TOGETHER
    assert [REFUSED in call["args"] for call in calls.read()] == [False] * 4 + [True] * 16


def test_calls_over_the_limit_are_reported_once() -> None:
    calls = Calls()
    for index in range(10_000):
        calls.add(CallPart(index, "{}", f"c{index}", "list_files"))
    read = calls.read()
    assert len(read) == MOST_CALLS + 1
    assert "too many" in read[-1]["args"][REFUSED]
    assert all(call["args"] == {} for call in read[:-1])


def test_a_name_and_an_id_are_bounded() -> None:
    calls = Calls()
    for _ in range(1000):
        calls.add(CallPart(0, "", "y" * 1_000_000, "x" * 1000))
    (call,) = calls.read()
    assert len(call["name"]) == 200
    assert len(call["id"]) == 201


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_long_arguments_in_two_pieces_do_not_block_the_event_loop(world: World) -> None:
    world.agent("tools: [read_file]")
    args = [json.dumps({"path": "x" * 60_000}), '{"path": "' + "x" * 250_000, "[" * 40_000]
    calls = [Call("read_file", text, f"call-{place}") for place, text in enumerate(args)]
    world.desk.script(Say("hello"), Say(calls=calls, width=30_000), Say("done"))
    await world.say("load the provider's package first")
    async with Pauses() as pauses:
        said = await world.say("hi")
    assert said.finished
    assert pauses.longest < LONGEST_STEP
    outputs = {event.id: event.output for event in said.of(ev.ToolFinished)}
    assert "not valid JSON" in outputs["call-1"]
    assert "nested deeper than 64 levels" in outputs["call-2"]


#: The arguments that take longest to describe, each about as long as a question may be.
HOSTILE: dict[str, Any] = {
    "reordering": "\u202e\u200b" * 140_000,
    "escapes": "\\n\x1b" * 85_000,
    "marks": "a\u0301" * 250_000,
    "values": [["x"]] * 16_000,
}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_describing_arguments_does_not_block_the_event_loop(world: World) -> None:
    """Each argument goes through a whole turn: the model asks, a person approves, the tool is called."""
    world.agent("tools: [execute, write_file]")
    world.desk.script(Say("hello"))
    await world.say("load the provider's package first")
    longest = {}
    for name, value in HOSTILE.items():
        calls = [Call("execute", json.dumps({"command": value}, ensure_ascii=False))]
        world.desk.script(Say(calls=calls, width=100_000), Say("done"))
        await world.begin()
        async with Pauses() as pauses:
            said = await world.say("hi")
            assert len(said.interrupts[0].description) > described.LONGEST // 2
            done = await world.resume(said, YES)
        assert done.finished
        longest[name] = pauses.longest
    assert max(longest.values()) < LONGEST_STEP, longest


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_the_model_gets_an_error_for_arguments_over_the_limit(world: World) -> None:
    world.agent("tools: [read_file]")
    call = Call("read_file", '{"path": "' + "x" * (LONGEST + 1))
    world.desk.script(Say("hello"), Say(calls=[call], width=100_000), Say("done"))
    await world.say("load the provider's package first")
    async with Pauses() as pauses:
        said = await world.say("hi")
    assert pauses.longest < LONGEST_STEP
    assert said.results() == [
        ("read_file", f"Nothing was done: the arguments are longer than {LONGEST} characters.", "error")
    ]
    assert world.desk.sent()[-1] == ("tool", said.results()[0][1])
