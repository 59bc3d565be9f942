"""The demo model and the tools in a real agent graph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command, Interrupt

from caesura.agents.context import RunContext
from caesura.agents.demo.model import DemoModel
from caesura.agents.spec import Spec
from caesura.agents.tools import registry

CONFIG: RunnableConfig = {"configurable": {"thread_id": "turn"}, "recursion_limit": 30}


class Conversation:
    def __init__(self, workspace: Path, **middleware: Any) -> None:
        tools = [tool.tool for tool in registry.standard().tools_of(Spec())]
        self.context = RunContext("conv", "turn", "alice", "assistant", "zh", workspace)
        self.graph = create_agent(
            DemoModel(delay=0), tools, context_schema=RunContext, checkpointer=InMemorySaver(), **middleware
        )

    async def run(self, given: Any) -> dict[str, Any]:
        value = given if isinstance(given, Command) else {"messages": [("user", given)]}
        return await self.graph.ainvoke(value, CONFIG, context=self.context)


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path / "workspace")


def results(state: dict[str, Any]) -> list[tuple[str | None, str, str]]:
    return [(m.name, m.status, m.text) for m in state["messages"] if isinstance(m, ToolMessage)]


def last(state: dict[str, Any]) -> str:
    message = state["messages"][-1]
    assert isinstance(message, AIMessage)
    return message.text


async def test_a_tool_is_called_and_its_result_used(conversation: Conversation, tmp_path: Path) -> None:
    state = await conversation.run("write notes/a.txt: good day")
    assert results(state) == [("write_file", "success", "wrote 8 bytes to notes/a.txt")]
    assert "wrote 8 bytes" in last(state)
    assert (tmp_path / "workspace/notes/a.txt").read_text() == "good day"


async def test_steps_follow_one_another(conversation: Conversation) -> None:
    state = await conversation.run("write a.txt: good day then read a.txt")
    assert [name for name, _, _ in results(state)] == ["write_file", "read_file"]
    assert "good day" in last(state)


async def test_parallel_calls_each_get_their_result(conversation: Conversation) -> None:
    state = await conversation.run("do two things at once")
    assert results(state) == [
        ("list_files", "success", "(empty)"),
        ("read_file", "error", "hello.py does not exist"),
    ]


async def test_questions_interrupt_and_the_answers_come_back(conversation: Conversation) -> None:
    state = await conversation.run("问我三个问题")
    (asked,) = state["__interrupt__"]
    assert isinstance(asked, Interrupt)
    assert (asked.value["kind"], asked.value["label"]) == ("questions", "用户问答")
    assert asked.value["description"] == "Agent 提出了 3 个问题"
    assert [len(question["options"]) for question in asked.value["questions"]] == [4, 3, 2]
    answer = {"decision": "answers", "answers": ["red", "a bird", "now"]}
    state = await conversation.run(Command(resume={asked.id: answer}))
    assert "你喜欢什么颜色? → red (红色)" in last(state)
    assert "你喜欢什么动物? → a bird" in last(state)


async def test_declined_questions_are_told_to_the_model(conversation: Conversation) -> None:
    state = await conversation.run("ask me a question")
    (asked,) = state["__interrupt__"]
    state = await conversation.run(Command(resume={asked.id: {"decision": "reject", "message": "busy"}}))
    assert results(state) == [("ask_user", "success", "The person declined to answer: busy")]
    assert last(state) == "You chose not to answer, so I leave it at that."


async def test_questions_that_are_too_many_are_an_error_for_the_model(conversation: Conversation) -> None:
    state = await conversation.run("ask me 21 questions")
    assert results(state) == [("ask_user", "error", "questions must be a list of 1 to 20 questions")]


async def test_bad_paths_are_errors_for_the_model(conversation: Conversation, tmp_path: Path) -> None:
    state = await conversation.run("write ../out.txt: x + read /etc/passwd")
    assert [status for _, status, _ in results(state)] == ["error", "error"]
    assert not (tmp_path / "out.txt").exists()


async def test_wrong_arguments_are_told_to_the_model(conversation: Conversation) -> None:
    ((name, status, text),) = results(await conversation.run("wrong arguments"))
    assert (name, status) == ("read_file", "error")
    assert text == "the arguments do not fit: path: Input should be a valid string"


async def test_a_loop_runs_into_the_step_limit(conversation: Conversation) -> None:
    with pytest.raises(GraphRecursionError):
        await conversation.run("loop")


async def test_a_loop_with_an_end_ends(conversation: Conversation) -> None:
    assert len(results(await conversation.run("loop 3 times"))) == 3


async def test_approvals_and_refusals_one_by_one(tmp_path: Path) -> None:
    gate: HumanInTheLoopMiddleware[Any, Any, Any] = HumanInTheLoopMiddleware(
        interrupt_on={"write_file": True}, interrupt_mode="per_call"
    )
    conversation = Conversation(tmp_path, middleware=[gate])
    state = await conversation.run("two approvals")
    first, second = state["__interrupt__"]
    decisions = {first.id: {"type": "approve"}, second.id: {"type": "reject", "message": "not that one"}}
    state = await conversation.run(Command(resume=decisions))
    assert "wrote" in last(state)
    assert "You refused `write_file`" in last(state)
    assert sum("wrote" in text for _, _, text in results(state)) == 1
    assert len(os.listdir(tmp_path)) == 1
