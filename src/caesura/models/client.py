"""A model at a provider: asks, retries what the provider wants otherwise, and reads the reply."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Any, Protocol

from caesura.core.messages import Message
from caesura.models.endpoint import Endpoint
from caesura.models.failures import ModelError
from caesura.models.line import Exchange
from caesura.models.model import Piece, Schema
from caesura.models.replies import Reply
from caesura.models.sse import BOM, Events

#: The most bytes of a reply that comes in one piece.
_WHOLE = 16 * 1024 * 1024
#: How often a request is changed until the provider takes it.
_REMEDIES = 5


class Speech(Protocol):
    """A provider's protocol. `remedies` are the names of what a request does otherwise than usual, because
    the provider has refused the usual."""

    @property
    def path(self) -> str:
        """Where messages are sent, below the base URL."""

    def body(
        self, messages: Sequence[Message], tools: Sequence[Schema], remedies: Collection[str]
    ) -> dict[str, Any]:
        """The body of a request."""

    def remedy(self, refusal: str, remedies: Collection[str]) -> str | None:
        """What may help against this refusal and was not tried yet."""

    def lasts(self, remedy: str) -> bool:
        """Whether a remedy that helped is for all later requests too."""

    def reply(self, host: str, secrets: tuple[str, ...]) -> Reply:
        """A reply of which nothing has come."""


class Client:
    """A `Model`."""

    def __init__(self, label: str, endpoint: Endpoint, speech: Speech) -> None:
        self._label, self._endpoint, self._speech = label, endpoint, speech
        self._learned: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        return self._label

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        exchange = await self._ask(messages, tools)
        reply = self._speech.reply(self._endpoint.host, self._endpoint.secrets)
        events, data, begun = Events(self._endpoint.unfinished), b"", b""
        try:
            data = await exchange.read()
            while data and not (begun := data.removeprefix(BOM).lstrip()):
                data = await exchange.read()  # some servers send empty lines while the model works
            if data and begun[:1] == b"{":
                data = begun
                for piece in reply.whole(data + await exchange.whole(_WHOLE)):
                    yield piece
            while not reply.ended and reply.failure is None:
                for piece in reply.take(events.feed(data) if data else events.end()):
                    yield piece
                if not data or reply.ended:
                    break
                try:
                    data = await exchange.read()
                except ModelError:
                    if not reply.complete:
                        raise
                    break  # only the end of the stream is missing
            if reply.failure is not None:
                raise reply.failure
            if not reply.complete:
                raise ModelError("broken", f"{self._endpoint.host} ended its reply in the midst")
            exchange.leave()
            for piece in (*reply.rest(), *reply.end()):
                yield piece
        finally:
            exchange.abort()
            events.close()
            # An error that ends this keeps its frame, and is itself kept by the reply that it comes from.
            del reply, data, begun

    async def _ask(self, messages: Sequence[Message], tools: Sequence[Schema]) -> Exchange:
        remedies = self._learned
        while True:
            try:
                exchange = await self._endpoint.post(
                    self._speech.path, self._speech.body(messages, tools, remedies)
                )
            except ModelError as error:
                if error.kind not in ("request", "context") or len(remedies) >= _REMEDIES:
                    raise
                remedy = self._speech.remedy(str(error).lower(), remedies)
                if remedy is None:
                    raise
                remedies |= {remedy}
            else:
                if remedies != self._learned:
                    self._learned |= {remedy for remedy in remedies if self._speech.lasts(remedy)}
                return exchange
