"""What a graph writes with LangGraph's stream writer, and the permissions that it asks for by itself."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import Approval, GraphRequest
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.world import NO, YES, Said, World
from tests.graph_files import IMPORTS, chain

HEAD = """
import asyncio
import os
import time

from langgraph.config import get_stream_writer

TRACE = "{trace}"


def leave(line):
    with open(TRACE, "a") as file:
        file.write(line + "\\n")
"""

#: Hangs where it does so in its first run.
WRITES = """
async def plan(state):
    get_stream_writer()({"type": "start", "agent": "lead_agent", "timestamp": time.time()})
    return {"messages": [AIMessage("a plan")]}

async def work(state):
    write = get_stream_writer()
    for number in range(3):
        write({"step": number, "timestamp": time.time()})
        if number == 1 and not os.path.exists(TRACE):
            leave("hangs")
            await asyncio.sleep(60)
    return {"messages": [AIMessage("done")]}
"""

ASKS = chain(
    """
    def fetch(state):
        params = {"url": "https://example.org"}
        get_stream_writer()({"type": "permission_request", "data": params, "timestamp": time.time()})
        allowed = interrupt(
            {
                "type": "tool_permission",
                "agent": "crawl_agent",
                "tool_name": "web_fetch",
                "params": params,
                "permission_level": "confirm",
                "message": "Tool 'web_fetch' requires confirm permission",
            }
        )
        leave(repr(allowed))
        return {"messages": [AIMessage("fetched" if allowed else "not allowed")]}
    """,
    "fetch",
)


def graph(world: World, body: str) -> None:
    (world.agents / "writing.py").write_text(IMPORTS + HEAD.replace("{trace}", str(world.trace)) + body)
    agent_files.put(world.agents, "tester", "type: langgraph\ngraph: 'writing:graph'\n")
    assert not world.catalog.faults


def wrote(said: Said) -> list[object]:
    values = [event.value for event in said.of(ev.GraphWrote)]
    return [
        {name: item for name, item in value.items() if name != "timestamp"}
        if isinstance(value, dict)
        else value
        for value in values
    ]


async def test_what_a_graph_writes_is_an_event_in_its_place(world: World) -> None:
    world.trace.touch()
    graph(world, chain(WRITES, "plan", "work"))
    said = await world.say("go")
    kinds = [type(event) for event in said.events if isinstance(event, ev.GraphWrote | ev.TextDelta)]
    assert kinds == [ev.GraphWrote, ev.TextDelta, *[ev.GraphWrote] * 3, ev.TextDelta]
    assert wrote(said) == [{"type": "start", "agent": "lead_agent"}, *({"step": n} for n in range(3))]
    assert {event.agent for event in said.of(ev.GraphWrote)} == {"tester"}


async def test_after_a_crash_what_is_written_again_is_not_shown_again(hasty: World) -> None:
    graph(hasty, chain(WRITES, "plan", "work"))
    turn = await hasty.send("go")
    await hasty.until(turn, ev.GraphWrote, 3)
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished
    assert [event.cause for event in said.of(ev.RunStarted)] == ["start", "adopt"]
    assert wrote(said) == [{"type": "start", "agent": "lead_agent"}, *({"step": n} for n in range(3))]


#: Says something else each time that it runs.
SPEAKS = """
async def speak(state):
    write = get_stream_writer()
    write({"type": "start", "agent": "lead"})
    leave("run")
    with open(TRACE) as file:
        runs = len(file.readlines()) - 1
    text = ["I will delete it.", "I will not delete it.", "I do nothing."][runs]
    for word in text.split():
        write({"type": "llm_chunk", "agent": "lead", "data": {"content": word + " "}})
    PAUSE
    return {"messages": [AIMessage(text)]}
"""


def lines(said: Said) -> list[str]:
    """The kinds of what was written, with the words of `llm_chunk`."""
    return [event.words or event.kind for event in said.of(ev.GraphWrote)]


async def test_words_of_a_node_that_runs_again_after_an_answer_come_again_and_void_those_before(
    world: World,
) -> None:
    graph(
        world,
        chain(SPEAKS.replace("PAUSE", "interrupt({'type': 'tool_permission', 'tool_name': 'd'})"), "speak"),
    )
    said = await world.say("go")
    assert lines(said) == ["start", "I ", "will ", "delete ", "it. "]
    again = await world.resume(said, YES)
    assert again.finished
    assert lines(again) == ["restart", "start", "I ", "will ", "not ", "delete ", "it. "]
    assert {event.author for event in again.of(ev.GraphWrote)} == {"lead"}


async def test_words_that_a_crash_has_cut_are_void(hasty: World) -> None:
    graph(hasty, chain(SPEAKS.replace("PAUSE", "await asyncio.sleep(0 if runs == 2 else 60)"), "speak"))
    turn = await hasty.send("go")
    for count in (5, 12):  # the second attempt is cut too
        await hasty.until(turn, ev.GraphWrote, count)
        await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished
    assert lines(said)[5:12] == ["restart", "start", "I ", "will ", "not ", "delete ", "it. "]
    assert lines(said)[12:] == ["restart", "start", "I ", "do ", "nothing. "]


async def test_values_are_skipped_while_they_come_in_the_order_of_before(world: World) -> None:
    body = """
    def work(state):
        for step in "abc" if not os.path.exists(TRACE) else "acb":
            get_stream_writer()({"step": step})
        leave("run")
        interrupt("more?")
    """
    graph(world, chain(body, "work"))
    said = await world.say("go")
    (item,) = said.waiting(GraphRequest)
    again = await world.resume(said, Answer("value", value=1))
    assert [event.value["step"] for event in again.of(ev.GraphWrote)] == ["c", "b"], item


@pytest.mark.parametrize("few", [True, False])
async def test_tasks_that_run_at_the_same_time_lose_nothing_that_they_write(hasty: World, few: bool) -> None:
    """All write the same. If there are many, what was written before is shown once more."""
    count = 3 if few else 12
    graph(
        hasty,
        f"""
def node(number):
    async def work(state):
        for _ in range(2):
            get_stream_writer()("tick")
            await asyncio.sleep(0)
        if number and not os.path.exists(TRACE):
            await asyncio.sleep(60)
        return {{"messages": [AIMessage(str(number))]}}
    return work

graph = StateGraph(MessagesState)
for number in range({count}):
    graph.add_node(str(number), node(number))
    graph.add_edge(START, str(number))
graph = graph.compile()
""",
    )
    turn = await hasty.send("go")
    await hasty.until(turn, ev.GraphWrote, 2 * count)
    await hasty.until(turn, ev.ModelFinished)
    hasty.trace.touch()
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished
    assert len(said.of(ev.GraphWrote)) == (2 * count if few else 2 * count + 2 * (count - 1))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("'a text'", "a text"),
        ("[1, None, {'a': (2, 3)}]", [1, None, {"a": [2, 3]}]),
        ("AIMessage('hi', id='m')", {"_not_shown": "it holds no plain data (AIMessage)"}),
        ("'x' * 65_534", "x" * 65_534),
        (
            "'x' * 65_535",
            {"_not_shown": "it has 65537 bytes, and 65536 are the most"},
        ),
        (
            "[0] * 50_001",
            {"_not_shown": "it holds more than 50000 values"},
        ),
        ("['é' * 40_000, 'x' * 30_000]", {"_not_shown": "it has more than 65536 bytes"}),
        ("[b'x' * 70_000]", {"_not_shown": "it has more than 65536 bytes"}),
        ("{'a': type('Mute', (), {'__str__': None})()}", {"_not_shown": "it holds no plain data (Mute)"}),
        ("type('Odd', (dict,), {'__iter__': None})(a=1)", {"_not_shown": "it cannot be read (TypeError)"}),
    ],
    ids=[
        *("text", "list", "object", "largest", "too large", "too many", "long texts", "long bytes"),
        *("object that is no text", "dictionary that cannot be read"),
    ],
)
async def test_what_a_graph_writes_is_plain_data_of_a_bounded_size(
    world: World, value: str, shown: object
) -> None:
    body = f"""
    def speak(state):
        get_stream_writer()({value})
        return {{"messages": [AIMessage("hello")]}}
    """
    graph(world, chain(body, "speak"))
    said = await world.say("go")
    (found,) = wrote(said)
    assert found == shown or (isinstance(shown, str) and str(found).startswith(shown))


async def test_a_graph_that_asks_for_the_permission_of_a_tool_asks_for_an_approval(world: World) -> None:
    graph(world, ASKS)
    said = await world.say("go")
    (item,) = said.waiting(Approval)
    assert (item.name, item.args, item.agent) == ("web_fetch", {"url": "https://example.org"}, "crawl_agent")
    assert item.decisions == ("approve", "reject")
    assert item.note == "Tool 'web_fetch' requires confirm permission"
    with pytest.raises(BadAnswer):
        await world.answer(said.turn, {item.id: Answer("edit", args={})})
    said = await world.resume(said, YES)
    assert (said.finished, said.text) == (True, "fetched")
    assert world.traces() == ["True"]
    assert not said.of(ev.GraphWrote), "the node ran again from its beginning, with another time"


async def test_a_permission_that_is_refused_is_false(world: World) -> None:
    graph(world, ASKS)
    said = await world.resume(await world.say("go"), NO)
    assert (said.finished, said.text, world.traces()) == (True, "not allowed", ["False"])


async def test_a_permission_that_is_always_allowed_is_asked_once(world: World) -> None:
    graph(world, ASKS)
    said = await world.resume(await world.say("go"), Answer("approve", always_allow=True))
    assert said.text == "fetched"
    said = await world.say("again")
    assert (said.finished, said.text) == (True, "fetched")
    assert len(said.of(ev.GraphWrote)) == 1, "the node ran twice in one segment"


async def test_a_permission_without_a_tool_stays_a_request(world: World) -> None:
    graph(world, chain("def ask(state):\n    interrupt({'type': 'tool_permission'})", "ask"))
    (item,) = (await world.say("go")).waiting(GraphRequest)
    assert item.value == {"type": "tool_permission"}


@pytest.mark.parametrize("name", ["fs/read", "..", "", "pay\nall", "e" * 129])
async def test_a_permission_for_what_is_no_name_of_a_tool_is_a_question(world: World, name: str) -> None:
    graph(world, ASKS.replace('"web_fetch"', repr(name)))
    said = await world.say("go")
    (item,) = said.waiting(GraphRequest)
    assert item.value["tool_name"] == name
    said = await world.resume(said, Answer("value", value=True))
    assert (said.text, world.traces()) == ("fetched", ["True"])


async def test_a_review_that_no_middleware_asks_for_is_a_question(world: World) -> None:
    body = """
    def ask(state):
        said = interrupt({"type": "tool_approval", "name": "pay", "args": {}, "tool_call_id": "x"})
        return {"messages": [AIMessage(repr(said))]}
    """
    graph(world, chain(body, "ask"))
    said = await world.say("go")
    assert said.waiting(GraphRequest)
    assert (await world.resume(said, NO)).text == "False"
