"""Agents that change, break or vanish; sub-agents; an operator's own model."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from caesura.agents.loader import Catalog
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import AgentChanged
from caesura.core.interrupts import Approval
from caesura.store import interrupts, life, schema
from tests.engine.world import NO, YES, World, roles
from tests.openai_server import Call, Hang, Say

SEAL = Call("seal", {"text": "b"}, "seal-1")


async def test_a_message_to_an_agent_that_does_not_exist_is_refused_and_says_which(world: World) -> None:
    await world.begin("nobody")
    with pytest.raises(AgentChanged, match="there is no agent nobody here now"):
        await world.say("hi")
    assert await world.database.read(lambda c: c.execute(select(schema.turns.c.num)).all()) == []


async def test_a_model_that_cannot_be_set_up_fails_the_turn_without_internals(world: World) -> None:
    world.agent("tools: []\nmodel: {primary: 'openai:gpt-4o', api_key_env: NOT_SET_ANYWHERE}")
    said = await world.say("hi")
    assert said.failure.error_id
    assert "NOT_SET_ANYWHERE" not in said.failure.message
    await world.checked(said.turn)
    world.agent("tools: []")
    world.desk.script(Say("hello"))
    assert (await world.say("hi")).finished


@pytest.mark.parametrize("how", ["gone", "broken"])
async def test_an_answer_is_refused_while_the_agent_is_not_there_and_counts_when_it_is_back(
    world: World, how: str
) -> None:
    world.agent("tools: [note, seal]")
    world.desk.script(Say("both", [Call("note", {"text": "a"}, "note-1"), SEAL]), Say("well"))
    said = await world.say("go")
    await world.engine.drain()
    file = world.agents / "tester.yaml"
    text = file.read_text()
    file.write_text("spec: [") if how == "broken" else file.unlink()
    world.catalog = Catalog(world.agents, world.registry().names, interval=0)
    world.engine = world.new_engine()
    world.engine.start()
    with pytest.raises(AgentChanged, match="there is no agent tester here now: its file is gone or has"):
        await world.resume(said, YES)
    [row] = await world.database.read(interrupts.inbox, "alice")
    assert row.interrupt.id == said.interrupts[0].id
    assert (await world.row(said.turn)).status == "waiting"
    file.write_text(text)
    said = await world.resume(said, YES)
    assert said.finished
    assert said.text == "well"
    assert world.traces() == ["note a", "seal b"]


async def test_a_turn_that_waits_for_an_agent_that_is_gone_can_be_stopped(world: World) -> None:
    world.agent("tools: [note, seal]")
    world.desk.script(Say("both", [Call("note", {"text": "a"}, "note-1"), SEAL]))
    said = await world.say("go")
    (world.agents / "tester.yaml").unlink()
    await world.close(said.turn)
    row = await world.checked(said.turn)
    assert [(m.name, m.status) for m in row.messages or () if m.role == "tool"] == [
        ("note", "ok"),
        ("seal", "not_done"),
    ]
    assert not await world.database.read(interrupts.inbox, "alice")


async def test_an_agent_removed_while_its_question_expires_leaves_nothing_pending(world: World) -> None:
    world.agent("tools: []\ninterrupt: {enabled: true, timeout_seconds: 1}")
    world.desk.script(Say("Please confirm."))
    said = await world.say("go")
    (world.agents / "tester.yaml").unlink()
    closed = await world.segment(said.turn)
    assert [event.outcome for event in closed.of(ev.InterruptClosed)] == ["expired"]
    assert (await world.checked(said.turn)).status in ("stopped", "failed")


@pytest.mark.parametrize("begun", [True, False])
async def test_a_turn_whose_agent_is_not_here_is_left_alone_until_it_is(
    world: World, begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.agent("tools: [note]")
    file = world.agents / "tester.yaml"
    text = file.read_text()
    note = Say("I note", [Call("note", {"text": "a"}, "note-1")])
    world.desk.script(note, *[Hang(["and "])] * begun, Say("well"))
    if not begun:
        monkeypatch.setattr(world.engine.supervisor, "_capacity", 0)
    turn = await world.send("go")
    if begun:
        await world.until(turn, ev.TextDelta, 2)
    await world.engine.drain(0)
    file.unlink()
    world.engine = world.new_engine()
    world.engine.start()
    # The server works on a later message to an agent that it has.
    world.agent("tools: []", name="other", model="openai:other")
    world.desk.script(Say("hello"), model="other")
    await world.begin("other")
    later = await world.database.write(life.create, life.New(world.conversation, "hi"))
    world.engine.supervisor.nudge()
    assert (await world.segment(later)).text == "hello"
    row = await world.row(turn)
    assert (row.status, row.owner) == ("queued", None)
    file.write_text(text)
    world.engine.supervisor.nudge()
    said = await world.segment(turn)
    assert said.finished
    assert [event.cause for event in said.of(ev.RunStarted)] == (["start", "adopt"] if begun else ["start"])
    assert world.traces() == ["note a"]
    await world.checked(turn)


async def test_a_changed_agent_is_used_in_its_new_version(world: World) -> None:
    world.agent("tools: []\nsystem_prompt: Be brief.")
    world.desk.script(Say("one"), Say("two"))
    await world.say("hi")
    world.agent("tools: []\nsystem_prompt: Be kind.")
    await world.say("hi")
    assert world.desk.sent()[0] == ("system", "Be kind.")


async def test_a_broken_file_leaves_the_last_valid_version_in_use(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("one"), Say("two"))
    await world.say("hi")
    (world.agents / "tester.yaml").write_text("nonsense: [")
    assert (await world.say("hi")).finished


HELPER = "tools: [note, seal]\nsystem_prompt: You help."
LEAD = "tools: [look]\nsub_agents: [{ref: helper, description: Helps a lot}]"


def with_helper(world: World) -> None:
    world.agent(HELPER, name="helper", model="openai:helper")
    world.agent(LEAD)


async def test_a_sub_agent_works_with_its_own_tools_and_prompt(world: World) -> None:
    with_helper(world)
    world.desk.script(Say("I ask.", [Call("helper", {"task": "note it"}, "help-1")]), Say("thanks"))
    world.desk.script(
        Say("Noting.", [Call("note", {"text": "a"}, "note-1")]), Say("noted it"), model="helper"
    )
    said = await world.say("go")
    assert said.finished
    assert world.traces() == ["note a"]
    inner = [request for request in world.desk.requests if request["model"] == "helper"]
    assert inner[0]["messages"] == [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "note it"},
    ]
    assert {tool["function"]["name"] for tool in inner[0]["tools"]} == {"note", "seal"}
    outer = next(tool for tool in world.desk.requests[0]["tools"] if tool["function"]["name"] == "helper")
    assert outer["function"]["description"] == "Helps a lot"
    assert [(event.agent, event.parent) for event in said.of(ev.ModelStarted)] == [
        ("tester", None),
        ("helper", "help-1"),
        ("helper", "help-1"),
        ("tester", None),
    ]
    assert ("tool", "noted it") in world.desk.sent()
    row = await world.checked(said.turn)
    assert roles([m for m in row.messages or () if m.parent is None]) == ["assistant", "tool", "assistant"]
    world.desk.script(Say("yes"))
    await world.say("next")
    assert [text for _, text in world.desk.sent()] == ["go", "I ask.", "noted it", "thanks", "next"]


async def test_an_approval_inside_a_sub_agent_is_asked_and_answered(world: World) -> None:
    with_helper(world)
    world.desk.script(Say("I ask.", [Call("helper", {"task": "seal it"}, "help-1")]), Say("thanks"))
    calls = [Call("note", {"text": "a"}, "note-1"), SEAL]
    world.desk.script(Say("Sealing.", calls), Say("sealed it"), model="helper")
    said = await world.say("go")
    (item,) = said.waiting(Approval)
    assert (item.name, item.agent, item.parent) == ("seal", "helper", "help-1")
    assert world.traces() == ["note a"]
    said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["note a", "seal b"]
    assert sum(request["model"] == "helper" for request in world.desk.requests) == 2
    assert len(world.desk.requests) == 4
    row = await world.checked(said.turn)
    inner = [(m.role, m.content) for m in row.messages or () if m.parent == "help-1"]
    assert inner == [
        ("assistant", "Sealing."),
        ("tool", "noted a"),
        ("tool", "sealed b"),
        ("assistant", "sealed it"),
    ]


async def test_two_concurrent_sub_agents_each_ask_and_are_kept_apart(world: World) -> None:
    world.agent(HELPER, name="first", model="openai:first")
    world.agent(HELPER, name="second", model="openai:second")
    world.agent("tools: []\nsub_agents: [{ref: first}, {ref: second}]")
    calls = [Call("first", {"task": "one"}, "one"), Call("second", {"task": "two"}, "two")]
    world.desk.script(Say("both", calls), Say("thanks"))
    world.desk.script(Say("1", [Call("seal", {"text": "one"}, "same")]), Say("first done"), model="first")
    world.desk.script(Say("2", [Call("seal", {"text": "two"}, "same")]), Say("second done"), model="second")
    said = await world.say("go")
    assert sorted(item.agent for item in said.interrupts) == ["first", "second"]
    decisions = {"first": YES, "second": Answer("reject", message="no")}
    await world.answer(said.turn, {item.id: decisions[item.agent] for item in said.interrupts})
    said = await world.segment(said.turn)
    assert said.finished
    assert world.traces() == ["seal one"]
    assert [text for role, text in world.desk.sent() if role == "tool"] == ["first done", "second done"]
    await world.checked(said.turn)


async def test_a_sub_agent_is_asked_twice_in_one_turn(world: World) -> None:
    with_helper(world)
    world.desk.script(
        Say("", [Call("helper", {"task": "one"}, "one")]),
        Say("", [Call("helper", {"task": "two"}, "two")]),
        Say("thanks"),
    )
    world.desk.script(Say("first"), Say("second"), model="helper")
    said = await world.say("go")
    assert said.finished
    assert [text for role, text in world.desk.sent() if role == "tool"] == ["first", "second"]
    assert world.desk.requests[3]["messages"][-1]["content"] == "two"


async def test_a_grant_inside_a_sub_agent_holds_for_the_branch(world: World) -> None:
    with_helper(world)
    world.desk.script(Say("", [Call("helper", {"task": "one"}, "one")]), Say("ok"))
    world.desk.script(Say("", [SEAL]), Say("done"), model="helper")
    said = await world.resume(await world.say("go"), Answer("approve", always_allow=True))
    assert said.finished
    world.desk.script(Say("", [Call("helper", {"task": "two"}, "two")]), Say("ok"))
    world.desk.script(Say("", [Call("seal", {"text": "c"}, "seal-2")]), Say("done"), model="helper")
    assert (await world.say("again")).finished
    assert world.traces() == ["seal b", "seal c"]


async def test_a_failing_model_of_a_sub_agent_fails_the_turn_which_can_be_retried(world: World) -> None:
    from tests.openai_server import Broken

    with_helper(world)
    world.desk.script(Say("I ask.", [Call("helper", {"task": "note it"}, "help-1")]), Say("thanks"))
    world.desk.script(
        Say("Noting.", [Call("note", {"text": "a"}, "note-1")]),
        Broken(["half"]),
        Say("whole"),
        model="helper",
    )
    said = await world.say("go")
    assert said.failure.retryable
    await world.checked(said.turn)
    again = await world.retry(said.turn)
    assert again.finished, again.outcome
    assert world.traces() == ["note a"]
    row = await world.checked(said.turn)
    assert row.messages is not None
    assert row.messages[-1].content == "thanks"


OWN = """
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class Echo(BaseChatModel):
    times: int = 1

    @property
    def _llm_type(self):
        return "echo"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        text = " ".join([str(messages[-1].content)] * self.times)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


class Streaming(Echo):
    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        for _ in range(self.times):
            yield ChatGenerationChunk(message=AIMessageChunk(str(messages[-1].content)))
"""


async def test_an_operators_own_model_class_replies(world: World) -> None:
    (world.agents / "own.py").write_text(OWN)
    world.agent("tools: []\nmodel: {class: 'own:Echo', options: {times: 2}}")
    said = await world.say("hey")
    assert said.finished
    assert said.text == "hey hey"
    world.agent("tools: []\nmodel: {class: 'own:Streaming', options: {times: 3}}")
    said = await world.say("ho")
    assert [event.text for event in said.of(ev.TextDelta)] == ["ho"] * 3


async def test_the_demo_model_runs_the_shipped_agent_without_any_key(world: World) -> None:
    await world.begin("assistant")
    said = await world.say("hello")
    assert said.finished
    assert said.text


async def test_a_rejection_is_enough_for_several_calls_of_one_reply(world: World) -> None:
    world.agent("tools: [seal]")
    calls = [Call("seal", {"text": str(n)}, f"s{n}") for n in range(3)]
    world.desk.script(Say("", calls), Say("then not"))
    said = await world.resume(await world.say("go"), NO)
    assert said.finished
    assert world.traces() == []
