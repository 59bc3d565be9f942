"""The tools of MCP servers, which an agent has besides those of its file. The servers are asked before each
step."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from caesura.agents import context
from caesura.agents.mcp import arguments
from caesura.agents.mcp.listing import Offered
from caesura.agents.mcp.server import Offer, Server
from caesura.agents.spec import Permission
from caesura.agents.tools.own.context import key_of
from caesura.agents.tools.tool import Action, Result, Tool, describe_any

logger = logging.getLogger(__name__)

#: Seconds to wait for servers that a call names, and the least of them.
_INSISTENCE, _LEAST = 5.0, 0.5
_Default = Literal["auto", "confirm"]
#: What the operator says about a tool of a server, by its own name: None if nothing.
Says = Callable[[str], Permission | None]


@dataclass(frozen=True, slots=True)
class Served:
    """An MCP server of an agent, and what the operator says about its tools."""

    server: Server
    permitted: Says

    def made(self, offered: Offered) -> Tool:
        """A tool that the server offers."""
        trusted = self.server.entry.trust_annotations
        default: _Default = "auto" if trusted and offered.read_only else "confirm"
        found = self._tool(offered, default, trusted and offered.idempotent)

        async def refusal(args: Mapping[str, Any]) -> str | None:
            return arguments.misfit(offered.parameters, args)

        return replace(found, refusal=refusal)

    def allows(self, tool: Tool) -> Permission:
        return self.says(tool.name) or tool.permission

    def tool(self, name: str) -> Tool | None:
        """A tool that the server may have, while nothing is known of its tools because it is away. A call
        that a person has approved is tried. Nobody is asked to approve another one."""
        own = self._own_name(name)
        if own is None or self.server.is_known or self.says(name) == "deny":
            return None
        found = self._tool(Offered(own, name, "", {"type": "object", "properties": {}}), "confirm", False)
        return replace(found, refusal=self._refusal)

    async def _refusal(self, args: Mapping[str, Any]) -> str:
        return self.server.nothing_done()

    def says(self, name: str) -> Permission | None:
        own = self._own_name(name)
        return self.permitted(own) if own is not None else None

    def is_of(self, name: str) -> bool:
        """Whether a tool of this name would be one of this server."""
        return self._own_name(name) is not None

    def _own_name(self, name: str) -> str | None:
        prefix = f"{self.server.name}__"
        return name.removeprefix(prefix) if name.startswith(prefix) and name != prefix else None

    def _tool(self, offered: Offered, permission: _Default, repeatable: bool) -> Tool:
        async def call(args: dict[str, Any]) -> Result:
            run = context.current()
            key = key_of(run.turn_id, run.tool_call_id)
            return await self.server.call(offered.name, args, key, run.progress)

        action = Action(call, offered.description, offered.parameters)
        describe = describe_any(offered.full_name)
        origin = f"mcp {self.server.name}"
        return Tool(
            offered.full_name, action, describe, permission=permission, repeatable=repeatable, origin=origin
        )


class Patience:
    """The seconds that a run may still wait for MCP servers, altogether. A server that has failed since the
    turn began is not waited for again."""

    def __init__(self, seconds: float, age: float) -> None:
        """`age` are the seconds since the turn began."""
        self._left = seconds
        self._since = time.monotonic() - age

    async def offers(self, servers: Sequence[Served]) -> list[Offer]:
        """What each server offers. They are asked at the same time."""
        began = time.monotonic()
        try:
            return await asyncio.gather(*(item.server.offer(self._for(item.server)) for item in servers))
        finally:
            self._left -= time.monotonic() - began

    async def insist(self, servers: Sequence[Served]) -> None:
        """Ask these servers again, also those that failed a moment ago. A call names a tool of theirs that
        they have not listed."""
        for item in servers:
            item.server.forget()
        wait = min(max(self._left, _LEAST), _INSISTENCE)
        began = time.monotonic()
        try:
            await asyncio.gather(*(item.server.offer(wait, insist=True) for item in servers))
        finally:
            self._left -= time.monotonic() - began

    def _for(self, server: Server) -> float:
        return 0.0 if server.failed >= self._since else max(self._left, 0.0)


def offered(
    servers: Sequence[Served], offers: Sequence[Offer], taken: Mapping[str, Tool]
) -> tuple[dict[str, Tool], dict[str, Permission], tuple[str, ...]]:
    """The tools that the servers offer with their permissions, and what the model is told about servers that
    are away. The names of other tools are `taken`."""
    tools: dict[str, Tool] = {}
    permissions: dict[str, Permission] = {}
    notes = []
    for item, (found, missing) in zip(servers, offers, strict=True):
        if missing is not None:
            notes.append(
                f"The tools of the MCP server {item.server.name} are not available at the moment: {missing}."
            )
        for tool in map(item.made, found):
            if tool.name in taken:
                logger.info("MCP server %s: another tool is named %s", item.server.name, tool.name)
            elif (permission := item.allows(tool)) != "deny":
                tools[tool.name], permissions[tool.name] = tool, permission
    return tools, permissions, tuple(notes)
