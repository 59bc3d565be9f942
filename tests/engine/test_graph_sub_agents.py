"""An operator's own graph as a sub-agent: who says and asks what, and what stops it."""

from __future__ import annotations

import asyncio
import json

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.fold import UNKNOWN
from caesura.core.interrupts import Approval, GraphRequest
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.world import NO, YES, World, checkpoint_count
from tests.graph_files import IMPORTS, chain, marked, reviewed, wants
from tests.openai_server import Call, Say
from tests.waiting import until

MAIL = ("send_mail", {"to": "bob"})
DROP = ("drop_table", {"name": "users"})
BOTH = [Call("clerk", {"task": wants(MAIL)}, "one"), Call("clerk", {"task": wants(DROP)}, "two")]

ASKING = IMPORTS + chain(
    """
    from pathlib import Path

    def leave(line):
        with Path("{trace}").open("a") as file:
            file.write(line + "\\n")

    def first(state):
        leave("first " + state["messages"][-1].text)
        return {"messages": [AIMessage(f"I have {len(state['messages'])} messages.")]}

    def second(state, config: RunnableConfig):
        answer = interrupt({"question": "how many?"})
        refused = [item["message"] for item in config["configurable"]["refusals"]]
        leave(f"second {answer} {refused}")
        return {"messages": [AIMessage(f"heard {answer}")]}
    """,
    "first",
    "second",
)


def put(world: World, source: str | None = None, spec: str = "", lead: str = "") -> None:
    """An agent with the sub-agent `clerk`, which is a graph."""
    text = reviewed(world.trace) if source is None else source.replace("{trace}", str(world.trace))
    (world.agents / "office.py").write_text(text)
    agent_files.put(world.agents, "clerk", f"type: langgraph\ngraph: 'office:graph'\n{spec}\n")
    world.agent(f"tools: []\nsub_agents: [{{ref: clerk, description: Does it.}}]\n{lead}\n")
    assert not world.catalog.faults


def script(world: World, *calls: Call) -> None:
    world.desk.script(Say("on it", calls), Say("thanks"))


def heard(world: World) -> list[str]:
    """What the agent read as the results of its calls."""
    return [text for role, text in world.desk.sent() if role == "tool"]


async def test_a_permission_that_a_sub_agents_graph_asks_for_has_the_sub_agents_name(world: World) -> None:
    """Another sub-agent may have the name that the graph gives to the one who asks."""
    permission = '{"type": "tool_permission", "agent": "tester", "tool": "fetch", "params": {}}'
    put(world, ASKING.replace('{"question": "how many?"}', permission))
    script(world, Call("clerk", {"task": "count"}, "one"))
    said = await world.say("go")
    (asked,) = said.waiting(Approval)
    assert (asked.agent, asked.parent, asked.name) == ("clerk", "one", "fetch")
    assert (await world.resume(said, YES)).finished
    assert heard(world) == ["heard True"]


async def test_a_graph_gets_its_task_and_its_last_message_is_the_result(world: World) -> None:
    put(world, ASKING)
    script(world, Call("clerk", {"task": "count"}, "one"))
    said = await world.say("go")
    (asked,) = said.waiting(GraphRequest)
    assert (asked.agent, asked.parent, asked.value) == ("clerk", "one", {"question": "how many?"})
    assert await world.database.read(checkpoint_count)
    said = await world.resume(said, Answer("value", value=7))
    assert said.finished
    assert heard(world) == ["heard 7"]
    assert world.traces() == ["first count", "second 7 []"]
    row = await world.checked(said.turn)
    spoken = [(m.agent, m.parent, m.content) for m in row.messages or () if m.role == "assistant"]
    assert spoken == [
        ("tester", None, "on it"),
        ("clerk", "one", "I have 1 messages."),
        ("clerk", "one", "heard 7"),
        ("tester", None, "thanks"),
    ]
    assert not await world.database.read(checkpoint_count)


async def test_a_refusal_reaches_only_the_graph_that_asked(world: World) -> None:
    put(world, ASKING)
    script(world, *(Call("clerk", {"task": name}, name) for name in ("one", "two")))
    said = await world.say("go")
    first, second = sorted(said.interrupts, key=lambda item: item.parent or "")
    assert (first.parent, second.parent) == ("one", "two")
    assert not await world.answer(said.turn, {first.id: Answer("reject", message="no time")})
    await lose(world)
    assert await world.answer(said.turn, {second.id: Answer("value", value=2)})
    said = await world.segment(said.turn)
    assert said.finished
    assert heard(world) == ["heard False", "heard 2"]
    assert sorted(world.traces()) == ["first one", "first two", "second 2 []", "second False ['no time']"]
    await world.checked(said.turn)


async def test_reviews_of_several_graphs_with_the_same_ids_are_decided_one_by_one(world: World) -> None:
    put(world)
    script(world, *BOTH)
    said = await world.say("go")
    mail, drop = sorted(said.waiting(Approval), key=lambda item: item.parent or "")
    assert [(item.name, item.agent, item.parent) for item in (mail, drop)] == [
        ("send_mail", "clerk", "one"),
        ("drop_table", "clerk", "two"),
    ]
    assert (mail.tool_call_id, drop.tool_call_id) == ("one:1-1", "two:1-1")
    assert await world.answer(said.turn, {mail.id: Answer("edit", args={"to": "eve"}), drop.id: NO})
    said = await world.segment(said.turn)
    assert said.finished
    assert world.traces() == ["mail eve 1"]
    results = {event.id: event.output for event in said.of(ev.ToolFinished) if event.parent}
    assert results["one:1-1"].endswith("sent to eve")
    assert "User rejected the tool call" in results["two:1-1"]
    assert heard(world)[0].endswith("sent to eve")
    assert {(e.id, e.agent, e.parent) for e in said.of(ev.ToolStarted)} == {("one:1-1", "clerk", "one")}
    await world.checked(said.turn)


async def test_a_graph_goes_on_from_its_checkpoint_after_a_crash(hasty: World) -> None:
    put(hasty, _with_hold(ASKING).replace('interrupt({"question": "how many?"})', "hold()"))
    script(hasty, Call("clerk", {"task": "count"}, "one"))
    turn = await hasty.send("go")
    async with asyncio.timeout(60):
        while "holds" not in hasty.traces():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await lose(hasty)
    hasty.trace.with_name(f"{hasty.trace.name}.go").touch()
    said = await hasty.segment(turn)
    assert said.finished
    traces = hasty.traces()
    assert traces.count("first count") == 1
    assert heard(hasty) == ["heard the end"]
    await hasty.checked(turn)
    assert not await hasty.database.read(checkpoint_count)


def _with_hold(source: str) -> str:
    hold = (
        "def hold():\n"
        "    import time\n"
        '    leave("holds")\n'
        '    while not Path("{trace}.go").exists():\n'
        "        time.sleep(0.01)\n"
        '    return "the end"\n\n\n'
    )
    return source.replace("def first", hold + "def first", 1)


async def test_a_stop_ends_the_graph_too(world: World) -> None:
    put(world, _with_hold(ASKING).replace("def first(state):\n", "def first(state):\n    hold()\n", 1))
    script(world, Call("clerk", {"task": "count"}, "one"))
    turn = await world.send("go")
    await world.until(turn, ev.ToolStarted)
    async with asyncio.timeout(60):
        while "holds" not in world.traces():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    said = await world.close(turn)
    world.trace.with_name(f"{world.trace.name}.go").touch()
    assert said.outcome == ev.Stopped("user")
    await world.checked(turn)
    assert not await world.database.read(checkpoint_count)


async def test_a_graph_that_uses_up_its_steps_or_fails_fails_its_call_alone(world: World) -> None:
    put(world, ASKING, spec="limits: {max_steps: 1}")
    script(world, Call("clerk", {"task": "count"}, "one"))
    said = await world.say("go")
    assert said.finished
    assert heard(world) == ["clerk did not come to an end in 1 steps"]
    put(world, reviewed(world.trace).replace('leave(f"mail', 'raise RuntimeError(f"secret'))
    world.load_anew()
    script(world, Call("clerk", {"task": wants(MAIL)}, "two"))
    said = await world.say("again")
    said = await world.resume(said, YES)
    assert said.finished
    assert "secret" not in str(said.events)
    results = {event.id: (event.output, event.status) for event in said.of(ev.ToolFinished)}
    assert results["two:1-1"] == (UNKNOWN, "unknown")
    assert results["two"][1] == "error"
    await world.checked(said.turn)


async def test_the_steps_of_the_turn_hold_for_its_graphs(world: World) -> None:
    put(world, ASKING, lead="limits: {max_steps: 2}")
    script(world, Call("clerk", {"task": "count"}, "one"))
    said = await world.say("go")
    said = await world.resume(said, Answer("value", value=1))
    assert said.failure.code == "steps"
    assert not await world.database.read(checkpoint_count)


async def test_a_retry_tells_the_graph_what_it_had_done(world: World) -> None:
    put(world, ASKING)
    script(world, Call("clerk", {"task": "count"}, "one"))
    said = await world.say("go")
    await world.close(said.turn)
    again = await world.retry(said.turn)
    assert world.traces() == ["first count", "first I have 1 messages."]
    said = await world.resume(again, Answer("value", value=3))
    assert said.finished
    assert heard(world) == ["heard 3"]
    await world.checked(said.turn)


async def test_a_marked_tool_of_a_graph_keeps_its_journal_under_the_call(hasty: World) -> None:
    put(hasty, marked(hasty.trace, "agent"))
    charge = wants(("charge", {"text": "x"}))
    script(hasty, Call("clerk", {"task": charge}, "one"), Call("clerk", {"task": charge}, "two"))
    turn = await hasty.send("go")
    await until(lambda: len(hasty.traces()) == 2)
    await lose(hasty)
    said = await hasty.segment(turn)
    asked = said.waiting(Approval)
    assert sorted((item.unknown, item.name, item.agent, item.parent) for item in asked) == [
        (True, "charge", "clerk", "one"),
        (True, "charge", "clerk", "two"),
    ]
    assert len(hasty.traces()) == 2, "neither ran again by itself"
    hasty.agents.joinpath("go").touch()
    said = await hasty.resume(said, YES)
    assert said.finished, said.outcome
    assert sorted(hasty.traces()[:2]) == sorted(hasty.traces()[2:]), "each has its key again"
    assert len(set(hasty.traces())) == 2, "each call has a key of its own"
    await hasty.checked(turn)


async def test_a_graph_and_its_marked_tools_know_for_whom_they_work(world: World) -> None:
    put(world, marked(world.trace, "agent"))
    script(world, Call("clerk", {"task": wants(("look", {"text": "x", "size": "large"}))}, "one"))
    said = await world.say("go")
    assert said.finished, said.outcome
    (told,) = heard(world)
    assert json.loads(told)["who"] == ["alice", world.conversation, said.turn.id, "clerk"]


async def test_who_tries_again_is_asked_about_a_call_of_a_sub_agent_that_was_under_way(world: World) -> None:
    put(world, marked(world.trace))
    call = {"id": "c1", "name": "acharge", "args": {"text": "x"}}
    task = json.dumps({"replies": [[call], [{**call, "id": "c2"}]]})
    script(world, Call("clerk", {"task": task}, "one"))
    turn = await world.send("go")
    await until(lambda: len(world.traces()) == 1)
    world.engine.supervisor.stop(turn.num, "user")
    assert isinstance((await world.segment(turn)).outcome, ev.Stopped)
    world.agents.joinpath("go").touch()
    said = await world.retry(turn)
    (asked,) = said.waiting(Approval)
    assert (asked.unknown, asked.name, asked.parent) == (True, "acharge", "one")
    assert (await world.resume(said, YES)).finished
    first, second = world.traces()
    assert first == second, "the key is the same"
