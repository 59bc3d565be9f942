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

from caesura.agents.mcp.listing import LONGEST
from caesura.agents.mcp.shares import Share

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams
    from mcp.shared.message import SessionMessage

#: The key in `_meta` of a list that tells what was left out of it: the names of malformed tools, and how many
#: others.
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
        if not (isinstance(result, dict) and isinstance(result.get("tools"), list)):
            return item
        if isinstance(result.get("_meta"), dict):
            result["_meta"].pop(LEFT_OUT, None)  # that is not for the server to say
        # The result of a call has content.
        if "content" not in result:
            await self._share.run(_sift, result, self._version())
        return item


def _sift(result: dict[str, Any], version: str) -> None:
    """Take what is too much and the malformed tools out of a result, and tell that there. A result that is
    malformed without them keeps the others."""
    tools, beyond = result["tools"][:LONGEST], len(result["tools"][LONGEST:])
    result["tools"] = tools
    if not _fits({**result, "tools": []}, version):
        return
    malformed = []
    if not _fits(result, version):
        # The rest of the result fits, and may be large.
        plain = {key: value for key, value in result.items() if not isinstance(value, dict | list)}
        fits = [_fits({**plain, "tools": [tool]}, version) for tool in tools]
        result["tools"] = [tool for tool, fit in zip(tools, fits, strict=True) if fit]
        malformed = [_name(tool) for tool, fit in zip(tools, fits, strict=True) if not fit]
    if malformed or beyond:
        told = {"malformed": malformed, "beyond": beyond}
        result["_meta"] = {**(result.get("_meta") or {}), LEFT_OUT: told}


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
