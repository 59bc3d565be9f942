"""The HTTP client for MCP servers: what they answer is bounded before it is parsed."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING
from urllib.request import getproxies

from caesura.agents.aside import Aside
from caesura.agents.mcp import exchange, messages
from caesura.agents.mcp.events import events
from caesura.agents.mcp.exchange import Exchange
from caesura.agents.mcp.messages import Unwieldy

if TYPE_CHECKING:
    import httpx2

#: Seconds to connect and to send. What a call may take is the engine's limit.
_SECONDS = 15.0
#: A host that is gone without a word is noticed after some 35 seconds.
_IDLE, _INTERVAL, _PROBES = 15, 5, 4
#: With these a server refuses a session that it does not know. The first is that of the protocol.
_REFUSED = (404, 400)


def client(
    headers: Mapping[str, str],
    aside: Aside,
    refused: Callable[[str], None],
    answered: Callable[[int], None],
) -> httpx2.AsyncClient:
    """`refused` is called with the reason when an answer is not read on, and `answered` with the status of
    each answer."""
    import httpx2

    async def bounded(response: httpx2.Response) -> None:
        answered(response.status_code)
        told = exchange.current()
        told.refused = _is_refused(response)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise httpx2.StreamError("it sent a compressed answer")
        response.stream = _bounded(response, aside, refused, told)

    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **headers},
        timeout=httpx2.Timeout(_SECONDS, read=None),
        event_hooks={"response": [bounded]},
        # A transport of our own would not ask the environment for proxies.
        transport=None if getproxies() else httpx2.AsyncHTTPTransport(socket_options=_keep_alive()),
    )


def _keep_alive() -> list[tuple[int, int, int]]:
    level = socket.IPPROTO_TCP
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    wanted = {
        "TCP_KEEPIDLE": _IDLE,
        "TCP_KEEPINTVL": _INTERVAL,
        "TCP_KEEPCNT": _PROBES,
        "TCP_USER_TIMEOUT": (_IDLE + _INTERVAL * _PROBES) * 1000,  # for what was sent and not received
    }
    for name, value in wanted.items():
        if (option := getattr(socket, name, None)) is not None:
            options.append((level, option, value))
    return options


def _is_refused(response: httpx2.Response) -> bool:
    """Whether a message that names a session was not taken."""
    request = response.request
    return (
        request.method == "POST" and "mcp-session-id" in request.headers and response.status_code in _REFUSED
    )


def _bounded(
    response: httpx2.Response, aside: Aside, refused: Callable[[str], None], told: Exchange
) -> httpx2.AsyncByteStream:
    """The body of an answer: event by event if it is a stream of them, or as a whole."""
    import httpx2

    kind = response.headers.get("content-type", "").lower()
    is_stream = kind.startswith("text/event-stream")
    read = events if is_stream else _whole
    if is_stream:
        response.encoding = "utf-8"  # whatever the server says: in another one nothing would be counted
    given = response.stream
    assert isinstance(given, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous client has no other

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, given: httpx2.AsyncByteStream) -> None:
            self._given = given

        async def __aiter__(self) -> AsyncIterator[bytes]:
            told.cut = False
            try:
                async for part in read(aiter(self._given), aside):
                    yield part
                told.cut = is_stream  # whoever has the answer does not read on
            except Unwieldy as error:
                told.cut, told.fault = is_stream, str(error)
                refused(str(error))
                raise (
                    httpx2.SSEError(str(error)) if is_stream else httpx2.StreamError(str(error))
                ) from error
            except Exception:
                told.cut = is_stream
                raise

        async def aclose(self) -> None:
            await self._given.aclose()

    return Bounded(given)


async def _whole(given: AsyncIterator[bytes], aside: Aside) -> AsyncIterator[bytes]:
    """The body, when all of it has come and was checked."""
    held = bytearray()
    async for chunk in given:
        held += chunk
        messages.check_size(len(held))
    await messages.check(bytes(held), aside)
    yield bytes(held)
