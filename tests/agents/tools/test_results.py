"""The result of a tool is the same whether LangChain's callbacks listen or not."""

from __future__ import annotations

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException, tool
from sqlalchemy import Connection

from caesura.agents.tools.tool import Result, Tool, describe_any, structured
from caesura.core.events import ArtifactChanged

configs = pytest.mark.parametrize("config", [None, RunnableConfig(callbacks=[])], ids=["alone", "watched"])


def _rows(connection: Connection) -> None:
    raise AssertionError("nothing is written here")


async def publish(text: str) -> str | Result:
    if text == "fault":
        raise ToolException("not that")
    if text == "text":
        return "only a text"
    return Result(text, "error", _rows, (ArtifactChanged("notes", 1, "create"),))


PUBLISH = Tool("publish", structured(publish, "Publish."), describe_any("publish"))


@configs
async def test_a_tool_gives_a_text_or_a_whole_result(config: RunnableConfig | None) -> None:
    assert await PUBLISH.run({"text": "text"}, "call-1", config) == Result("only a text")
    whole = await PUBLISH.run({"text": "x"}, "call-1", config)
    assert whole == Result("x", "error", _rows, (ArtifactChanged("notes", 1, "create"),))


@configs
async def test_faults_are_results_too(config: RunnableConfig | None) -> None:
    assert await PUBLISH.run({"text": "fault"}, "call-1", config) == Result("not that", "error")
    wrong = await PUBLISH.run({"text": 5}, "call-1", config)
    assert wrong.status == "error"
    assert "text" in wrong.text


@configs
async def test_a_tool_of_langchain_gives_its_text(config: RunnableConfig | None) -> None:
    @tool
    async def look(text: str) -> str:
        """Look."""
        return f"saw {text}"

    made = Tool("look", look, describe_any("look"))
    assert await made.run({"text": "x"}, "call-1", config) == Result("saw x")
