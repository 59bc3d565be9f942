"""What HTTP tells about one request to an MCP server, besides the answer."""

from __future__ import annotations

from contextvars import Context, ContextVar, copy_context


class Exchange:
    """`refused`: the request named a session, and its status says that it was not taken. `cut`: the stream of
    events that should bring the answer has ended. `fault` is why an answer was not read on."""

    def __init__(self) -> None:
        self.refused = False
        self.cut = False
        self.fault: str | None = None


_CURRENT: ContextVar[Exchange | None] = ContextVar("caesura-mcp-exchange", default=None)


def begin() -> tuple[Exchange, Context]:
    """An exchange, and the context in which its request must be made: the package `mcp` carries the context
    of a request to the task that sends it."""
    exchange, inside = Exchange(), copy_context()
    inside.run(_CURRENT.set, exchange)
    return exchange, inside


def current() -> Exchange:
    """The exchange of the current request. What belongs to no request gets one that nobody reads."""
    return _CURRENT.get() or Exchange()
