"""An MCP server, written with the official package: `server.py FOLDER [PORT]`, over stdio or streamable HTTP.

Its tools leave traces in the folder. Some wait until there is a file `go`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import ToolAnnotations

FOLDER = Path(sys.argv[1])
server = MCPServer("tests", log_level="ERROR")


def leave(text: str) -> None:
    with (FOLDER / "trace.txt").open("a") as file:
        file.write(text + "\n")


async def go() -> None:
    while not (FOLDER / "go").exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Say the same."""
    return text


@server.tool(annotations=ToolAnnotations(idempotent_hint=True))
async def look(ctx: Context) -> str:
    """Look, which may be repeated."""
    leave(f"look {_key(ctx)}")
    await go()
    return "seen"


@server.tool()
async def charge(ctx: Context, amount: int = 1) -> str:
    """Charge money."""
    leave(f"charge {amount} {_key(ctx)}")
    try:
        await go()
    except asyncio.CancelledError:
        leave("cancelled")
        raise
    return f"charged {amount}"


@server.tool()
async def march(ctx: Context) -> str:
    """Report progress."""
    await ctx.report_progress(3, 10, "on the way")
    await go()
    return "there"


@server.tool()
def put(text: str) -> str:
    """Leave a trace."""
    leave(text)
    return f"left {text}"


@server.tool()
def pid() -> str:
    return str(os.getpid())


@server.tool()
def environment() -> str:
    return json.dumps(dict(os.environ))


@server.tool()
def headers(ctx: Context) -> str:
    request: Any = ctx.request_context.request
    return json.dumps(dict(request.headers))


@server.tool()
def long(size: int) -> str:
    """A long text."""
    return "é," * (size // 3)


@server.tool(structured_output=False)
def picture() -> list[Any]:
    return ["a picture", Image(data=b"\x89PNG" * 10, format="png")]


@server.tool()
def total(numbers: list[int]) -> dict[str, int]:
    return {"total": sum(numbers)}


@server.tool()
def fail() -> str:
    raise ValueError("it went wrong")


@server.tool()
def die() -> str:
    os._exit(3)


@server.tool()
def grow() -> str:
    """Add a tool."""

    def grown() -> str:
        """New."""
        return "grown"

    server.add_tool(grown)
    return "ok"


def _key(ctx: Context) -> str:
    meta: Any = ctx.request_context.meta
    return str((meta or {}).get("caesura/idempotency_key"))


if __name__ == "__main__":
    leave(f"pid {os.getpid()}")
    if len(sys.argv) > 2:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run()
