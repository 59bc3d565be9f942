"""The MCP servers of agent files, opened to see what they offer."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Sequence

from caesura.agents.faults import did_you_mean
from caesura.agents.loader import Agent
from caesura.agents.mcp.listing import full_name
from caesura.agents.mcp.server import Offer, Server
from caesura.agents.mcp.servers import Servers
from caesura.agents.mcp.session import OPENING
from caesura.core import shown


def check(agents: Sequence[Agent]) -> set[str]:
    """Open every MCP server of these agents, and print its tools and what is wrong. Returns the names of the
    agents at fault: a server is away, or a file names a tool that its server does not have."""
    log = logging.getLogger("caesura.agents.mcp")
    level = log.level
    log.setLevel(logging.CRITICAL)  # what it would say is printed
    try:
        return asyncio.run(_check(agents))
    finally:
        log.setLevel(level)


async def _check(agents: Sequence[Agent]) -> set[str]:
    servers = Servers(os.environ, lambda: agents)
    opened = [(agent, servers.of(agent.name, entry)) for agent in agents for entry in agent.spec.mcp_servers]
    try:
        offers = await asyncio.gather(*(server.offer(OPENING) for _, server in opened))
    finally:
        await servers.close()
    bad = set[str]()
    for (agent, server), offer in zip(opened, offers, strict=True):
        for fault in _faults(agent, server, offer):
            bad.add(agent.name)
            print(shown.line(f"{agent.path.name}: MCP server {server.name}: {fault}"))
        if server.left_out:
            told = f"MCP server {server.name} lists what is left out: {server.left_out}"
            print(shown.line(f"warning: {agent.name}: {told}"))
        if offer.missing is None:
            tools = ", ".join(tool.name for tool in offer.tools) or "no tools"
            print(shown.line(f"{agent.name}: MCP server {server.name} offers {tools}"))
    if not opened:
        print("no agent of this folder has an MCP server")
    return bad


def _faults(agent: Agent, server: Server, offer: Offer) -> Iterator[str]:
    if offer.missing is not None:
        command = f" (command: {server.entry.command})" if server.entry.command else ""
        yield f"it is away: {offer.missing}{command}"
        return
    names, entry = server.names, server.entry
    for field, said in (("tools", entry.tools or ()), ("permissions", entry.permissions)):
        for name in said:
            if name not in names:
                yield f"{field} names {name}, which it does not have{_hint(name, names)}"
    full = {full_name(server.name, name) for name in names}
    for field, keys in (("permissions", agent.spec.permissions), ("interrupt_on", agent.spec.interrupt_on)):
        for key in keys:
            if key.startswith(full_name(server.name, "")) and key not in full:
                yield f"spec.{field} names {key}, which it does not have{_hint(key, full)}"


def _hint(name: str, known: set[str]) -> str:
    hint = did_you_mean(name, known)
    return f" ({hint})" if hint else f" (known: {', '.join(sorted(known)) or 'none'})"
