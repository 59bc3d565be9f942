"""Why an MCP server could not be used, as the agent and the log are told: never with an address or a key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from caesura.agents.mcp.messages import Unwieldy


class Away(Exception):
    """The server cannot be used now; the message says why."""


class Forgotten(Away):
    """The server does not know the session any more, and has not taken the request."""


class Unreadable(ValueError):
    """The server has answered with something that cannot be read; the message says what is wrong."""


def reason(error: BaseException) -> str:
    """Why a connection could not be opened or has ended. The text of a foreign error may contain an address
    or a header, so only known kinds are told in more detail."""
    for item in _leaves(error):
        if (known := _known(item)) is not None:
            return known
    return "its connection failed"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for item in error.exceptions:
            yield from _leaves(item)
        return
    yield error
    if error.__cause__ is not None:
        yield from _leaves(error.__cause__)


def _known(error: BaseException) -> str | None:
    from httpx2 import ConnectError, ConnectTimeout, TransportError
    from mcp.shared.exceptions import MCPError

    match error:
        case Away() | Unwieldy() | Unreadable():
            return str(error)
        case FileNotFoundError():
            return "its command was not found"
        case PermissionError():
            return "its command may not be run"
        case ConnectTimeout() | asyncio.CancelledError() | TimeoutError():
            return "it did not answer in time"
        case ConnectError():
            return "it cannot be reached"
        case TransportError():
            return "its connection broke"
        case MCPError():
            return f"it answered with an error: {error.error.message}"
        case OSError():
            return "its process could not be started or spoken to"
        case ValueError():
            return "it does not speak the protocol"
        case _:
            return None
