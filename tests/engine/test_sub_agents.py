"""Several sub-agents at once: who says and asks what, under which call, and what stops them."""

from __future__ import annotations

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval, Questions
from tests.engine.world import YES, World
from tests.openai_server import Broken, Call, Hang, Say

BOTH = [Call("first", {"task": "one"}, "one"), Call("second", {"task": "two"}, "two")]


def pair(world: World, spec: str = "tools: [note, seal, ask_user]", **lead: str) -> None:
    """Two sub-agents and the agent that asks them."""
    for name in ("first", "second"):
        world.agent(spec, name=name, model=f"openai:{name}")
    extra = "\n".join(f"{field}: {value}" for field, value in lead.items())
    world.agent(f"tools: []\nsub_agents: [{{ref: first}}, {{ref: second}}]\n{extra}")


async def test_words_and_tools_are_labelled_with_the_sub_agent_and_its_call(world: World) -> None:
    pair(world)
    world.desk.script(Say("both", BOTH), Say("thanks"))
    for name in ("first", "second"):
        noted = Say(f"{name} notes.", [Call("note", {"text": name}, f"note-{name}")])
        world.desk.script(noted, Say(f"{name} is done."), model=name)
    said = await world.say("go")
    assert said.finished
    started = {event.call: event for event in said.of(ev.ModelStarted)}
    spoken: dict[tuple[str, str | None], str] = {}
    for delta in said.of(ev.TextDelta):
        who = (started[delta.call].agent, started[delta.call].parent)
        spoken[who] = spoken.get(who, "") + delta.text
    assert spoken == {
        ("tester", None): "boththanks",
        ("first", "one"): "first notes.first is done.",
        ("second", "two"): "second notes.second is done.",
    }
    for events in (said.of(ev.ToolStarted), said.of(ev.ToolFinished)):
        assert {(event.id, event.agent, event.parent) for event in events} == {
            ("one", "tester", None),
            ("two", "tester", None),
            ("note-first", "first", "one"),
            ("note-second", "second", "two"),
        }
    await world.checked(said.turn)


async def test_two_sub_agents_that_ask_are_answered_one_after_the_other(world: World) -> None:
    pair(world)
    world.desk.script(Say("both", BOTH), Say("thanks"))
    world.desk.script(
        Say("1", [Call("seal", {"text": "one"}, "seal-1")]), Say("first is done"), model="first"
    )
    asked = {"questions": [{"question": "Which?", "options": [{"label": "A", "value": "a"}]}]}
    world.desk.script(Say("2", [Call("ask_user", asked, "ask-2")]), Say("second is done"), model="second")
    said = await world.say("go")
    approval, questions = said.interrupts
    assert (type(approval), approval.agent, approval.parent) == (Approval, "first", "one")
    assert (type(questions), questions.agent, questions.parent) == (Questions, "second", "two")
    assert not await world.answer(said.turn, {questions.id: Answer("answers", answers=("a",))})
    assert world.traces() == []
    assert await world.answer(said.turn, {approval.id: YES})
    said = await world.segment(said.turn)
    assert said.finished
    assert world.traces() == ["seal one"]
    assert [text for role, text in world.desk.sent() if role == "tool"] == ["first is done", "second is done"]
    assert len(world.desk.requests) == 6
    await world.checked(said.turn)


async def test_a_sub_agent_may_ask_again_after_it_was_answered(world: World) -> None:
    pair(world)
    world.desk.script(Say("one", BOTH[:1]), Say("thanks"))
    seals = [Say("", [Call("seal", {"text": text}, f"seal-{text}")]) for text in ("a", "b")]
    world.desk.script(*seals, Say("both are sealed"), model="first")
    said = await world.say("go")
    for text in ("a", "b"):
        (item,) = said.waiting(Approval)
        assert (item.args, item.parent) == ({"text": text}, "one")
        said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["seal a", "seal b"]
    begun = [event.id for event in await world.events(said.turn) if isinstance(event, ev.ToolStarted)]
    assert begun == ["one", "seal-a", "seal-b"]


async def test_a_sub_agent_of_a_sub_agent_is_under_the_inner_call(world: World) -> None:
    world.agent("tools: [seal]", name="inner", model="openai:inner")
    world.agent("tools: []\nsub_agents: [{ref: inner}]", name="outer", model="openai:outer")
    world.agent("tools: []\nsub_agents: [{ref: outer}]")
    world.desk.script(Say("", [Call("outer", {"task": "go"}, "call-outer")]), Say("thanks"))
    world.desk.script(Say("", [Call("inner", {"task": "go"}, "call-inner")]), Say("well"), model="outer")
    world.desk.script(Say("", [Call("seal", {"text": "b"}, "seal-1")]), Say("sealed"), model="inner")
    said = await world.say("go")
    (item,) = said.interrupts
    assert (item.agent, item.parent) == ("inner", "call-inner")
    said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["seal b"]
    parents = {event.agent: event.parent for event in said.of(ev.ModelStarted)}
    assert parents == {"inner": "call-inner", "outer": "call-outer", "tester": None}


async def test_a_stop_ends_all_sub_agents_and_keeps_what_each_had_said(world: World) -> None:
    pair(world)
    world.desk.script(Say("both", BOTH), Say("so"))
    world.desk.script(Hang(["first ", "works"]), model="first")
    world.desk.script(Hang(["second ", "works"]), model="second")
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta, 5)
    world.engine.supervisor.stop(turn.num, "user")
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    row = await world.checked(turn)
    inner = {m.parent: (m.agent, m.content, m.cut) for m in row.messages or () if m.parent}
    assert inner == {"one": ("first", "first works", True), "two": ("second", "second works", True)}
    results = [(m.tool_call_id, m.status) for m in row.messages or () if m.role == "tool"]
    assert results == [("one", "unknown"), ("two", "unknown")]
    assert (await world.say("what now")).finished


async def test_a_stop_while_one_asks_and_the_other_works_closes_both(world: World) -> None:
    pair(world)
    world.desk.script(Say("both", BOTH), Say("so"))
    world.desk.script(Say("1", [Call("seal", {"text": "one"}, "seal-1")]), model="first")
    world.desk.script(Hang(["second ", "works"]), model="second")
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta, 4)
    world.engine.supervisor.stop(turn.num, "user")
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    await world.checked(turn)
    assert world.traces() == []
    assert (await world.say("what now")).finished


async def test_sub_agents_at_once_share_the_steps_of_the_turn(world: World) -> None:
    """A model call counts from its beginning, so that many at once do not pass the limit."""
    world.agent("tools: []", name="first", model="openai:first")
    world.agent("tools: []\nsub_agents: [{ref: first}]\nlimits: {max_steps: 3}")
    calls = [Call("first", {"task": str(n)}, f"call-{n}") for n in range(6)]
    world.desk.script(Say("all", calls), Say("thanks"))
    world.desk.script(*(Hang([f"{n}"]) for n in range(6)), model="first")
    said = await world.say("go")
    assert (said.failure.code, said.failure.retryable) == ("steps", True)
    assert sum(request["model"] == "first" for request in world.desk.requests) <= 2
    await world.checked(said.turn)


async def test_the_steps_of_a_sub_agent_end_its_call_and_not_the_turn(world: World) -> None:
    world.agent("tools: [note]\nlimits: {max_steps: 2}", name="first", model="openai:first")
    world.agent("tools: []\nsub_agents: [{ref: first}]")
    world.desk.script(Say("one", BOTH[:1]), Say("then not"))
    notes = [Say("", [Call("note", {"text": f"{n}"}, f"note-{n}")]) for n in range(4)]
    world.desk.script(*notes, model="first")
    said = await world.say("go")
    assert said.finished
    assert world.traces() == ["note 0", "note 1"]
    assert said.results()[-1] == ("first", "first did not come to an end in 2 steps", "error")
    await world.checked(said.turn)


async def test_a_sub_agent_that_breaks_off_fails_the_turn_and_the_other_is_not_left_behind(
    world: World,
) -> None:
    pair(world)
    world.desk.script(Say("both", BOTH), Say("thanks"))
    world.desk.script(Hang(["first ", "works"]), model="first")
    world.desk.script(Broken(["half"]), model="second")
    said = await world.say("go")
    assert said.failure.retryable
    row = await world.checked(said.turn)
    assert row.status == "failed"
    assert (await world.say("what now")).finished
