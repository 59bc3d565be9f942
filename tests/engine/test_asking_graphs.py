"""An operator's own graph that asks questions, with `interrupt` or by a reviewed call of `ask_user`: the
person gets a form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer
from caesura.core.fold import NOT_DONE
from caesura.core.interrupts import Approval, GraphRequest, Questions, question_dict
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.world import NO, YES, World
from tests.graph_files import assistant, wants

COLOUR = {
    "question": "你喜欢什么颜色?",
    "options": [
        {"label": "红色", "value": "red"},
        {"label": "自定义", "value": "__custom__", "allow_custom": True},
    ],
}
HOW = {"question": "怎么执行?", "options": [{"label": "立即执行", "value": "now"}]}
ASKED = ("ask_user", {"questions": [COLOUR, HOW]})
WRITE = ("write_file", {"file_path": "hello.py", "content": "print(1)\n"})
BOTH = Answer("answers", answers=("浅蓝", "now"))
MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])


def put(world: World, attribute: str = "graph", mode: str = "batched", questions: str = "True") -> None:
    (world.agents / "assisting.py").write_text(assistant(world.trace, mode, questions))
    agent_files.put(world.agents, "tester", f"type: langgraph\ngraph: 'assisting:{attribute}'\n")
    assert not world.catalog.faults


async def test_questions_of_interrupt_are_a_form_whose_answers_are_a_list(hasty: World) -> None:
    put(hasty, "form")
    said = await hasty.say(json.dumps([COLOUR, HOW], ensure_ascii=False))
    (asked,) = said.waiting(Questions)
    assert [question_dict(question) for question in asked.questions] == [COLOUR, HOW]
    assert (asked.label, asked.description) == ("用户问答", "Agent 提出了 2 个问题")
    assert (asked.name, asked.args, asked.tool_call_id) == (None, {"questions": [COLOUR, HOW]}, None)
    with pytest.raises(BadAnswer, match=r"answers count \(1\) does not match questions count \(2\)"):
        await hasty.answer(said.turn, {asked.id: Answer("answers", answers=("red",))})
    await lose(hasty)
    said = await hasty.resume(said, BOTH)
    assert json.loads(said.text) == [["浅蓝", "now"], []]
    await hasty.checked(said.turn)


async def test_tools_that_ask_with_interrupt_at_once_each_get_their_answers(hasty: World) -> None:
    put(hasty)
    said = await hasty.say(
        wants(("choose", {"questions": [COLOUR]}), ("choose", {"questions": [HOW]}), WRITE)
    )
    said = await hasty.resume(said, YES)
    texts = {"你喜欢什么颜色?": "浅蓝", "怎么执行?": "now"}
    forms = said.waiting(Questions)
    assert {form.questions[0].question for form in forms} == texts.keys()
    first, second = (
        {form.id: Answer("answers", answers=(texts[form.questions[0].question],))} for form in forms
    )
    assert not await hasty.answer(said.turn, first)
    await lose(hasty)
    assert await hasty.answer(said.turn, second)
    said = await hasty.segment(said.turn)
    assert said.text == '["浅蓝"] | ["now"] | wrote hello.py'
    assert hasty.traces() == ["write hello.py"]
    await hasty.checked(said.turn)


async def test_a_form_of_interrupt_that_is_refused_returns_false_and_is_among_the_refusals(
    world: World,
) -> None:
    put(world, "form")
    said = await world.say(json.dumps([{"question": "Which one?"}]))
    (asked,) = said.waiting(Questions)
    assert (asked.label, asked.description) == ("Questions", "The agent asks 1 question")
    said = await world.resume(said, Answer("reject", message="not now"))
    answers, (refusal,) = json.loads(said.text)
    assert answers is False
    assert refusal | {"interrupt": ""} == {
        "interrupt": "",
        "value": {"questions": [{"question": "Which one?"}]},
        "message": "not now",
    }


async def test_what_is_no_form_is_a_request_as_before(world: World) -> None:
    put(world, "form")
    said = await world.say(json.dumps([{"question": ""}]))
    (asked,) = said.waiting(GraphRequest)
    assert asked.value == {"questions": [{"question": ""}]}
    said = await world.resume(said, Answer("value", value="so"))
    assert json.loads(said.text) == ["so", []]


@MODES
async def test_a_reviewed_call_of_ask_user_gets_the_answers_as_an_argument(hasty: World, mode: str) -> None:
    put(hasty, mode=mode)
    said = await hasty.say(wants(ASKED, WRITE))
    asked, file = said.interrupts
    assert isinstance(asked, Questions)
    assert (asked.name, asked.args, asked.tool_call_id) == (*ASKED, "1-1")
    assert [question_dict(question) for question in asked.questions] == [COLOUR, HOW]
    assert (asked.label, asked.description) == ("用户问答", "Agent 提出了 2 个问题")
    assert (file.label, file.description) == ("写入文件", "正在写入文件: hello.py")
    assert not await hasty.answer(said.turn, {asked.id: BOTH})
    await lose(hasty)
    assert await hasty.answer(said.turn, {file.id: YES})
    said = await hasty.segment(said.turn)
    assert said.finished, said.outcome
    results = {event.id: (event.output, event.status) for event in said.of(ev.ToolFinished)}
    assert results["1-1"][0].endswith('["浅蓝", "now"]')
    assert results["1-1"][1] == "ok"
    assert results["1-2"][1] == "ok"
    await hasty.checked(said.turn)


@MODES
async def test_questions_of_a_reviewed_call_can_be_refused(world: World, mode: str) -> None:
    put(world, mode=mode)
    said = await world.say(wants(ASKED))
    said = await world.resume(said, Answer("reject", message="later"))
    (ended,) = said.of(ev.ToolFinished)
    assert ended.status == "refused"
    assert ended.output.endswith("with reason: later")


async def test_a_form_that_a_stop_closes_was_not_asked_for(world: World) -> None:
    put(world)
    said = await world.say(wants(ASKED))
    await world.close(said.turn)
    row = await world.checked(said.turn)
    results = [(m.content, m.status) for m in row.messages or () if m.role == "tool"]
    assert results == [(NOT_DONE, "not_done")]


@pytest.mark.parametrize(
    ("allowed", "decisions", "result"),
    [
        ('{"allowed_decisions": ["edit"]}', ("answers",), '["浅蓝", "now"]'),
        (
            '{"allowed_decisions": ["respond", "reject"]}',
            ("answers", "reject"),
            "你喜欢什么颜色? → 浅蓝\n怎么执行? → now (立即执行)",
        ),
    ],
    ids=["edit", "respond"],
)
@MODES
async def test_the_answers_take_the_way_that_the_operator_allows(
    world: World, mode: str, allowed: str, decisions: tuple[str, ...], result: str
) -> None:
    put(world, mode=mode, questions=allowed)
    said = await world.say(wants(ASKED))
    (asked,) = said.waiting(Questions)
    assert asked.decisions == decisions
    if "reject" not in decisions:
        with pytest.raises(BadAnswer, match="'reject' does not fit: this interrupt takes 'answers'"):
            await world.answer(said.turn, {asked.id: NO})
    said = await world.resume(said, BOTH)
    (ended,) = said.of(ev.ToolFinished)
    assert ended.output.endswith(result)


async def test_a_call_of_ask_user_that_takes_no_answers_or_asks_nothing_is_an_approval(world: World) -> None:
    put(world, questions='{"allowed_decisions": ["approve", "reject"]}')
    said = await world.say(wants(ASKED))
    assert said.waiting(Approval)[0].decisions == ("approve", "reject")
    assert (await world.resume(said, NO)).finished
    put(world)
    said = await world.say(wants(("ask_user", {"questions": []})))
    assert [item.name for item in said.waiting(Approval)] == ["ask_user"]


async def test_a_tool_that_is_always_allowed_still_asks_its_questions(world: World) -> None:
    put(world)
    said = await world.say(wants(("ask_user", {"questions": []})))
    assert (await world.resume(said, Answer("approve", always_allow=True))).finished
    said = await world.say(wants(ASKED))
    assert len(said.waiting(Questions)) == 1


async def test_calls_are_described_as_those_of_our_own_tools(world: World) -> None:
    put(world)
    calls: list[tuple[str, dict[str, Any]]] = [
        WRITE,
        ("execute", {"command": "npm install"}),
        ("execute", {"command": "ls", "timeout": 5}),
    ]
    said = await world.say(wants(*calls))
    assert [(item.label, item.description) for item in said.waiting(Approval)] == [
        ("Write a file", "Writing file: hello.py"),
        ("Run a command", "Running command: npm install"),
        ("Run a command", 'Using tool: execute {"command":"ls","timeout":5}'),
    ]
