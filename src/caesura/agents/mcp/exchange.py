"""What HTTP tells about one request to an MCP server, besides the answer."""

from __future__ import annotations

from contextvars import Context, ContextVar, copy_context
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio import CancelScope


class Exchange:
    """`refused`: the request named a session, and its status says that it was not taken. `cut`: the stream of
    events that should bring the answer has ended. `fault` is why an answer was not read on. `over`: nobody
    waits for the answer any more."""

    def __init__(self) -> None:
        self.refused = False
        self.cut = False
        self.fault: str | None = None
        self.over = False
        self.scopes: set[CancelScope] = set()

    def waiting(self) -> Waiting:
        """What is awaited inside is left when nobody waits for the answer any more."""
        return Waiting(self)

    def end(self) -> None:
        self.over = True
        for scope in self.scopes:
            scope.cancel()


class Waiting:
    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def __enter__(self) -> None:
        from anyio import CancelScope

        self._scope = CancelScope()
        self._scope.__enter__()
        self._exchange.scopes.add(self._scope)
        if self._exchange.over:
            self._scope.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._exchange.scopes.discard(self._scope)
        return self._scope.__exit__(kind, error, trace)


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
