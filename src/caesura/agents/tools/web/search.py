"""The tool that searches the web."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from caesura.agents import context
from caesura.agents.tools.tool import Tool, ToolError, describer, structured
from caesura.agents.tools.web.engine import Hit
from caesura.core import shown
from caesura.core.language import Language

_LONGEST = 1000

Query = Annotated[str, "What to search for, in a few words"]


class Searches(Protocol):
    async def search(self, query: str, person: str) -> list[Hit]: ...


def tool(searcher: Searches) -> Tool:
    async def web_search(query: Query) -> str:
        query = query.strip()
        if not 1 <= len(query) <= _LONGEST:
            raise ToolError(f"the query must be a text of 1 to {_LONGEST} characters")
        return report(query, await searcher.search(query, context.current().user_id))

    description = "Search the web and get titles, addresses and short texts of pages."
    labels: dict[Language, str] = {"en": "Search the web", "zh": "搜索网页"}
    doing: dict[Language, str] = {"en": "Searching the web", "zh": "正在搜索网页"}
    return Tool(
        "web_search", structured(web_search, description), describer(labels, doing, "query"), repeatable=True
    )


def report(query: str, hits: Sequence[Hit]) -> str:
    """The text for the model. The first line says where it comes from."""
    wanted = shown.text(query)
    if not hits:
        return f"No results for: {wanted}"
    lines = [f"Results for: {wanted} (untrusted text from the web)"]
    for number, hit in enumerate(hits, 1):
        lines += ["", f"{number}. {hit.title}", f"   {hit.url}"]
        if hit.text:
            lines.append(f"   {hit.text}")
    return "\n".join(lines)
