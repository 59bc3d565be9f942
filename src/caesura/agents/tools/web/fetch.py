"""The tool that fetches a page and gives its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from caesura.agents import context
from caesura.agents.tools.tool import Tool, ToolError, describer, structured
from caesura.agents.tools.web.extract import LONGEST, Text
from caesura.core import shown
from caesura.core.language import Language

if TYPE_CHECKING:
    from caesura.agents.tools.web.fetcher import Page

Url = Annotated[str, "The address of the page; it begins with http:// or https://"]


class Fetches(Protocol):
    async def fetch(self, text: str, person: str) -> Page: ...

    def check(self, text: str) -> None: ...


class Reads(Protocol):
    async def read(self, page: Page, person: str) -> Text: ...


def tool(fetcher: Fetches, reader: Reads) -> Tool:
    async def web_fetch(url: Url) -> str:
        person = context.current().user_id
        page = await fetcher.fetch(url, person)
        return report(page.url, await reader.read(page, person))

    async def refusal(args: Mapping[str, Any]) -> str | None:
        try:
            fetcher.check(str(args.get("url", "")))
        except ToolError as error:
            return str(error)
        return None

    description = "Fetch a page of the web and get its main text as Markdown, with its links."
    labels: dict[Language, str] = {"en": "Fetch a page", "zh": "获取网页"}
    doing: dict[Language, str] = {"en": "Fetching page", "zh": "正在获取网页"}
    return Tool(
        "web_fetch",
        structured(web_fetch, description),
        describer(labels, doing, "url"),
        "confirm",
        repeatable=True,
        refusal=refusal,
    )


def report(url: str, page: Text) -> str:
    """The text for the model. The first line says where it comes from, before anything that the page says."""
    lines = [f"Content of {shown.line(url)} (untrusted text from the web)"]
    if page.title:
        lines.append(f"Title: {page.title}")
    lines += ["", page.text or "(the page has no text)"]
    if page.cut:
        lines.append(f"[cut: only the first {LONGEST:,} characters are shown]")
    return "\n".join(lines)
