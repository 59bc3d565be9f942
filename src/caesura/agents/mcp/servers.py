"""The MCP servers of all agents of this process: one for each entry of an agent's file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from weakref import WeakValueDictionary

from caesura.agents.loader import Agent
from caesura.agents.mcp.server import Server
from caesura.agents.mcp.shares import Commons
from caesura.agents.spec import McpServer


class Servers:
    """A server lives as long as a version of its agent is in memory, or its session is open. A session whose
    entry is in no file any more closes when nobody has used it for a while."""

    def __init__(self, environ: Mapping[str, str], agents: Callable[[], Iterable[Agent]]) -> None:
        """`agents` are those that the files have now."""
        self._environ, self._agents = environ, agents
        self._commons = Commons()
        self._servers: WeakValueDictionary[tuple[str, str], Server] = WeakValueDictionary()

    def of(self, agent: str, entry: McpServer) -> Server:
        key = _key(agent, entry)
        known = self._servers.get(key)
        if known is None:
            share = self._commons.share()
            known = self._servers[key] = Server(agent, entry, self._environ, share, self._is_current)
        return known

    async def close(self) -> None:
        """Close all sessions. A server that does not end by itself is ended after some seconds."""
        await asyncio.gather(*(server.close() for server in list(self._servers.values())))

    def _is_current(self, server: Server) -> bool:
        entries = (_key(agent.name, entry) for agent in self._agents() for entry in agent.spec.mcp_servers)
        return _key(server.agent, server.entry) in entries


def _key(agent: str, entry: McpServer) -> tuple[str, str]:
    return agent, entry.model_dump_json()
