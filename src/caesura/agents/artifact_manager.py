"""The artifacts of a conversation for the code of an operator's own graph: what a function that makes a graph
gets as `artifact_manager`."""

from __future__ import annotations

from typing import Any

from caesura.agents.tools import artifacts as tools
from caesura.agents.tools.own import journalled
from caesura.core import artifacts as core
from caesura.core.errors import NotFound
from caesura.store import artifacts as rows


class ArtifactManager:
    """The conversation is that of the run that calls a method, whatever `session_id` says: one graph works
    for all. A write is a call of an artifact tool that goes through the journal: a graph's node that runs
    again after a crash does not write twice."""

    def __init__(self) -> None:
        self._tools = {tool.name: tool for tool in tools.tools()}

    @property
    def current_session_id(self) -> str:
        return journalled.current().conversation_id

    def set_session(self, session_id: str) -> None:
        pass

    async def create_artifact(
        self,
        session_id: str,
        artifact_id: str,
        content_type: str,
        title: str,
        content: str,
        metadata: dict[str, Any] | None = None,
    ) -> tuple[bool, str]:
        kind = _content_type(content_type)
        return await self._write(
            "create_artifact", id=artifact_id, title=title, content_type=kind, content=content
        )

    async def update_artifact(
        self, session_id: str, artifact_id: str, old_str: str, new_str: str
    ) -> tuple[bool, str, dict[str, Any] | None]:
        done, text = await self._write("update_artifact", id=artifact_id, old=old_str, new=new_str)
        match = {"match_type": "exact" if text.endswith(tools.EXACT) else "fuzzy"}
        return done, text, match if done else None

    async def rewrite_artifact(self, session_id: str, artifact_id: str, new_content: str) -> tuple[bool, str]:
        return await self._write("rewrite_artifact", id=artifact_id, content=new_content)

    async def read_artifact(
        self, session_id: str, artifact_id: str, version: int | None = None
    ) -> dict[str, Any] | None:
        try:
            found, chosen = await journalled.current().read(tools.chosen, artifact_id, version)
        except NotFound:
            return None
        about = _members(found, "id", "title", "content_type")
        return about | _members(chosen, "version", "update_type", "content")

    async def list_artifacts(self, session_id: str, **options: Any) -> list[dict[str, Any]]:
        found = await journalled.current().read(rows.of)
        return [_members(item, "id", "title", "content_type", "version") for item in found]

    async def _write(self, tool: str, **args: Any) -> tuple[bool, str]:
        result = await journalled.current().call(self._tools[tool], args)
        return result.status == "ok", result.content


def _members(item: object, *names: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names}


def _content_type(name: str) -> str:
    """That of an artifact, from a name such as `text/markdown` or `python`."""
    kind = name.rpartition("/")[2]
    if kind in core.CONTENT_TYPES:
        return kind
    return "text" if kind in ("txt", "plain") else "code"
