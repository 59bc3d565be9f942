"""`confirm` on a tool that may itself ask: a sub-agent, a sub-agent of a sub-agent, `ask_user`."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval
from tests.engine.crash import lose
from tests.engine.world import NO, YES, Said, World
from tests.openai_server import Call, Hang, Say

HELP = Call("helper", {"task": "seal it"}, "help-1")
SEAL = Call("seal", {"text": "b"}, "seal-1")
NOTE = Call("note", {"text": "a"}, "note-1")
CONFIRM = "permissions: {helper: confirm}"


def with_helper(world: World, rule: str = CONFIRM) -> None:
    world.agent("tools: [note, seal]", name="helper", model="openai:helper")
    world.agent(f"tools: []\nsub_agents: [{{ref: helper, description: Helps}}]\n{rule}")


def asked(said: Said) -> list[tuple[str, str | None, str]]:
    return [(item.kind, item.name, item.agent) for item in said.waiting(Approval)]


@pytest.mark.parametrize("rule", [CONFIRM, "interrupt_on: [helper]"])
async def test_a_sub_agent_needs_one_approval_and_does_nothing_before_it(world: World, rule: str) -> None:
    with_helper(world, rule)
    world.desk.script(Say("", [HELP]), Say("thanks"))
    world.desk.script(Say("", [NOTE, SEAL]), Say("sealed it"), model="helper")
    said = await world.say("go")
    (item,) = said.waiting(Approval)
    assert (item.kind, item.name, item.args) == ("approval", "helper", {"task": "seal it"})
    assert world.traces() == []
    assert not said.of(ev.ToolStarted)
    assert not [request for request in world.desk.requests if request["model"] == "helper"]
    said = await world.resume(said, YES)
    assert asked(said) == [("approval", "seal", "helper")]
    said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["note a", "seal b"]
    begun = [event.name for event in await world.events(said.turn) if isinstance(event, ev.ToolStarted)]
    assert begun == ["helper", "note", "seal"]


@pytest.mark.parametrize(
    ("answer", "output", "status"),
    [
        (Answer("reject", message="too risky"), "too risky", "refused"),
        (Answer("respond", message="I did it myself"), "I did it myself", "answered"),
    ],
)
async def test_a_refused_sub_agent_does_not_run_and_the_agent_gets_the_refusal(
    world: World, answer: Answer, output: str, status: str
) -> None:
    with_helper(world)
    world.desk.script(Say("", [HELP]), Say("then not"))
    said = await world.resume(await world.say("go"), answer)
    assert said.finished
    ((name, told, came),) = said.results()
    assert (name, came) == ("helper", status)
    assert output in told
    assert ("tool", told) in world.desk.sent()
    assert not [request for request in world.desk.requests if request["model"] == "helper"]


async def test_a_sub_agent_keeps_its_edited_task_after_it_has_asked(world: World) -> None:
    with_helper(world)
    world.desk.script(Say("", [HELP]), Say("thanks"))
    world.desk.script(Say("", [SEAL]), Say("sealed it"), model="helper")
    said = await world.resume(await world.say("go"), Answer("edit", args={"task": "mine"}))
    said = await world.resume(said, YES)
    assert said.finished
    inner = [request for request in world.desk.requests if request["model"] == "helper"]
    assert [request["messages"][0]["content"] for request in inner] == ["mine", "mine"]


async def test_a_sub_agent_may_be_always_allowed(world: World) -> None:
    with_helper(world)
    world.desk.script(Say("", [HELP]), Say("thanks"))
    world.desk.script(Say("noted"), model="helper")
    said = await world.resume(await world.say("go"), Answer("approve", always_allow=True))
    assert said.finished
    world.desk.script(Say("", [Call("helper", {"task": "two"}, "help-2")]), Say("thanks"))
    world.desk.script(Say("", [SEAL]), Say("sealed"), model="helper")
    said = await world.say("again")
    assert asked(said) == [("approval", "seal", "helper")]
    assert (await world.resume(said, YES)).finished


async def test_a_stop_revokes_the_approval_of_a_sub_agent(world: World) -> None:
    with_helper(world)
    world.desk.script(Say("", [HELP]), Say("thanks"))
    world.desk.script(Say("", [SEAL]), Say("sealed it"), model="helper")
    said = await world.resume(await world.say("go"), YES)
    assert asked(said) == [("approval", "seal", "helper")]
    await world.close(said.turn)
    again = await world.retry(said.turn)
    assert asked(again) == [("approval", "helper", "tester")]
    again = await world.resume(again, YES)
    assert asked(again) == [("approval", "seal", "helper")]
    assert (await world.resume(again, YES)).finished
    assert world.traces() == ["seal b"]
    await world.checked(said.turn)


async def test_a_sub_agent_of_a_sub_agent_needs_approval_too(world: World) -> None:
    world.agent("tools: [seal]", name="deep", model="openai:deep")
    inner = "tools: []\nsub_agents: [{ref: deep, description: Deep}]\npermissions: {deep: confirm}"
    world.agent(inner, name="helper", model="openai:helper")
    world.agent(f"tools: []\nsub_agents: [{{ref: helper, description: Helps}}]\n{CONFIRM}")
    world.desk.script(Say("", [HELP]), Say("thanks"))
    world.desk.script(Say("", [Call("deep", {"task": "deeper"}, "deep-1")]), Say("up"), model="helper")
    world.desk.script(Say("", [SEAL]), Say("sealed"), model="deep")
    said = await world.say("go")
    steps = []
    while not said.finished:
        steps += asked(said)
        assert world.traces() == []
        said = await world.resume(said, YES)
    assert steps == [
        ("approval", "helper", "tester"),
        ("approval", "deep", "helper"),
        ("approval", "seal", "deep"),
    ]
    assert world.traces() == ["seal b"]
    await world.checked(said.turn)


async def test_a_tool_that_asks_questions_needs_approval_first(world: World) -> None:
    world.agent("tools: [ask_user]\npermissions: {ask_user: confirm}")
    call = Call("ask_user", {"questions": [{"question": "Why?"}]}, "ask")
    world.desk.script(Say("", [call]), Say("", [Call("ask_user", call.arguments, "more")]), Say("thanks"))
    said = await world.say("go")
    assert asked(said) == [("approval", "ask_user", "tester")]
    said = await world.resume(said, YES)
    assert [item.kind for item in said.interrupts] == ["questions"]
    said = await world.resume(said, Answer("answers", answers=("so",)))
    assert said.results() == [("ask_user", "Why? → so", "ok")]
    said = await world.resume(said, NO)
    assert said.finished
    assert said.results()[0][2] == "refused"


async def test_a_denied_sub_agent_is_not_offered_to_the_model(world: World) -> None:
    with_helper(world, "permissions: {helper: deny}")
    world.desk.script(Say("", [HELP]), Say("then not"))
    said = await world.say("go")
    assert said.finished
    assert "tools" not in world.desk.requests[0]
    assert said.results()[0][2] == "error"
    assert not [request for request in world.desk.requests if request["model"] == "helper"]


async def test_after_a_crash_a_sub_agent_needs_no_second_approval(hasty: World) -> None:
    with_helper(hasty)
    hasty.desk.script(Say("", [HELP]), Say("thanks"))
    hasty.desk.script(Hang(["half "]), Say("all of it"), model="helper")
    said = await hasty.say("go")
    assert await hasty.answer(said.turn, {said.interrupts[0].id: YES})
    await hasty.until(said.turn, ev.TextDelta)
    await lose(hasty)
    said = await hasty.segment(said.turn)
    assert said.finished
    assert [event.cause for event in said.of(ev.RunStarted)] == ["resume", "adopt"]
    assert said.results() == [("helper", "all of it", "ok")]


async def test_a_refused_call_is_not_made_even_if_a_concurrent_answer_grants_its_tool(world: World) -> None:
    world.agent("tools: [seal]")
    calls = [Call("seal", {"text": name}, f"seal-{name}") for name in "abc"]
    world.desk.script(Say("", calls), Say("done"))
    said = await world.say("go")
    edit = Answer("edit", args={"text": "mine"}, always_allow=True)
    said = await world.resume(said, Answer("approve", always_allow=True), NO, edit)
    assert said.finished
    assert sorted(world.traces()) == ["seal a", "seal mine"]
    assert sorted(status for _, _, status in said.results()) == ["ok", "ok", "refused"]
