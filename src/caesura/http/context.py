"""The context of every dialect's routes: the service, and the configuration of this server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from caesura.core.turns import OnDisconnect
from caesura.service.service import Service

if TYPE_CHECKING:
    from caesura.http.auth import Gate
    from caesura.http.limits import Limits
    from caesura.http.metrics import Metrics
    from caesura.http.pagination import Pages
    from caesura.http.sse import EventStreams


@dataclass(frozen=True, slots=True)
class Context:
    service: Service
    gate: Gate
    limits: Limits
    streams: EventStreams
    pages: Pages
    metrics: Metrics
    #: For a dialect whose requests may leave open what happens when the last reader leaves.
    default_on_disconnect: OnDisconnect
    #: The agent of a new conversation in a dialect whose default is a team of agents.
    lead_agent: str
    #: Other web pages that may use this server.
    origins: tuple[str, ...]
    #: What is before every path that a client is told, such as `/caesura`.
    root: str = ""


async def context_of(request: Request) -> Context:
    context: Context = request.app.state.context
    return context


Here = Annotated[Context, Depends(context_of)]
