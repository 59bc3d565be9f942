"""Tool calls of a graph are known by the model's id, by their message and by their place: each is made once,
and an equal one that comes later is made too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.test_graph_tools import graph
from tests.engine.world import NO, YES, Said, World
from tests.graph_files import marked
from tests.waiting import until

LOOK = {"id": "c1", "name": "look", "args": {"text": "x", "size": "large"}}
PAY = {"id": "c1", "name": "pay", "args": {"text": "x"}}
CHARGE = {"id": "c1", "name": "charge", "args": {"text": "x"}}

#: A node that calls the model and the tool, in a loop of its own; and two agents at once in subgraphs.
OTHERS = {
    "one-node": """
async def work(state):
    said = list(state["messages"])
    while True:
        said.append(await Scripted().ainvoke(said))
        if not said[-1].tool_calls:
            return {"messages": said[len(state["messages"]):]}
        for item in said[-1].tool_calls:
            said.append(await BY_NAME[item["name"]].ainvoke({**item, "type": "tool_call"}))

graph = StateGraph(MessagesState)
graph.add_node("work", work)
graph.add_edge(START, "work")
graph = graph.compile()
""",
    "one-node-each": """
async def work(state):
    reply = await Scripted().ainvoke(state["messages"])
    calls = [BY_NAME[item["name"]].ainvoke({**item, "type": "tool_call"}) for item in reply.tool_calls]
    return {"messages": [reply, *(await asyncio.gather(*calls))]}

def further(state):
    return "work" if state["messages"][-1].type == "tool" else "__end__"

graph = StateGraph(MessagesState)
graph.add_node("work", work)
graph.add_edge(START, "work")
graph.add_conditional_edges("work", further)
graph = graph.compile()
""",
    "in-a-function": """
agent = create_agent(Scripted(), tools=TOOLS)

async def work(state):
    return {"messages": (await agent.ainvoke(state))["messages"]}

graph = StateGraph(MessagesState)
graph.add_node("work", work)
graph.add_edge(START, "work")
graph = graph.compile()
""",
    "at-once": """
agent = create_agent(Scripted(), tools=TOOLS)
graph = StateGraph(MessagesState)
graph.add_node("left", agent)
graph.add_node("right", agent)
graph.add_edge(START, "left")
graph.add_edge(START, "right")
graph = graph.compile()
""",
}


def other(world: World, how: str) -> None:
    (world.agents / "marked.py").write_text(marked(world.trace) + OTHERS[how])
    agent_files.put(world.agents, "tester", "type: langgraph\ngraph: 'marked:graph'\n")
    assert not world.catalog.faults, world.catalog.faults


def prepare(world: World, how: str) -> None:
    if how in OTHERS:
        other(world, how)
    else:
        graph(world, how)


def replies(*calls: dict[str, Any]) -> str:
    """The message to which the model replies with each of these calls in a reply of its own."""
    return json.dumps({"replies": [[call] for call in calls]})


async def finished(world: World, said: Said, answer: Answer = YES) -> Said:
    """The end of the turn, with this answer to all that is asked."""
    for _ in range(10):
        if said.finished:
            return said
        asked = said.waiting(Approval)
        assert asked, said.outcome
        assert await world.answer(said.turn, {item.id: answer for item in asked})
        said = await world.segment(said.turn)
    raise AssertionError("it asks again and again")


async def ids(world: World, said: Said) -> tuple[list[str], list[str]]:
    """The ids of the calls in the turn's messages, and those of its results."""
    messages = (await world.checked(said.turn)).messages or []
    return (
        [call["id"] for message in messages for call in message.tool_calls],
        [message.tool_call_id or "" for message in messages if message.role == "tool"],
    )


ALL = ["agent", "node", "direct", "plain", "nested", "one-node", "one-node-each", "in-a-function"]


@pytest.mark.parametrize("how", ALL)
async def test_an_equal_call_with_the_same_id_is_made_too(world: World, how: str) -> None:
    prepare(world, how)
    said = await world.say(replies(LOOK, LOOK, LOOK))
    assert said.finished, said.outcome
    assert len(set(world.traces())) == 3, "each call has a key of its own"
    assert await ids(world, said) == (["c1", "c1-2", "c1-3"],) * 2


@pytest.mark.parametrize("how", [*ALL, "reviewed"])
async def test_each_of_equal_calls_with_the_same_id_is_asked_about_and_made_once(
    world: World, how: str
) -> None:
    prepare(world, how)
    said = await world.say(replies(PAY, PAY))
    assert len(said.waiting(Approval)) == 1
    assert world.traces() == []
    said = await world.resume(said, YES)
    assert len(said.waiting(Approval)) == 1
    assert world.traces() == ["pay x"]
    said = await world.resume(said, YES)
    assert said.finished, said.outcome
    assert world.traces() == ["pay x", "pay x"]
    assert await ids(world, said) == (["c1", "c1-2"],) * 2


@pytest.mark.parametrize("how", ALL)
async def test_a_refusal_is_about_one_of_equal_calls(world: World, how: str) -> None:
    prepare(world, how)
    said = await world.resume(await world.say(replies(PAY, PAY)), NO)
    assert len(said.waiting(Approval)) == 1
    said = await world.resume(said, YES)
    assert said.finished, said.outcome
    assert world.traces() == ["pay x"]


@pytest.mark.parametrize("how", ALL)
async def test_of_equal_calls_only_the_one_that_was_cut_off_is_asked_about(hasty: World, how: str) -> None:
    prepare(hasty, how)
    source = hasty.agents / "marked.py"
    text = source.read_text()
    # The first call ends at once, the second one waits for the file.
    text = text.replace('(FOLDER / "go").exists()', '(FOLDER / "go").exists() and second()')
    second = f"def second():\n    return len(Path({str(hasty.trace)!r}).read_text().split()) > 1\n"
    source.write_text(text.replace("FOLDER = ", f"{second}\n\nFOLDER = "))
    turn = await hasty.send(replies(CHARGE, CHARGE))
    await until(lambda: len(hasty.traces()) == 2)
    first, second = hasty.traces()
    await lose(hasty)
    said = await hasty.segment(turn)
    (asked,) = said.waiting(Approval)
    assert asked.unknown
    assert len(hasty.traces()) == 2, "nothing ran again by itself"
    (hasty.agents / "go").touch()
    said = await hasty.resume(said, YES)
    assert said.finished, said.outcome
    assert hasty.traces() == [first, second, second]
    assert first != second
    assert await ids(hasty, said) == (["c1", "c1-2"],) * 2


async def test_agents_that_work_at_once_make_their_calls_with_the_same_id(world: World) -> None:
    prepare(world, "at-once")
    said = await world.say(replies(LOOK, LOOK))
    assert said.finished, said.outcome
    assert len(set(world.traces())) == 4
    told, ended = await ids(world, said)
    assert sorted(told) == sorted(ended) == ["c1", "c1-2", "c1-3", "c1-4"]


async def test_calls_of_agents_that_work_at_once_are_asked_about_apart(world: World) -> None:
    prepare(world, "at-once")
    said = await world.say(replies(PAY))
    assert len(said.waiting(Approval)) == 2
    one, other = said.waiting(Approval)
    assert await world.answer(said.turn, {one.id: YES, other.id: NO})
    said = await world.segment(said.turn)
    assert said.finished, said.outcome
    assert world.traces() == ["pay x"]


async def test_equal_calls_of_one_reply_with_the_same_id_are_each_made(world: World) -> None:
    graph(world, "node")
    said = await world.say(json.dumps({"replies": [[LOOK, LOOK]]}))
    assert said.finished, said.outcome
    assert len(set(world.traces())) == 2
    assert await ids(world, said) == (["c1", "c1-2"],) * 2


@pytest.mark.parametrize("refused", [0, 1])
async def test_a_refusal_that_middleware_takes_for_both_calls_with_an_id_is_told_of_its_own(
    world: World, refused: int
) -> None:
    graph(world, "reviewed")
    said = await world.say(json.dumps({"replies": [[PAY, {**PAY, "args": {"text": "y"}}]]}))
    both = said.waiting(Approval)
    assert await world.answer(
        said.turn, {item.id: NO if place == refused else YES for place, item in enumerate(both)}
    )
    said = await world.segment(said.turn)
    assert said.finished, said.outcome
    assert world.traces() == [], "LangChain's middleware makes none of them"
    ended: dict[str | None, str] = {item.id: item.status for item in said.of(ev.ToolFinished)}
    assert ended[both[refused].tool_call_id] == "refused"
    assert "refused" not in [status for id, status in ended.items() if id != both[refused].tool_call_id]


async def test_a_turn_that_is_tried_again_makes_its_calls_again(world: World) -> None:
    prepare(world, "one-node-each")
    source = world.agents / "marked.py"
    text = source.read_text()
    failing = """
    if len(state["messages"]) > 2 and not (FOLDER / "failed").exists():
        (FOLDER / "failed").touch()
        raise RuntimeError("the first time")
    reply = """
    source.write_text(text.replace("\n    reply = ", failing))
    world.load_anew()
    said = await world.say(replies(LOOK, LOOK))
    assert isinstance(said.outcome, ev.Failed)
    said = await world.retry(said.turn)
    assert said.finished, said.outcome
    assert len(set(world.traces())) == 2


RETRIED = """
from langgraph.types import RetryPolicy

async def inner(state):
    for _ in range(2):
        await BY_NAME["look"].ainvoke({"text": "x", "size": "large"})
    return {"messages": [("ai", "done")]}

within = StateGraph(MessagesState)
within.add_node("inner", inner)
within.add_edge(START, "inner")
within = within.compile()
middle = StateGraph(MessagesState)
middle.add_node("within", within)
middle.add_node("again", within)
middle.add_edge(START, "within")
middle.add_edge("within", "again")
middle = middle.compile()

async def work(state):
    await middle.ainvoke(state)
    await within.ainvoke(state)
    if not (FOLDER / "failed").exists():
        (FOLDER / "failed").touch()
        raise RuntimeError("the first time")
    return {"messages": [("ai", "ready")]}

graph = StateGraph(MessagesState)
graph.add_node("work", work, retry_policy=RetryPolicy(retry_on=RuntimeError, initial_interval=0.01))
graph.add_edge(START, "work")
graph = graph.compile()
"""


async def test_calls_without_ids_in_subgraphs_are_not_made_again_when_langgraph_retries(world: World) -> None:
    (world.agents / "marked.py").write_text(marked(world.trace) + RETRIED)
    agent_files.put(world.agents, "tester", "type: langgraph\ngraph: 'marked:graph'\n")
    said = await world.say("go")
    assert said.finished, said.outcome
    assert len(world.traces()) == len(set(world.traces())) == 6
