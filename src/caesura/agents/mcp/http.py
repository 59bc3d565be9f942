"""The HTTP client for MCP servers: what they answer is bounded before it is parsed."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

from caesura.agents.mcp import exchange, messages
from caesura.agents.mcp.allowance import Allowance
from caesura.agents.mcp.events import events
from caesura.agents.mcp.exchange import Exchange
from caesura.agents.mcp.failures import Unreadable
from caesura.agents.mcp.messages import Unwieldy
from caesura.agents.mcp.shares import Held, Share
from caesura.core import json_data

if TYPE_CHECKING:
    import httpx2

Reader = Callable[[AsyncIterator[bytes], Held, Share, Allowance], AsyncIterator[bytes]]

#: Seconds to connect and to send. What a call may take is the engine's limit.
_SECONDS = 15.0
#: Seconds in which a notice must be taken, because the next message waits for it, and in which a stream of
#: events must begin.
_NOTICE, _STREAM = 5.0, 60.0
#: A host that is gone without a word is noticed after some 35 seconds.
_IDLE, _INTERVAL, _PROBES = 15, 5, 4
#: With these a server refuses a session that it does not know. The first is that of the protocol.
_REFUSED = (404, 400)
#: A message of more bytes is a call: what else is sent is short.
_SHORT = 4096
_LEFT = "nobody waits for it any more"


class _Left(Exception):
    """Nobody waits for the answer any more."""


def client(
    headers: Mapping[str, str],
    share: Share,
    allowance: Allowance,
    refused: Callable[[str], None],
    answered: Callable[[int], None],
) -> httpx2.AsyncClient:
    """`refused` is called with the reason when an answer is not read on, and `answered` with the status of
    each answer."""
    import anyio
    import httpx2

    from caesura.agents.mcp import interim

    async def bounded(response: httpx2.Response) -> None:
        answered(response.status_code)
        told = exchange.current()
        told.refused = _is_refused(response)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise httpx2.StreamError("it sent a compressed answer")
        response.stream = _bounded(response, share, allowance, refused, told)

    class Client(httpx2.AsyncClient):
        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            # The notice that a call is cancelled belongs to the same exchange.
            asks = _asks(request)
            if request.method == "POST":
                allowance.send("request" if asks else "other")
            told = exchange.current() if asks else Exchange()
            seconds = _NOTICE if not asks else _STREAM if request.method == "GET" else None
            with told.waiting(), anyio.move_on_after(seconds):
                return await super().send(request, **options)
            # With this status no answer follows. An error would end the session.
            return httpx2.Response(202, request=request)

    # A transport of our own would not ask the environment for proxies.
    own = None if getproxies() else httpx2.AsyncHTTPTransport(socket_options=_keep_alive())
    return Client(
        headers={"accept-encoding": "identity", **headers},
        timeout=httpx2.Timeout(_SECONDS, read=None),
        event_hooks={"response": [bounded]},
        transport=interim.bounded(own) if own is not None else None,
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


def _asks(request: httpx2.Request) -> bool:
    """Whether somebody waits for an answer to this, as for no notice and no end of a session."""
    if request.method != "POST":
        return request.method == "GET"
    if len(request.content) > _SHORT:
        return True
    message = json_data.loads(request.content)
    return isinstance(message, dict) and "method" in message and "id" in message


def _is_refused(response: httpx2.Response) -> bool:
    """Whether a message that names a session was not taken."""
    request = response.request
    return (
        request.method == "POST" and "mcp-session-id" in request.headers and response.status_code in _REFUSED
    )


def _bounded(
    response: httpx2.Response,
    share: Share,
    allowance: Allowance,
    refused: Callable[[str], None],
    told: Exchange,
) -> httpx2.AsyncByteStream:
    """The body of an answer: event by event if it is a stream of them, or as a whole."""
    import httpx2

    kind = response.headers.get("content-type", "").lower()
    is_stream = kind.startswith("text/event-stream")
    request = response.request
    asks = request.method == "POST" and _asks(request) and response.status_code == 200
    read: Reader = events if is_stream else _whole(request if asks else None)
    failure = httpx2.SSEError if is_stream else httpx2.StreamError
    if is_stream:
        response.encoding = "utf-8"  # whatever the server says: in another one nothing would be counted
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous client has no other
    given, held = stream, share.hold()

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            told.cut = False
            try:
                async for part in read(_awaited(given, told), held, share, allowance):
                    yield part
                told.cut = is_stream  # whoever has the answer does not read on
            except Unwieldy as error:
                told.cut, told.fault = is_stream, str(error)
                refused(str(error))
                if request.method == "GET":  # no call fails, so nobody else would say why
                    allowance.exceeded(str(error))
                raise failure(str(error)) from error
            except Unreadable as error:
                told.fault = str(error)
                raise failure(str(error)) from error
            except _Left as error:
                raise failure(_LEFT) from error
            except Exception:
                told.cut = is_stream
                raise
            finally:
                held.close()

        async def aclose(self) -> None:
            held.close()
            await given.aclose()

    return Bounded()


async def _awaited(given: httpx2.AsyncByteStream, told: Exchange) -> AsyncIterator[bytes]:
    """The pieces of a body, as long as somebody waits for it. A stop closes the connection."""
    pieces = aiter(given)
    while True:
        piece: bytes | None = None
        with told.waiting():
            piece = await anext(pieces, None)
        if told.over:
            raise _Left
        if piece is None:
            return
        yield piece


def _whole(question: httpx2.Request | None) -> Reader:
    """A reader that gives the body, when all of it has come and was checked. It has to answer the question,
    if there is one."""

    async def read(
        given: AsyncIterator[bytes], held: Held, share: Share, allowance: Allowance
    ) -> AsyncIterator[bytes]:
        async for chunk in given:
            held.add(chunk)
            held.check()
        body = held.take(len(held.data), 0)
        await messages.check(body, share)
        if question is not None:
            allowance.take(len(body), "answer")
            long = messages.is_long(body)
            if not (await share.run(_answers, body, question) if long else _answers(body, question)):
                raise Unreadable("its answer is not that to the request")
        yield body

    return read


def _answers(body: bytes, question: httpx2.Request) -> bool:
    """Whether this is the answer, or no message at all, which is told elsewhere."""
    try:
        found = json_data.loads(body)
    except ValueError:
        return True
    if not isinstance(found, dict) or "method" in found:
        return not isinstance(found, dict)
    is_message = isinstance(found.get("result"), dict) or isinstance(found.get("error"), dict)
    return not is_message or found.get("id") == json_data.loads(question.content).get("id")
