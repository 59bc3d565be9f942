"""Asking a person before a tool is called, and what they may say."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import AlreadyAnswered, BadAnswer, InterruptPending
from caesura.core.interrupts import Approval
from caesura.core.permits import Permit
from caesura.store import interrupts, life
from tests.engine.world import NO, YES, World, roles
from tests.openai_server import Call, Say

SEAL = Call("seal", {"text": "b"}, "seal-1")
SEALED = [("seal", "sealed b", "ok")]


async def test_an_approval_describes_the_call_and_nothing_runs_before_it(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("so be it"))
    said = await world.say("go")
    (item,) = said.waiting(Approval)
    assert (item.kind, item.name, item.args, item.tool_call_id) == (
        "approval",
        "seal",
        {"text": "b"},
        "seal-1",
    )
    assert item.description
    assert not item.unknown
    assert world.traces() == []
    assert said.row.status == "waiting"
    assert said.row.owner is None
    assert not said.of(ev.ToolStarted)
    with pytest.raises(InterruptPending):
        await world.send("something else")
    await world.resume(said, YES)


async def test_a_decision_counts_even_if_the_agents_file_changed_meanwhile(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("as you wish"))
    said = await world.say("go")
    world.agent("tools: [seal]\npermissions: {seal: auto}")
    said = await world.resume(said, NO)
    assert said.finished
    assert [status for _, _, status in said.results()] == ["refused"]
    assert world.traces() == []


async def test_an_edit_counts_even_if_the_agents_file_changed_meanwhile(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("as you wish"))
    said = await world.say("go")
    world.agent("tools: [seal]\npermissions: {seal: auto}")
    said = await world.resume(said, Answer("edit", args={"text": "c"}))
    assert said.finished
    assert world.traces() == ["seal c"]


async def test_an_approved_call_is_made_once_and_the_turn_goes_on(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("so be it"))
    said = await world.resume(await world.say("go"), YES)
    assert said.finished
    assert said.text == "so be it"
    assert said.results() == SEALED
    assert world.traces() == ["seal b"]
    kinds = [type(event) for event in said.events[:3]]
    assert kinds == [ev.RunStarted, ev.InterruptClosed, ev.ToolStarted]
    row = await world.checked(said.turn)
    assert roles(row.messages) == ["assistant", "tool", "assistant"]


async def test_an_edited_call_is_made_with_the_persons_arguments(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("so be it"))
    said = await world.resume(await world.say("go"), Answer("edit", args={"text": "mine"}))
    assert world.traces() == ["seal mine"]
    assert said.of(ev.ToolStarted)[0].args == {"text": "mine"}
    assert said.results() == [("seal", "sealed mine", "ok")]


async def test_a_rejected_call_is_not_made_and_the_agent_gets_the_rejection(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("then not"))
    said = await world.resume(await world.say("go"), Answer("reject", message="too risky"))
    assert said.finished
    assert world.traces() == []
    ((name, output, status),) = said.results()
    assert (name, status) == ("seal", "refused")
    assert "too risky" in output
    assert ("tool", output) in world.desk.sent()


async def test_a_response_replaces_the_result(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("I see"))
    said = await world.resume(await world.say("go"), Answer("respond", message="I did it myself"))
    assert world.traces() == []
    assert said.results() == [("seal", "I did it myself", "answered")]
    assert ("tool", "I did it myself") in world.desk.sent()


async def test_edited_arguments_that_do_not_fit_become_an_error_for_the_model(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("oh"))
    asked = await world.say("go")
    wrong = {asked.interrupts[0].id: Answer("edit", args={"wrong": 1})}
    with pytest.raises(BadAnswer):
        await world.answer(asked.turn, wrong)
    # A tool may have changed since the answer was checked.
    await world.database.write(life.answer, world.user, wrong)
    world.engine.supervisor.nudge()
    said = await world.segment(asked.turn)
    assert said.finished
    ((_, output, status),) = said.results()
    assert status == "error"
    assert "do not fit" in output
    assert world.traces() == []


async def test_several_calls_wait_at_once_and_are_decided_in_one_go(world: World) -> None:
    world.agent("tools: [seal]")
    calls = [Call("seal", {"text": str(number)}, f"seal-{number}") for number in range(4)]
    world.desk.script(Say("May I?", calls), Say("done"))
    said = await world.say("go")
    assert [item.args["text"] for item in said.waiting(Approval)] == ["0", "1", "2", "3"]
    decisions = {
        said.interrupts[0].id: YES,
        said.interrupts[1].id: NO,
        said.interrupts[2].id: Answer("edit", args={"text": "two"}),
        said.interrupts[3].id: Answer("respond", message="three"),
    }
    assert await world.answer(said.turn, decisions)
    said = await world.segment(said.turn)
    assert sorted(world.traces()) == ["seal 0", "seal two"]
    row = await world.checked(said.turn)
    assert [m.status for m in row.messages or () if m.role == "tool"] == ["ok", "refused", "ok", "answered"]


async def test_several_calls_are_decided_one_by_one_and_then_the_turn_continues(world: World) -> None:
    world.agent("tools: [seal]")
    calls = [Call("seal", {"text": str(number)}, f"seal-{number}") for number in range(3)]
    world.desk.script(Say("May I?", calls), Say("done"))
    said = await world.say("go")
    first, second, third = said.interrupts
    assert not await world.answer(said.turn, {second.id: NO})
    assert not await world.answer(said.turn, {first.id: YES})
    assert (await world.row(said.turn)).status == "waiting"
    assert world.traces() == []
    assert await world.answer(said.turn, {third.id: YES})
    said = await world.segment(said.turn)
    assert said.finished
    assert sorted(world.traces()) == ["seal 0", "seal 2"]
    assert len(said.of(ev.InterruptClosed)) == 3


async def test_a_finished_tool_is_not_run_again_when_another_one_is_approved(world: World) -> None:
    world.agent("tools: [note, seal]")
    world.desk.script(Say("both", [Call("note", {"text": "a"}, "note-1"), SEAL]), Say("done"))
    said = await world.say("go")
    assert world.traces() == ["note a"]
    assert said.results() == [("note", "noted a", "ok")]
    said = await world.resume(said, YES)
    assert world.traces() == ["note a", "seal b"]
    assert said.results() == SEALED
    row = await world.checked(said.turn)
    assert [m.name for m in row.messages or () if m.role == "tool"] == ["note", "seal"]


async def test_one_turn_may_ask_again_and_again(world: World) -> None:
    world.agent("tools: [seal]")
    calls = [Call("seal", {"text": str(number)}, "same-id") for number in range(3)]
    world.desk.script(*(Say("May I?", [call]) for call in calls), Say("done"))
    said = await world.say("go")
    for number in range(3):
        assert said.waiting(Approval)[0].args == {"text": str(number)}
        said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["seal 0", "seal 1", "seal 2"]
    await world.checked(said.turn)


async def test_always_allow_holds_for_that_tool_along_the_branch_only(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("root"))
    root = await world.say("hello")
    world.desk.script(Say("May I?", [SEAL]), Say("done"))
    said = await world.resume(await world.say("go"), Answer("approve", always_allow=True))
    world.desk.script(Say("again", [Call("seal", {"text": "c"}, "seal-2")]), Say("done"))
    assert (await world.say("once more")).finished
    assert world.traces() == ["seal b", "seal c"]
    world.desk.script(Say("May I?", [Call("seal", {"text": "d"}, "seal-3")]), Say("no"))
    beside = await world.say("beside", parent=root.turn.id)
    assert beside.interrupts
    await world.resume(beside, NO)
    assert world.traces() == ["seal b", "seal c"]
    assert (await world.row(said.turn)).grants == (str(Permit("tester", "built-in", "seal")),)


async def test_a_denied_tool_is_not_offered_to_the_model(world: World) -> None:
    world.agent("tools: [note, seal]\npermissions: {seal: deny, note: confirm}")
    world.desk.script(Say("", [SEAL]), Say("", [Call("note", {"text": "a"}, "n")]), Say("ok"))
    said = await world.say("go")
    assert [tool["function"]["name"] for tool in world.desk.requests[0]["tools"]] == ["note"]
    assert said.results()[0][2] == "error"
    assert said.waiting(Approval)[0].name == "note"
    said = await world.resume(said, YES)
    assert world.traces() == ["note a"]


async def test_nobody_is_asked_about_a_call_that_can_only_be_refused(world: World) -> None:
    world.agent("tools: [web_fetch]")
    calls = [Call("web_fetch", {"url": url}, url) for url in ("http://10.0.0.1/", "https://example.org/")]
    world.desk.script(Say("May I?", calls), Say("no"))
    said = await world.say("go")
    assert [item.args for item in said.waiting(Approval)] == [{"url": "https://example.org/"}]
    said = await world.resume(said, NO)
    assert [status for _, _, status in said.results()] == ["refused"]
    (private, _) = [text for role, text in world.desk.sent() if role == "tool"]
    assert "10.0.0.1 is not on the public web" in private


async def test_an_answer_that_does_not_fit_changes_nothing(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("done"))
    said = await world.say("go")
    (item,) = said.interrupts
    for wrong in (
        Answer("edit"),
        Answer("respond"),
        Answer("answers", answers=("a",)),
        Answer("value", value=1),
    ):
        with pytest.raises(BadAnswer):
            await world.answer(said.turn, {item.id: wrong})
    assert len(await world.database.read(interrupts.pending, said.turn.num)) == 1
    assert (await world.resume(said, YES)).finished


async def test_a_second_answer_gets_the_first_decision_and_the_tool_runs_once(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("done"))
    said = await world.say("go")
    (item,) = said.interrupts
    await world.answer(said.turn, {item.id: YES})
    with pytest.raises(AlreadyAnswered) as lost:
        await world.answer(said.turn, {item.id: NO})
    assert lost.value.decision == {"decision": "approve"}
    assert (await world.segment(said.turn)).finished
    assert world.traces() == ["seal b"]


QUESTIONS = {
    "questions": [
        {
            "question": "Which?",
            "options": [{"label": "The first", "value": "1"}, {"label": "Other", "value": "2"}],
        },
        {"question": "Why?"},
    ]
}


async def test_the_agent_asks_and_reads_the_answers(world: World) -> None:
    world.agent("tools: [ask_user]")
    world.desk.script(Say("", [Call("ask_user", QUESTIONS, "ask")]), Say("thanks"))
    said = await world.say("go")
    (item,) = said.interrupts
    assert item.kind == "questions"
    assert [question.question for question in item.questions] == ["Which?", "Why?"]
    said = await world.resume(said, Answer("answers", answers=("1", "because")))
    assert said.finished
    ((name, output, status),) = said.results()
    assert (name, status) == ("ask_user", "ok")
    assert "because" in output
    assert "The first" in output
    assert ("tool", output) in world.desk.sent()
    await world.checked(said.turn)


async def test_a_person_may_decline_to_answer(world: World) -> None:
    world.agent("tools: [ask_user]")
    world.desk.script(Say("", [Call("ask_user", QUESTIONS, "ask")]), Say("fine"))
    said = await world.resume(await world.say("go"), NO)
    assert said.finished
    assert "declined" in said.results()[0][1]


async def test_questions_and_approvals_wait_together(world: World) -> None:
    world.agent("tools: [ask_user, seal, note]")
    calls = [Call("ask_user", QUESTIONS, "ask"), SEAL, Call("note", {"text": "a"}, "note-1")]
    world.desk.script(Say("", calls), Say("done"))
    said = await world.say("go")
    assert sorted(item.kind for item in said.interrupts) == ["approval", "questions"]
    answers = {"approval": YES, "questions": Answer("answers", answers=("2", "x"))}
    await world.answer(said.turn, {item.id: answers[item.kind] for item in said.interrupts})
    said = await world.segment(said.turn)
    assert said.finished
    assert world.traces() == ["note a", "seal b"]
    row = await world.checked(said.turn)
    assert [m.name for m in row.messages or () if m.role == "tool"] == ["ask_user", "seal", "note"]


async def test_invalid_questions_become_an_error_for_the_model(world: World) -> None:
    world.agent("tools: [ask_user]")
    world.desk.script(Say("", [Call("ask_user", {"questions": "?"}, "ask")]), Say("sorry"))
    said = await world.say("go")
    assert said.finished
    assert said.results()[0][2] == "error"


# --- how long a question waits


@pytest.mark.parametrize("asks", ["seal", "ask_user"])
async def test_a_question_waits_as_long_as_the_agent_says_and_its_call_gets_a_result(
    world: World, asks: str
) -> None:
    world.agent(f"tools: [{asks}]\napprovals: {{timeout_seconds: 1}}")
    args = {"text": "b"} if asks == "seal" else {"questions": [{"question": "Why?", "options": []}]}
    world.desk.script(Say("May I?", [Call(asks, args, "call-1")]), Say("next"))
    said = await world.say("go")
    (item,) = said.interrupts
    assert said.row.waits_until == item.expires_at is not None
    closed = await world.segment(said.turn)
    assert closed.of(ev.InterruptClosed) == [ev.InterruptClosed(item.id, "expired")]
    assert closed.outcome == ev.Stopped("timeout")
    row = await world.checked(said.turn)
    results = [(m.tool_call_id, m.status) for m in row.messages or () if m.role == "tool"]
    assert results == [("call-1", "not_done")]
    assert (await world.say("and now?")).finished
    assert [role for role, _ in world.desk.sent()] == ["user", "assistant", "tool", "user"]


async def test_an_approval_waits_for_ever_unless_the_agent_says_otherwise(world: World) -> None:
    world.agent("tools: [seal]\ninterrupt: {enabled: true, timeout_seconds: 1}")
    world.desk.script(Say("May I?", [SEAL]), Say("done. Please confirm."))
    said = await world.say("go")
    assert (said.interrupts[0].expires_at, said.row.waits_until) == (None, None)
    said = await world.resume(said, YES)
    assert said.interrupts[0].expires_at is not None
