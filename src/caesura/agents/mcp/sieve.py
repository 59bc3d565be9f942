"""Leaves the tools out of a list that are not described as the protocol demands.

The package `mcp` refuses a list as a whole if one tool in it is malformed. So a list is looked at before the
package reads it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from caesura.agents.mcp.shares import Share

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams
    from mcp.shared.message import SessionMessage

#: The key in `_meta` of a list with the names of the tools that were left out of it.
LEFT_OUT = "caesura/left_out"
_NAMELESS = "one without a name"
_LONGEST_NAME = 100
_METHOD = "tools/list"


@asynccontextmanager
async def sifted(
    transport: AbstractAsyncContextManager[TransportStreams], version: Callable[[], str], share: Share
) -> AsyncIterator[TransportStreams]:
    """The transport. `version` is that of the protocol, which is known before tools are listed."""
    async with transport as (incoming, outgoing):
        yield _Sieve(incoming, version, share), outgoing


class _Sieve:
    """A stream of messages, as the package wants it."""

    def __init__(
        self, given: ReadStream[SessionMessage | Exception], version: Callable[[], str], share: Share
    ) -> None:
        self._given, self._version, self._share = given, version, share

    @property
    def last_context(self) -> Context | None:
        found: Context | None = getattr(self._given, "last_context", None)
        return found

    async def receive(self) -> SessionMessage | Exception:
        return await self._sifted(await self._given.receive())

    async def aclose(self) -> None:
        await self._given.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._sifted(await self._given.__anext__())

    async def __aenter__(self) -> Self:
        await self._given.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._given.__aexit__(kind, error, trace)

    async def _sifted(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        result = getattr(getattr(item, "message", None), "result", None)
        # The result of a call has content.
        if isinstance(result, dict) and isinstance(result.get("tools"), list) and "content" not in result:
            await self._share.run(_sift, result, self._version())
        return item


def _sift(result: dict[str, Any], version: str) -> None:
    """Take the malformed tools out of a result, and name them there. A result that is malformed without them
    stays as it is."""
    meta = result.get("_meta")
    if isinstance(meta, dict):
        meta.pop(LEFT_OUT, None)
    if _fits(result, version) or not _fits({**result, "tools": []}, version):
        return
    kept, left_out = [], []
    for tool in result["tools"]:
        if _fits({**result, "tools": [tool]}, version):
            kept.append(tool)
        else:
            left_out.append(_name(tool))
    result["tools"] = kept
    result["_meta"] = {**(meta or {}), LEFT_OUT: left_out}


def _fits(result: dict[str, Any], version: str) -> bool:
    from mcp_types import ListToolsResult, methods

    try:
        methods.validate_server_result(_METHOD, version, result)
    except KeyError:
        pass  # the package knows no form of it either
    except ValueError:
        return False
    try:
        ListToolsResult.model_validate(result, by_name=False)
    except ValueError:
        return False
    return True


def _name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name[:_LONGEST_NAME] if isinstance(name, str) and name else _NAMELESS
