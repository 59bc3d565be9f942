"""The result of a tool: of ours, and of LangChain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import StructuredTool, ToolException, tool
from sqlalchemy import Connection

from caesura.agents.context import RunContext
from caesura.agents.tools import langchain
from caesura.agents.tools.tool import Action, Result, Tool, ToolError, describe_any, structured
from caesura.core.events import ArtifactChanged


def _rows(connection: Connection) -> None:
    raise AssertionError("nothing is written here")


async def publish(text: str) -> str | Result:
    if text == "fault":
        raise ToolError("not that")
    if text == "text":
        return "only a text"
    return Result(text, "error", _rows, (ArtifactChanged("notes", 1, "create"),))


PUBLISH = Tool("publish", structured(publish, "Publish."), describe_any("publish"))


async def test_a_tool_gives_a_text_or_a_whole_result() -> None:
    assert await PUBLISH.run({"text": "text"}) == Result("only a text")
    whole = await PUBLISH.run({"text": "x"})
    assert whole == Result("x", "error", _rows, (ArtifactChanged("notes", 1, "create"),))


async def test_faults_are_results_too() -> None:
    assert await PUBLISH.run({"text": "fault"}) == Result("not that", "error")
    wrong = await PUBLISH.run({"text": 5})
    assert wrong.status == "error"
    assert "text" in wrong.text


async def test_arguments_without_a_model_are_given_as_they_came() -> None:
    async def show(args: dict[str, Any]) -> str:
        return str(args)

    made = Tool("show", Action(show, "Show.", {"type": "object"}), describe_any("show"))
    assert await made.run({"a": [1]}) == Result("{'a': [1]}")
    assert made.fault({"a": [1]}) is None


async def _run(made: Tool, args: dict[str, Any]) -> Result:
    with RunContext("c", "t", "u", "a", "en", Path(), tool_call_id="call-1").active():
        return await made.run(args)


def _looking(**options: Any) -> Tool:
    async def look(text: str) -> str:
        """Look."""
        if text == "fault":
            raise ToolException("nothing there")
        return f"saw {text}"

    made = StructuredTool.from_function(coroutine=look, **options)
    return Tool("look", langchain.action(langchain.read(made)), describe_any("look"))


async def test_a_tool_of_langchain_gives_its_text() -> None:
    assert await _run(_looking(), {"text": "x"}) == Result("saw x")


async def test_a_tool_of_langchain_is_shown_to_models_as_langchain_shows_it() -> None:
    assert _looking().schema == (
        "look",
        "Look.",
        {"properties": {"text": {"type": "string"}}, "required": ["text"], "type": "object"},
    )


@pytest.mark.parametrize("handled", [True, False])
async def test_faults_of_a_tool_of_langchain_are_results(handled: bool) -> None:
    made = _looking(handle_tool_error=handled, handle_validation_error=handled)
    assert await _run(made, {"text": "fault"}) == Result("nothing there", "error")
    assert (await _run(made, {"text": []})).status == "error"


async def test_a_plain_function_of_langchain_runs_too() -> None:
    @tool
    def add(a: int, b: int = 2) -> int:
        """Add."""
        return a + b

    assert await _run(
        Tool("add", langchain.action(langchain.read(add)), describe_any("add")), {"a": 1}
    ) == Result("3")
