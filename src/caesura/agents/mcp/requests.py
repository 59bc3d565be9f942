"""What is asked of an MCP server over an open session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from caesura.agents.mcp import listing
from caesura.agents.mcp.listing import Listed
from caesura.agents.mcp.sieve import LEFT_OUT
from caesura.agents.tools.tool import ToolError

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import CallToolResult, ErrorData

_MOST_PAGES = 20
_LONGEST_PROGRESS = 500
#: The codes with which servers say that they do not know a session.
_NO_SESSION = (-32600, -32000, -32001)
#: The codes of an unknown method or tool, and of arguments that do not fit.
_NOT_CALLED = (-32601, -32602)
#: What the package `mcp` says about a connection that has ended, and about an answer that it cannot read.
_CLOSED, UNREADABLE = "Connection closed", "Failed to parse"
#: The key of a call in its `_meta`: the same after a crash.
KEY = "caesura/idempotency_key"


async def call(
    client: ClientSession, tool: str, arguments: dict[str, Any], key: str, show: Callable[[str], None]
) -> CallToolResult:
    """The result of a tool. `show` is told what the server says about its progress."""
    from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, InputRequiredResult
    from pydantic import TypeAdapter

    params = CallToolRequestParams.model_validate({"name": tool, "arguments": arguments, "_meta": {KEY: key}})
    either: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
        CallToolResult | InputRequiredResult
    )
    # `call_tool` would check the result against the server's own schema, which may take any time.
    request = CallToolRequest(params=params)
    found = await client.send_request(request, either, progress_callback=_teller(show))
    if isinstance(found, InputRequiredResult):
        raise ToolError("Not done: the tool asks for more input while it works, which is not supported.")
    return found


def _teller(show: Callable[[str], None]) -> ProgressFnT:
    async def told(progress: float, total: float | None, message: str | None) -> None:
        count = f"{progress:g}" if total is None else f"{progress:g} / {total:g}"
        show(f"{message[:_LONGEST_PROGRESS]} ({count})" if message else count)

    return told


async def nothing(client: ClientSession) -> None:
    """Asks nothing: whoever waits for it waits for the session to be open."""


async def ping(client: ClientSession) -> None:
    """Whether the server answers at all. Also a refusal is an answer."""
    await client.send_ping()


async def tools(client: ClientSession) -> Listed:
    from mcp.shared.exceptions import MCPError
    from mcp_types import METHOD_NOT_FOUND, PaginatedRequestParams

    found = Listed([], [])
    beyond = 0
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(_MOST_PAGES):
        params = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        try:
            page = await client.list_tools(params=params)
        except MCPError as error:
            if error.error.code == METHOD_NOT_FOUND:
                return found  # a server without tools
            raise
        room = listing.LONGEST - len(found.tools)
        found.tools.extend(page.tools[:room])
        left_out = (page.meta or {}).get(LEFT_OUT) or {}
        found.malformed.extend(left_out.get("malformed", ()))
        beyond += len(page.tools[room:]) + left_out.get("beyond", 0)
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found.tools) > listing.MOST:
            break
        seen.add(cursor)
    return found._replace(beyond=beyond)


def is_closed(error: Exception, cut: bool) -> bool:
    """Whether a request failed because the connection did, or the stream of its answer was cut. Servers use
    the same code for errors of their own."""
    from mcp_types import CONNECTION_CLOSED

    found = _error(error)
    return found is not None and found.code == CONNECTION_CLOSED and (cut or found.message == _CLOSED)


def is_unreadable(error: Exception) -> bool:
    """Whether the answer to a request could not be read."""
    from mcp_types import PARSE_ERROR

    found = _error(error)
    return found is not None and found.code == PARSE_ERROR and found.message.startswith(UNREADABLE)


def is_refused(error: Exception) -> bool:
    """Whether an error says that the server does not know the session. It counts only if HTTP says so too: a
    tool may speak of any session."""
    found = _error(error)
    return found is not None and found.code in _NO_SESSION and "session" in found.message.lower()


def is_answer(error: Exception) -> bool:
    """Whether the server has said something."""
    from pydantic import ValidationError

    return _error(error) is not None or isinstance(error, ValidationError)


def has_done_nothing(error: Exception) -> bool:
    """Whether the error means that no tool was called."""
    found = _error(error)
    return found is not None and found.code in _NOT_CALLED


def _error(error: Exception) -> ErrorData | None:
    from mcp.shared.exceptions import MCPError

    return error.error if isinstance(error, MCPError) else None
