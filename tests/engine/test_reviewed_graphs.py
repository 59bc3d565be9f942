"""An operator's own graph with LangChain's `HumanInTheLoopMiddleware`: its tool calls are approvals."""

from __future__ import annotations

import json

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer
from caesura.core.fold import NOT_DONE
from caesura.core.interrupts import Approval
from caesura.store import grants
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.world import NO, YES, World, roles
from tests.graph_files import reviewed, wants

MAIL = ("send_mail", {"to": "bob"})
DROP = ("drop_table", {"name": "users"})
ASK = ("ask_boss", {"question": "when?"})
MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])


def put(world: World, mode: str = "batched", spec: str = "") -> None:
    (world.agents / "reviewed.py").write_text(reviewed(world.trace, mode))
    agent_files.put(world.agents, "tester", f"type: langgraph\ngraph: 'reviewed:graph'\n{spec}\n")
    assert not world.catalog.faults


@MODES
async def test_each_call_that_must_be_reviewed_is_an_approval_with_its_decisions(
    world: World, mode: str
) -> None:
    put(world, mode)
    said = await world.say(wants(MAIL, DROP, ASK))
    mail, drop, ask = said.waiting(Approval)
    assert [(item.name, item.args) for item in (mail, drop, ask)] == [MAIL, DROP, ASK]
    assert [item.tool_call_id for item in (mail, drop, ask)] == ["1-1", "1-2", "1-3"]
    assert mail.decisions == ("approve", "edit", "reject", "respond")
    assert drop.decisions == ("approve", "reject")
    assert ask.decisions == ("respond",)
    assert (mail.label, mail.description) == ("Use a tool", 'Using tool: send_mail {"to":"bob"}')
    assert drop.description == 'Look twice — Using tool: drop_table {"name":"users"}'
    assert drop.note == "Look twice"
    assert world.traces() == []


async def test_what_the_operator_says_about_a_call_is_bounded(world: World) -> None:
    put(world)
    file = world.agents / "reviewed.py"
    file.write_text(file.read_text().replace('"Look twice"', '"Look twice " + "at it " * 40_000'))
    world.load_anew()
    said = await world.say(wants(DROP))
    (drop,) = said.waiting(Approval)
    assert drop.note.startswith("(240,010 characters; only the first 2,000 are shown here) Look twice at it")
    assert drop.note.endswith("…")
    assert drop.description == f'{drop.note} — Using tool: drop_table {{"name":"users"}}'
    assert len(drop.note) < 2100


async def test_too_many_calls_are_refused_before_each_is_prepared_for_review(world: World) -> None:
    put(world, "per_call")
    said = await world.say(wants(*(("send_mail", {"to": str(number)}) for number in range(400))))
    assert said.failure.code == "questions"
    assert "400 decisions at once" in said.failure.message, "LangChain needs milliseconds for each"
    assert world.traces() == []


@pytest.mark.parametrize("first", ["edit", "reject"])
async def test_equal_calls_with_the_same_id_are_decided_one_by_one(world: World, first: str) -> None:
    put(world, "per_call")
    call = {"id": "c1", "name": "send_mail", "args": {"to": "bob"}}
    said = await world.say(json.dumps({"replies": [[call, call]]}))
    both = said.waiting(Approval)
    assert [item.tool_call_id for item in both] == ["c1", "c1-2"]
    edit = Answer("edit", args={"to": "eve"})
    answers = (edit, NO) if first == "edit" else (NO, edit)
    assert await world.answer(
        said.turn, {item.id: answer for item, answer in zip(both, answers, strict=True)}
    )
    said = await world.segment(said.turn)
    assert said.finished, said.outcome
    assert world.traces() == ["mail eve 1"]
    ended = {item.id: item.status for item in said.of(ev.ToolFinished)}
    made, refused = ("c1", "c1-2") if first == "edit" else ("c1-2", "c1")
    assert ended == {made: "ok", refused: "refused"}


@MODES
async def test_different_answers_reach_the_calls_that_they_are_about(world: World, mode: str) -> None:
    put(world, mode)
    said = await world.say(wants(MAIL, MAIL, DROP, ASK, MAIL))
    answers = (
        *(Answer("edit", args={"to": "eve", "copies": 2}), YES, Answer("reject", message="not today")),
        *(Answer("respond", message="tomorrow"), NO),
    )
    said = await world.resume(said, *answers)
    assert said.finished
    assert sorted(world.traces()) == ["mail bob 1", "mail eve 2"]
    results = {event.id: (event.output, event.status) for event in said.of(ev.ToolFinished)}
    assert results["1-1"][0].endswith("sent to eve")
    assert results["1-2"] == ("sent to bob", "ok")
    assert "with reason: not today" in results["1-3"][0]
    assert results["1-3"][1] == results["1-5"][1] == "refused"
    assert results["1-4"] == ("tomorrow", "answered")
    assert "User rejected the tool call for `send_mail`" in results["1-5"][0]
    assert {event.id: event.args for event in said.of(ev.ToolStarted)} == {
        "1-1": {"to": "eve", "copies": 2},
        "1-2": {"to": "bob"},
    }
    row = await world.checked(said.turn)
    assert roles(row.messages) == ["assistant", *["tool"] * 5, "assistant"]
    assert (await world.say("and now?")).finished


async def test_the_graph_goes_on_only_when_all_calls_are_decided(world: World) -> None:
    put(world)
    said = await world.say(wants(MAIL, DROP))
    mail, drop = said.interrupts
    assert not await world.answer(said.turn, {drop.id: YES})
    assert world.traces() == []
    assert await world.answer(said.turn, {mail.id: NO})
    assert (await world.segment(said.turn)).finished
    assert world.traces() == ["drop users"]


@MODES
async def test_a_decision_that_the_graph_does_not_allow_is_refused(world: World, mode: str) -> None:
    put(world, mode)
    said = await world.say(wants(DROP))
    (drop,) = said.interrupts
    told = "^'respond' does not fit: this interrupt takes 'approve', 'reject'$"
    with pytest.raises(BadAnswer, match=told):
        await world.answer(said.turn, {drop.id: Answer("respond", message="no")})
    assert (await world.resume(said, YES)).text == "dropped users"


async def test_edited_arguments_that_do_not_fit_the_tool_are_refused(world: World) -> None:
    put(world, "per_call")
    said = await world.say(wants(MAIL))
    (mail,) = said.interrupts
    wrong = Answer("edit", args={"copies": "many"})
    with pytest.raises(BadAnswer, match="to: is required; copies: must be integer, not string"):
        await world.answer(said.turn, {mail.id: wrong})
    said = await world.resume(said, Answer("edit", args={"to": "eve"}))
    assert said.finished
    assert world.traces() == ["mail eve 1"]


async def test_a_tool_of_a_graph_is_not_taken_for_a_built_in_one_of_its_name(world: World) -> None:
    source = reviewed(world.trace).replace("send_mail", "write_file")
    put(world)
    (world.agents / "reviewed.py").write_text(source)
    world.load_anew()
    said = await world.say(wants(("write_file", {"to": "bob"})))
    said = await world.resume(said, Answer("edit", args={"to": "eve"}))
    assert said.finished
    assert world.traces() == ["mail eve 1"]


@MODES
async def test_a_tool_that_is_always_allowed_is_not_asked_for_again(world: World, mode: str) -> None:
    put(world, mode)
    said = await world.say(wants(MAIL))
    said = await world.resume(said, Answer("approve", always_allow=True))
    assert said.finished
    assert (await world.say(wants(MAIL, MAIL))).finished
    assert len(world.traces()) == 3
    said = await world.say(wants(MAIL, DROP))
    assert [item.name for item in said.waiting(Approval)] == ["drop_table"]
    said = await world.resume(said, NO)
    assert said.finished
    assert world.traces() == ["mail bob 1"] * 4


@MODES
async def test_a_call_with_a_name_that_no_path_can_hold_is_not_always_allowed(
    world: World, mode: str
) -> None:
    put(world, mode)
    file = world.agents / "reviewed.py"
    text = file.read_text().replace("@tool\ndef send_mail", '@tool("mail/send")\ndef send_mail')
    file.write_text(text.replace('"send_mail": True', '"mail/send": True'))
    world.load_anew()
    said = await world.say(wants(("mail/send", {"to": "bob"})))
    (item,) = said.waiting(Approval)
    assert (item.name, item.permit) == ("mail/send", "")
    with pytest.raises(BadAnswer, match="always_allow does not go with this call"):
        await world.resume(said, Answer("approve", always_allow=True))
    assert (await world.resume(said, YES)).text == "sent to bob"


async def test_a_tool_of_another_graph_is_asked_for(world: World) -> None:
    put(world)
    said = await world.resume(await world.say(wants(MAIL)), Answer("approve", always_allow=True))
    assert said.finished
    (world.agents / "other.py").write_text((world.agents / "reviewed.py").read_text())
    file = world.agents / "tester.yaml"
    file.write_text(file.read_text().replace("reviewed:", "other:"))
    world.load_anew()
    assert [item.name for item in (await world.say(wants(MAIL))).waiting(Approval)] == ["send_mail"]


async def test_a_grant_that_is_revoked_while_another_call_waits_does_not_count(world: World) -> None:
    put(world)
    said = await world.say(wants(MAIL))
    said = await world.resume(said, Answer("approve", always_allow=True))
    said = await world.say(wants(MAIL, DROP))
    assert await world.database.write(grants.revoke, world.conversation, world.user, "send_mail")
    said = await world.resume(said, YES)
    assert [item.name for item in said.waiting(Approval)] == ["send_mail"]
    assert world.traces() == ["mail bob 1"]
    said = await world.resume(said, NO)
    assert said.finished
    assert world.traces() == ["mail bob 1", "drop users"]


async def test_a_graph_that_calls_an_allowed_tool_for_ever_is_stopped_at_its_step_limit(world: World) -> None:
    put(world, spec="limits: {max_steps: 30}")
    said = await world.say(wants(MAIL))
    assert (await world.resume(said, Answer("approve", always_allow=True))).finished
    source = reviewed(world.trace).replace("last = messages[-1]", "last = messages[0]")
    (world.agents / "reviewed.py").write_text(source)
    world.load_anew()
    said = await world.say(wants(MAIL))
    assert said.failure.code == "steps"
    assert len(world.traces()) < 30


EDIT = Answer("edit", args={"to": "eve"})


@pytest.mark.parametrize(
    ("mode", "decision", "done"),
    [("batched", EDIT, ["mail eve 1"]), ("per_call", EDIT, ["mail eve 1"]), ("per_call", NO, [])],
    ids=["batched", "per_call", "per_call refused"],
)
async def test_a_decision_survives_a_crash(
    hasty: World, mode: str, decision: Answer, done: list[str]
) -> None:
    put(hasty, mode)
    said = await hasty.say(wants(MAIL, DROP))
    await lose(hasty)
    mail, drop = said.interrupts
    assert not await hasty.answer(said.turn, {mail.id: decision})
    await lose(hasty)
    assert await hasty.answer(said.turn, {drop.id: NO})
    said = await hasty.segment(said.turn)
    assert said.finished
    assert hasty.traces() == done
    await hasty.checked(said.turn)


@MODES
async def test_a_turn_that_is_stopped_while_a_call_waits_makes_none(world: World, mode: str) -> None:
    put(world, mode)
    said = await world.say(wants(MAIL, DROP))
    assert not await world.answer(said.turn, {said.interrupts[0].id: YES})
    await world.close(said.turn)
    row = await world.checked(said.turn)
    results = [(m.content, m.status) for m in row.messages or () if m.role == "tool"]
    assert results == [(NOT_DONE, "not_done")] * 2
    assert world.traces() == []
    assert (await world.say("and now?")).finished
    again = await world.say(wants(MAIL))
    assert (await world.resume(again, YES)).finished
    assert world.traces() == ["mail bob 1"]


async def test_an_approval_from_before_a_stop_does_not_count_for_a_retry(world: World) -> None:
    put(world)
    said = await world.say(wants(MAIL, DROP))
    assert not await world.answer(said.turn, {said.interrupts[0].id: YES})
    await world.close(said.turn)
    again = await world.retry(said.turn)
    assert again.finished
    assert again.text == f"{NOT_DONE} | {NOT_DONE}"
    assert world.traces() == []


async def test_a_call_that_nobody_decides_on_expires_and_is_not_made(world: World) -> None:
    put(world, spec="approvals: {timeout_seconds: 1}")
    said = await world.say(wants(MAIL))
    assert said.interrupts[0].expires_at is not None
    said = await world.segment(said.turn)
    assert said.outcome == ev.Stopped("timeout")
    row = await world.checked(said.turn)
    assert [m.status for m in row.messages or () if m.role == "tool"] == ["not_done"]
    assert world.traces() == []


OUTER = """
from langgraph.graph import START, MessagesState, StateGraph

outer = StateGraph(MessagesState)
outer.add_node("inner", graph.copy({"checkpointer": None}))
outer.add_edge(START, "inner")
graph = outer.compile(checkpointer=MemorySaver())
"""


@MODES
async def test_the_calls_of_a_subgraph_are_reviewed_too(hasty: World, mode: str) -> None:
    put(hasty, mode)
    (hasty.agents / "reviewed.py").write_text(reviewed(hasty.trace, mode) + OUTER)
    said = await hasty.say(wants(MAIL, DROP))
    assert [(item.name, item.tool_call_id) for item in said.waiting(Approval)] == [
        ("send_mail", "1-1"),
        ("drop_table", "1-2"),
    ]
    await lose(hasty)
    said = await hasty.resume(said, YES, NO)
    assert said.finished
    assert hasty.traces() == ["mail bob 1"]
    await hasty.checked(said.turn)
