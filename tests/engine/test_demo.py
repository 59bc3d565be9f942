"""The demo model and the built-in tools in the engine: what a person who has no key can try."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from caesura.core.answers import Answer
from caesura.core.interrupts import Questions
from tests.engine.world import NO, YES, World

DEMO = """
    model: {primary: demo, options: {delay: 0}}
    permissions: {write_file: auto}
    limits: {max_steps: 12}
"""


@pytest.fixture(autouse=True)
def _agent(world: World) -> None:
    world.agent(DEMO)


def workspace(world: World) -> Path:
    return world.workspaces / world.conversation


async def test_a_tool_is_called_and_its_result_used(world: World) -> None:
    said = await world.say("write notes/a.txt: good day")
    assert said.results() == [("write_file", "wrote 8 bytes to notes/a.txt", "ok")]
    assert "wrote 8 bytes" in said.text
    assert (workspace(world) / "notes/a.txt").read_text() == "good day"


async def test_steps_follow_one_another(world: World) -> None:
    said = await world.say("write a.txt: good day then read a.txt")
    assert [name for name, _, _ in said.results()] == ["write_file", "read_file"]
    assert "good day" in said.text


async def test_parallel_calls_each_get_their_result(world: World) -> None:
    said = await world.say("do two things at once")
    assert sorted(said.results()) == [
        ("list_files", "(empty)", "ok"),
        ("read_file", "hello.py does not exist", "error"),
    ]


async def test_questions_interrupt_and_the_answers_come_back(world: World) -> None:
    said = await world.say("问我三个问题")
    (asked,) = said.waiting(Questions)
    assert (asked.kind, asked.label) == ("questions", "用户问答")
    assert asked.description == "Agent 提出了 3 个问题"
    assert [len(question.options) for question in asked.questions] == [4, 3, 2]
    said = await world.resume(said, Answer("answers", answers=("red", "a bird", "now")))
    assert "你喜欢什么颜色? → red (红色)" in said.text
    assert "你喜欢什么动物? → a bird" in said.text


async def test_the_model_gets_declined_questions(world: World) -> None:
    said = await world.resume(await world.say("ask me a question"), Answer("reject", message="busy"))
    assert said.results() == [("ask_user", "The person declined to answer: busy", "ok")]
    assert said.text == "You chose not to answer, so I leave it at that."


async def test_too_many_questions_are_an_error_for_the_model(world: World) -> None:
    said = await world.say("ask me 21 questions")
    assert said.results() == [("ask_user", "questions must be a list of 1 to 20 questions", "error")]


async def test_bad_paths_are_errors_for_the_model(world: World) -> None:
    said = await world.say("write ../out.txt: x + read /etc/passwd")
    assert [status for _, _, status in said.results()] == ["error", "error"]
    assert not (workspace(world).parent / "out.txt").exists()


async def test_wrong_arguments_are_an_error_for_the_model(world: World) -> None:
    ((name, output, status),) = (await world.say("wrong arguments")).results()
    assert (name, status) == ("read_file", "error")
    assert output == "the arguments do not fit: path: Input should be a valid string"


async def test_a_loop_runs_into_the_step_limit(world: World) -> None:
    assert (await world.say("loop")).failure.code == "steps"


async def test_a_loop_with_an_end_ends(world: World) -> None:
    assert len((await world.say("loop 3 times")).results()) == 3


async def test_approvals_and_refusals_one_by_one(world: World) -> None:
    world.agent("model: {primary: demo, options: {delay: 0}}")
    said = await world.say("two approvals")
    said = await world.resume(said, YES, NO)
    assert "wrote" in said.text
    assert "You refused `write_file`" in said.text
    assert sum("wrote" in output for _, output, _ in said.results()) == 1
    assert len(os.listdir(workspace(world))) == 1
