"""Functions and tools marked with `caesura.tool` inside an operator's own graph keep their journal."""

from __future__ import annotations

import json

import pytest

import caesura
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval, Questions
from caesura.core.turns import Turn
from caesura.store import life
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.world import NO, YES, Said, World
from tests.graph_files import IMPORTS, chain, marked, wants
from tests.waiting import until


def graph(world: World, how: str = "agent") -> None:
    (world.agents / "marked.py").write_text(marked(world.trace, how))
    agent_files.put(world.agents, "tester", "type: langgraph\ngraph: 'marked:graph'\n")
    assert not world.catalog.faults, world.catalog.faults


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ("agent", "look"),
        ("agent", "atold"),
        ("node", "alook"),
        ("node", "told"),
        ("direct", "look"),
        ("bare", "alook"),
        ("plain", "look"),
        ("nested", "told"),
    ],
)
async def test_a_marked_tool_knows_its_context_and_its_call_is_told_once(
    world: World, how: str, name: str
) -> None:
    graph(world, how)
    said = await world.say(wants((name, {"text": "x", "size": "large"})))
    assert said.finished, said.outcome
    # A call without the id of a model's call is told as one of its own.
    (shown, output, status), *others = said.results()
    assert (shown, status, len(others)) == (name, "ok", how == "bare")
    found = json.loads(output)
    assert found["text"] == "x large"
    assert found["who"] in (None, ["alice", world.conversation, said.turn.id, "tester"])
    assert len(said.of(ev.ToolStarted)) == 1 + len(others)
    row = await world.checked(said.turn)
    assert (row.messages or [])[-1].content == output
    assert len(world.traces()) == 1


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ("agent", "charge"),
        ("nested", "amail"),
        ("node", "acharge"),
        ("direct", "mail"),
        ("bare", "charge"),
        ("plain", "mail"),
    ],
)
async def test_a_call_that_was_cut_off_is_put_before_the_person_and_one_that_ended_is_not_made_again(
    hasty: World, how: str, name: str
) -> None:
    graph(hasty, how)
    turn = await hasty.send(wants((name, {"text": "x"})))
    said = await _after_loss(hasty, turn)
    (asked,) = said.waiting(Approval)
    assert (asked.unknown, asked.name, asked.args) == (True, name, {"text": "x"})
    assert len(hasty.traces()) == 1, "it did not run again by itself"
    hasty.agents.joinpath("go").touch()
    said = await hasty.resume(said, YES)
    assert said.finished, said.outcome
    assert said.results()[-1][2] == "ok"
    first, second = hasty.traces()
    assert first == second, "the key is the same"
    await hasty.checked(turn)


async def _after_loss(world: World, turn: Turn) -> Said:
    await until(lambda: bool(world.traces()))
    await lose(world)
    return await world.segment(turn)


async def test_a_repeatable_call_simply_runs_again(hasty: World) -> None:
    graph(hasty)
    source = hasty.agents / "marked.py"
    source.write_text(
        source.read_text().replace(
            'permission="auto")\nasync def', 'permission="auto", repeatable=True)\nasync def'
        )
    )
    hasty.load_anew()
    turn = await hasty.send(wants(("acharge", {"text": "x"})))
    await until(lambda: bool(hasty.traces()))
    hasty.agents.joinpath("go").touch()
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished, said.outcome
    first, second = hasty.traces()
    assert first == second


@pytest.mark.parametrize("how", ["agent", "node", "direct", "nested"])
async def test_a_marked_tool_asks_before_it_runs_and_in_its_middle(world: World, how: str) -> None:
    graph(world, how)
    calls: tuple[tuple[str, dict[str, str]], ...] = (
        ("pay", {"text": "a"}),
        ("refund", {}),
        ("look", {"text": "b", "size": "large"}),
    )
    said = await world.say(wants(*calls))
    kinds = [type(item) for item in said.interrupts]
    answers = {Approval: YES, Questions: Answer("answers", answers=("12",))}
    rounds = 0
    while not said.finished:
        rounds += 1
        given = {item.id: answers[type(item)] for item in said.interrupts}
        assert await world.answer(said.turn, given)
        said = await world.segment(said.turn)
    assert rounds == (2 if how == "direct" else 1), kinds
    assert said.text.startswith('paid a | refunded 12 | {"text":"b large"')
    traces = world.traces()
    assert traces.count("pay a") == traces.count("refund 12") == 1
    assert len(traces) == 5, "only what asks runs again from its top"
    await world.checked(said.turn)


async def test_a_refusal_and_an_error_are_results_that_the_model_reads(world: World) -> None:
    graph(world)
    said = await world.resume(await world.say(wants(("pay", {"text": "a"}), ("fail", {"text": "b"}))), NO)
    assert said.finished, said.outcome
    assert "no b" in said.text
    assert world.traces() == []
    found = {
        event.name: event.status
        for event in await world.events(said.turn)
        if isinstance(event, ev.ToolFinished)
    }
    assert found == {"pay": "refused", "fail": "error"}


async def test_edited_arguments_are_those_that_are_used(world: World) -> None:
    graph(world)
    asked = await world.say(wants(("pay", {"text": "a"})))
    said = await world.resume(asked, Answer("edit", args={"text": "less"}))
    assert said.text == "paid less"
    assert world.traces() == ["pay less"]


async def test_what_langchain_hands_to_a_marked_tool_arrives(world: World) -> None:
    graph(world)
    assert (await world.say(wants(("seen", {})))).text == "2 messages"
    assert (await world.say(wants(("count", {"by": 2})))).text == "42"


async def test_a_stop_ends_the_calls_of_a_graph(world: World) -> None:
    graph(world)
    turn = await world.send(wants(("acharge", {"text": "a"}), ("charge", {"text": "b"})))
    await until(lambda: len(world.traces()) == 2)
    world.engine.supervisor.stop(turn.num, "user")
    said = await world.segment(turn)
    assert isinstance(said.outcome, ev.Stopped)
    await world.checked(turn)


@pytest.mark.parametrize("how", ["direct", "bare"])
async def test_a_node_that_langgraph_retries_does_not_make_its_calls_again(world: World, how: str) -> None:
    graph(world, how)
    source = world.agents / "marked.py"
    text = source.read_text().replace('add_node("tools", ', 'add_node("tools", retry_policy=RETRY, action=')
    text = text.replace(
        '    return {"messages": results}',
        """    if not (FOLDER / "failed").exists():
        (FOLDER / "failed").touch()
        raise RuntimeError("the first time")
    return {"messages": results}

from langgraph.types import RetryPolicy
RETRY = RetryPolicy(retry_on=RuntimeError, initial_interval=0.01)
""",
    )
    source.write_text(text)
    call = ("look", {"text": "b", "size": "large"})
    said = await world.say(wants(call, call))
    assert said.finished, said.outcome
    assert len(world.traces()) == 2


def test_a_marked_function_can_be_called_as_before() -> None:
    @caesura.tool
    def double(number: int, ctx: caesura.Context | None = None) -> int:
        """Double it."""
        return number * 2 if ctx is None else len(ctx.user_id)

    assert (double(2), double(number=3), double(0, caesura.Context(user_id="alice"))) == (4, 6, 5)
    assert (double.__name__, double.__doc__) == ("double", "Double it.")


async def test_a_call_that_the_middleware_had_approved_is_not_asked_about_again(world: World) -> None:
    graph(world, "reviewed")
    asked = await world.say(wants(("pay", {"text": "a"})))
    (item,) = asked.waiting(Approval)
    assert item.name == "pay"
    said = await world.resume(asked, Answer("edit", args={"text": "less"}))
    assert said.finished, said.outcome
    assert world.traces() == ["pay less"]
    await world.checked(said.turn)


async def _lost_after_review(world: World) -> tuple[Turn, Said]:
    """A reviewed call that was approved and then cut off, and what the person is asked about it."""
    graph(world, "reviewed")
    asked = await world.say(wants(("acharge", {"text": "x"})))
    assert await world.answer(asked.turn, {asked.waiting(Approval)[0].id: YES})
    said = await _after_loss(world, asked.turn)
    (item,) = said.waiting(Approval)
    assert item.unknown
    return asked.turn, said


@pytest.mark.parametrize(
    ("answer", "status", "keys"),
    [
        (NO, "unknown", 1),
        (Answer("respond", message="done"), "answered", 1),
        (Answer("edit", args={"text": "less"}), "ok", 2),
    ],
)
async def test_who_reviewed_a_call_is_asked_once_what_became_of_it(
    hasty: World, answer: Answer, status: str, keys: int
) -> None:
    turn, said = await _lost_after_review(hasty)
    hasty.agents.joinpath("go").touch()
    said = await hasty.resume(said, answer)
    assert said.finished, said.outcome
    assert said.results()[-1][2] == status
    assert len(hasty.traces()) == keys
    await hasty.checked(turn)


async def test_each_loss_of_a_reviewed_call_is_asked_about(hasty: World) -> None:
    turn, said = await _lost_after_review(hasty)
    assert await hasty.answer(turn, {said.waiting(Approval)[0].id: YES})
    await until(lambda: len(hasty.traces()) == 2)
    said = await _after_loss(hasty, turn)
    assert said.waiting(Approval)[0].unknown
    assert len(hasty.traces()) == 2


async def test_a_decision_is_not_about_another_call_with_the_same_id(world: World) -> None:
    graph(world, "reviewed")
    reply = (
        {"id": "c1", "name": "pay", "args": {"text": "5"}},
        {"id": "c1", "name": "bill", "args": {"text": "9"}},
    )
    said = await world.say(json.dumps({"replies": [reply[:1], reply[1:]]}))
    (item,) = said.waiting(Approval)
    assert (item.name, item.args) == ("pay", {"text": "5"})
    said = await world.resume(said, YES)
    (item,) = said.waiting(Approval)
    assert (item.name, item.args) == ("bill", {"text": "9"})
    assert world.traces() == ["pay 5"]
    said = await world.resume(said, NO)
    assert said.finished, said.outcome
    assert world.traces() == ["pay 5"]


async def test_two_calls_of_one_reply_with_the_same_id_are_each_asked_about(world: World) -> None:
    graph(world, "node")
    calls = [{"id": "c1", "name": "pay", "args": {"text": text}} for text in ("5", "9000")]
    said = await world.say(json.dumps({"replies": [calls]}))
    asked = {item.args["text"]: item.id for item in said.waiting(Approval)}
    assert set(asked) == {"5", "9000"}
    assert await world.answer(said.turn, {asked["5"]: YES, asked["9000"]: NO})
    said = await world.segment(said.turn)
    assert said.finished, said.outcome
    assert world.traces() == ["pay 5"]


async def test_many_calls_in_one_reply_are_refused_soon(world: World) -> None:
    graph(world, "reviewed")
    calls = [
        {"id": f"c{n}", "name": "look" if n < 1000 else "pay", "args": {"text": "x"}} for n in range(2000)
    ]
    said = await world.say(json.dumps({"replies": [calls]}))
    assert "1000 decisions at once" in str(said.outcome)


@pytest.mark.parametrize("how", ["agent", "nested"])
async def test_many_calls_that_must_be_approved_end_with_the_first_one_too_many(
    world: World, how: str
) -> None:
    graph(world, how)
    said = await world.say(wants(*(("pay", {"text": str(number)}) for number in range(500))))
    assert isinstance(said.outcome, ev.Failed)
    assert said.outcome.code == "questions"
    asked = int(said.outcome.message.split("asked for ")[1].split()[0])
    assert 100 < asked < 500  # some calls may have been under way
    assert world.traces() == []
    assert (await world.say(wants(("look", {"text": "x"})))).finished


async def test_a_command_is_no_result_of_a_marked_tool(world: World) -> None:
    graph(world)
    said = await world.say(wants(("command", {}), ("command_too", {})))
    assert said.finished, said.outcome
    assert [(status, "Command" in text) for _, text, status in said.results()] == [("error", True)] * 2


async def stopped(world: World, message: str, calls: int) -> Turn:
    """A turn that was stopped when so many calls were under way."""
    turn = await world.send(message)
    await until(lambda: len(world.traces()) == calls)
    world.engine.supervisor.stop(turn.num, "user")
    assert isinstance((await world.segment(turn)).outcome, ev.Stopped)
    return turn


@pytest.mark.parametrize(
    ("how", "name"),
    [("agent", "acharge"), ("node", "charge"), ("bare", "amail"), ("nested", "acharge"), ("plain", "mail")],
)
@pytest.mark.parametrize("answer", [YES, NO])
async def test_who_tries_again_is_asked_about_a_call_that_was_under_way(
    world: World, how: str, name: str, answer: Answer
) -> None:
    graph(world, how)
    # The second attempt sees the calls of the first: this message has them both times.
    wanted = {"id": "c1", "name": name, "args": {"text": "x"}}
    turn = await stopped(world, json.dumps({"replies": [[wanted], [{**wanted, "id": "c2"}]]}), 1)
    before = world.traces()
    world.agents.joinpath("go").touch()
    again = await world.retry(turn)
    (asked,) = again.waiting(Approval)
    assert (asked.unknown, asked.name, asked.args) == (True, name, {"text": "x"})
    assert world.traces() == before, "nothing was made again unasked"
    said = await world.resume(again, answer)
    assert world.traces() == before * (2 if answer is YES else 1), "with the same key"
    assert said.finished or how == "bare", said.outcome
    await world.checked(turn)


#: Two equal calls, then a node that fails once and waits once, and a third equal call.
ROW = """
import asyncio
from pathlib import Path
import caesura

TRACE = Path(TRACED)

def leave(line):
    with TRACE.open("a") as file:
        file.write(line + "\\n")

@caesura.tool(permission="auto")
@tool
def jot(text: str) -> str:
    "Jot it down."
    leave("jot")
    if text == "bad" and not TRACE.with_name("fine").exists():
        raise caesura.ToolError("bad")
    return text

async def say(text):
    return {"messages": [AIMessage(await jot.ainvoke({"text": text}))]}

async def one(state):
    return await say("a")

async def two(state):
    return await say("a")

async def three(state):
    if not TRACE.with_name("go").exists():
        raise RuntimeError("as asked")
    leave("three")
    while not TRACE.with_name("on").exists():
        await asyncio.sleep(0.01)

async def four(state):
    return await say("a")

async def five(state):
    return await say("bad")
"""


async def test_a_graph_that_is_tried_again_repeats_no_call_that_has_ended(hasty: World) -> None:
    source = IMPORTS + ROW.replace("TRACED", repr(str(hasty.trace)))
    (hasty.agents / "marked.py").write_text(chain(source, "one", "two", "three", "four", "five"))
    agent_files.put(hasty.agents, "tester", "type: langgraph\ngraph: 'marked:graph'\n")
    failed = await hasty.say("go")
    assert failed.failure.code == "internal"
    assert hasty.traces() == ["jot", "jot"]
    hasty.trace.with_name("go").touch()
    await hasty.database.write(life.reopen, failed.turn.id)
    hasty.engine.supervisor.nudge()
    await until(lambda: "three" in hasty.traces())
    assert hasty.traces() == ["jot", "jot", "three"]
    await lose(hasty)
    hasty.trace.with_name("on").touch()
    assert (await hasty.segment(failed.turn)).failure.code == "internal"
    assert hasty.traces() == ["jot", "jot", "three", "three", "jot", "jot"], "the third was not made before"
    hasty.trace.with_name("fine").touch()
    said = await hasty.retry(failed.turn)
    assert said.finished, said.outcome
    assert hasty.traces()[-2:] == ["three", "jot"], "what has failed is made again"
    await hasty.checked(failed.turn)


ASKING = """
import caesura

@caesura.tool
@tool
def pay(text: str) -> str:
    "Pay."
    return "paid " + text

def think(state):
    return {"messages": [AIMessage("thought")]}

async def act(state):
    return {"messages": [AIMessage(await pay.ainvoke({"text": "x"}))]}

"""


@pytest.mark.parametrize("checkpointers", [["None"], ["True"], ["False"], ["None", "False"]])
async def test_words_of_a_subgraph_that_asks_are_said_once(world: World, checkpointers: list[str]) -> None:
    """Without a checkpointer all of its nodes run again, and those of the graphs in it."""
    source, nodes = IMPORTS + ASKING, ["think", "act"]
    for checkpointer in checkpointers:
        inner = chain(source, *nodes)
        end = inner.rindex("compile()")
        nodes = [f"inner_{checkpointer}"]
        source = f"{inner[:end]}compile(checkpointer={checkpointer})\n{nodes[0]} = graph\n"
    (world.agents / "marked.py").write_text(chain(source, *nodes))
    agent_files.put(world.agents, "tester", "type: langgraph\ngraph: 'marked:graph'\n")
    said = await world.resume(await world.say("go"), YES)
    assert said.finished, said.outcome
    row = await world.checked(said.turn)
    assert [item.content for item in row.messages or () if item.role == "assistant"] == ["thought", "paid x"]
