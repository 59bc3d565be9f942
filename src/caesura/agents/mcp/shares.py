"""What the MCP servers of a process have in common, one thread and some memory, and the share of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from caesura.agents.aside import Aside
from caesura.agents.mcp import messages
from caesura.agents.mcp.messages import Unwieldy
from caesura.models.sse import MOST, Unfinished

P = ParamSpec("P")
T = TypeVar("T")

#: The bytes up to which an unfinished message is not counted among those of all servers.
_USUAL = 64 * 1024
_TOO_MUCH = "the unfinished messages of all MCP servers are too large together"


class Commons:
    def __init__(self, most: int = MOST) -> None:
        """`most` is the size that all unfinished messages may have together."""
        self.aside, self.unfinished = Aside("caesura-mcp"), Unfinished(most)

    def share(self) -> Share:
        return Share(self)


class Share:
    """One server's share. It has one piece of work in the thread at a time, so that the others come between
    two pieces, however many it has."""

    def __init__(self, commons: Commons) -> None:
        self._commons, self._turn = commons, asyncio.Lock()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        async with self._turn:
            return await self._commons.aside.run(work, *args, **kwargs)

    def hold(self) -> Held:
        return Held(self._commons.unfinished)


class Held:
    """What has come of a message. Whoever reads it must close this: it is in the way of other messages."""

    def __init__(self, unfinished: Unfinished) -> None:
        self._unfinished, self._counted = unfinished, 0
        self.data = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, data: bytes) -> None:
        self.data += data

    def take(self, end: int, behind: int) -> bytes:
        """What has come up to `end`, without the `behind` bytes that follow it. It counts until `check`."""
        taken = bytes(self.data[:end])
        del self.data[: end + behind]
        return taken

    def check(self) -> None:
        """Raise `Unwieldy` if the message, or all unfinished ones together, are too large."""
        size = len(self.data)
        self._count(size if size > _USUAL else 0)
        messages.check_size(size)
        if self._counted and self._unfinished.held > self._unfinished.most:
            raise Unwieldy(_TOO_MUCH)

    def close(self) -> None:
        self.data = bytearray()
        self._count(0)

    def _count(self, size: int) -> None:
        self._unfinished.held += size - self._counted
        self._counted = size
