"""Metrics for Prometheus: updated once per commit, never per token."""

from __future__ import annotations

from collections.abc import Sequence, Sized

from fastapi import APIRouter, Request, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from caesura.core import events as ev
from caesura.core.errors import (
    CaesuraError,
    StorageFull,
    TooManyConversations,
    TooManyQuestions,
    TooManyRuns,
    TooMuchUnread,
    Unavailable,
    WorkspacesFull,
)
from caesura.http.connections import Standing
from caesura.http.context import context_of
from caesura.http.late import PlainRoute
from caesura.http.limits import KINDS
from caesura.http.sse import EventStreams
from caesura.log.stream import Batch
from caesura.service.service import Service

_COMMIT = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
_FIRST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_DELTAS = (ev.TextDelta, ev.ReasoningDelta, ev.CallDelta)
_OUTCOMES: dict[type[ev.Event], str] = {
    ev.Finished: "finished",
    ev.Failed: "failed",
    ev.Stopped: "stopped",
    ev.Interrupted: "interrupted",
}

_LIMITS = (
    TooManyRuns,
    TooManyQuestions,
    TooManyConversations,
    StorageFull,
    TooMuchUnread,
    WorkspacesFull,
)

router = APIRouter(tags=["health"], route_class=PlainRoute)


class Metrics:
    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self._outcomes = Counter(
            "caesura_turns", "Segments by what they came to", ["outcome"], registry=registry
        )
        self._tokens = Counter("caesura_tokens", "Tokens, as models count them", ["kind"], registry=registry)
        self._events = Counter("caesura_events", "Events that were written", registry=registry)
        self._commit = Histogram(
            "caesura_commit_seconds", "How long a commit takes", buckets=_COMMIT, registry=registry
        )
        self._first = Histogram(
            "caesura_first_token_seconds",
            "From the beginning of a segment to its first words",
            buckets=_FIRST,
            registry=registry,
        )
        self._running = Gauge("caesura_runs_running", "Turns this process works on", registry=registry)
        self._streams = Gauge("caesura_streams_open", "Streams that are being read here", registry=registry)
        self._queued = Gauge("caesura_turns_queued", "Turns that wait for a process", registry=registry)
        self._waiting = Gauge(
            "caesura_interrupts_waiting", "Questions that wait for a person", registry=registry
        )
        self._refused = Counter(
            "caesura_requests_refused", "Requests over a rate, by kind", ["kind"], registry=registry
        )
        self._connections = Gauge(
            "caesura_connections_open", "Connections of clients to this process", registry=registry
        )
        self._unwelcome = Counter(
            "caesura_connections_refused",
            "Connections above a bound, of one address or of the server",
            ["bound"],
            registry=registry,
        )
        self._over_share = Counter(
            "caesura_share_refused", "Requests over a person's share", ["limit"], registry=registry
        )
        self._history = Gauge(
            "caesura_history_bytes", "Conversations that are kept in memory here", registry=registry
        )
        for limit in _LIMITS:
            self._over_share.labels(limit.code)
        self._begun: dict[int, int] = {}
        for outcome in _OUTCOMES.values():
            self._outcomes.labels(outcome)
        for kind in KINDS:
            self._refused.labels(kind)
        for standing in (Standing.GREEDY, Standing.CROWDED):
            self._unwelcome.labels(standing.value)

    def refused(self, kind: str) -> None:
        """Count a request that exceeded a rate."""
        self._refused.labels(kind).inc()

    def connections(self, open_: Sized) -> None:
        """Report the number of open connections."""
        self._connections.set_function(lambda: len(open_))

    def unwelcome(self, bound: str) -> None:
        """Count a connection that exceeded a limit."""
        self._unwelcome.labels(bound).inc()

    def committed(self, seconds: float, batches: Sequence[Batch]) -> None:
        self._commit.observe(seconds)
        self._events.inc(sum(len(batch.envelopes) for batch in batches))
        for batch in batches:
            turn = batch.stream.turn
            for _, at, event in batch.envelopes:
                kind = type(event)
                if kind not in _DELTAS:
                    self._count(turn, at, event)
                elif turn in self._begun:
                    self._first.observe(max(at - self._begun.pop(turn), 0) / 1000)

    def over_share(self, error: CaesuraError) -> None:
        self._over_share.labels(error.code).inc()

    def _count(self, turn: int, at: int, event: ev.Event) -> None:
        if isinstance(event, ev.RunStarted):
            self._begun[turn] = at
        elif isinstance(event, ev.ModelFinished):
            for kind in ("input_tokens", "output_tokens"):
                # A provider may report anything, and a counter does not accept negative numbers.
                self._tokens.labels(kind.removesuffix("_tokens")).inc(
                    max((event.usage or {}).get(kind, 0), 0)
                )
        elif outcome := _OUTCOMES.get(type(event)):
            self._begun.pop(turn, None)
            self._outcomes.labels(outcome).inc()

    async def text(self, service: Service, streams: EventStreams) -> bytes:
        self._running.set(service.running)
        self._streams.set(len(streams))
        self._history.set(service.history_size)
        try:
            figures = await service.figures()
        except Unavailable:
            pass  # metrics of this process are useful anyway, then most of all
        else:
            self._queued.set(figures.turns_queued)
            self._waiting.set(figures.interrupts_waiting)
        return generate_latest(self.registry)


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "For Prometheus", "content": {"text/plain": {"schema": {"type": "string"}}}}
    },
)
async def metrics(request: Request) -> Response:
    here = await context_of(request)
    text = await here.metrics.text(here.service, here.streams)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
