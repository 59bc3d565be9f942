"""Builds the application, and serves it."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import uvloop
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

import caesura
from caesura import resources
from caesura.agents.tools.child import keep_descriptors
from caesura.dialects.artifactflow import routes as artifactflow
from caesura.dialects.native import routes as native
from caesura.dialects.superagent import routes as superagent
from caesura.dialects.threads import routes as threads
from caesura.http import (
    auth,
    docs,
    health,
    logs,
    metrics,
    openapi,
    page,
    sessions,
    tracing,
)
from caesura.http.allocator import return_large_blocks
from caesura.http.body import BodyLimit
from caesura.http.connections import Connections, raise_descriptors, room
from caesura.http.context import Context
from caesura.http.dialect import Dialect
from caesura.http.errors import Errors, Faults
from caesura.http.guard import Guard
from caesura.http.headers import Headers
from caesura.http.root import Root
from caesura.http.server import Server, bind, end_in
from caesura.http.unread import Unread
from caesura.settings import Settings

#: Seconds for tasks and threads to end after the server has stopped.
_LATEST = 5.0
#: Python looks for garbage after this many new objects, after this many of those looks at all that survived
#: them, and after this many of these at everything. Each stream and each row consists of several objects. A
#: look at survivors holds up every stream: 200,000 of them took 30 to 40 ms, 25,000 take up to 8 ms.
_GARBAGE = 5_000, 4, 500
#: Seconds for which a thread that computes keeps the interpreter while another one waits for it. A request
#: beside a diff waits so several times. Switching more often cost streams nothing that could be measured.
_TURN = 0.0005
#: In this order: the first route that matches a path serves it.
DIALECTS: Sequence[Dialect] = (native.DIALECT, threads.DIALECT, artifactflow.DIALECT, superagent.DIALECT)


def create_app(settings: Settings) -> FastAPI:
    """The application. Its lifespan opens its resources, and closes them in reverse order."""
    errors = Errors([dialect.form for dialect in DIALECTS])
    spans = tracing.spans(os.environ)
    app = FastAPI(
        title="Caesura",
        version=caesura.__version__,
        description="A server for agent conversations that can be left, resumed, branched and replayed.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(settings, spans),
        middleware=[
            *([Middleware(Root, path=settings.root_path)] if settings.root_path else []),
            Middleware(Headers, addresses=settings.log_addresses),
            Middleware(
                CORSMiddleware,
                allow_origins=settings.origins,
                allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
                allow_headers=["Authorization", "Content-Type", "Last-Event-ID", *_headers()],
                expose_headers=["X-Request-ID", "X-Error-Code", "Retry-After"],
                max_age=600,
            ),
            Middleware(Faults, errors=errors),
            Middleware(Guard, errors=errors, local=settings.auth == "none", origins=settings.origins),
            Middleware(
                BodyLimit,
                errors=errors,
                uploads=[dialect.uploads for dialect in DIALECTS if dialect.uploads is not None],
                largest_upload=settings.upload_bytes,
            ),
            Middleware(Unread, errors=errors, each=settings.unread_bytes_per_person),
        ],
    )
    errors.install(app)
    own = (auth.router, sessions.router, health.router, metrics.router)
    for router in (*own, *(dialect.router for dialect in DIALECTS)):
        # The routes are added directly. A nested router would cost every request another search.
        app.router.routes.extend(router.routes)
    openapi.install(app, settings.root_path)
    docs.install(app, settings.root_path)
    page.install(app, root=settings.root_path)
    tracing.instrument(app, spans)
    return app


def _headers() -> list[str]:
    return [header for dialect in DIALECTS for header in dialect.headers]


def serve(settings: Settings, ready: Callable[[str], None] = lambda address: None) -> None:
    """Serve until SIGTERM or Ctrl-C. `ready` is called with the address once requests are answered."""
    logs.configure(settings.log_level, settings.log_format)
    raise_descriptors()
    keep_descriptors()
    return_large_blocks()
    sys.setswitchinterval(_TURN)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, ready))
        end_in(_LATEST, 0)


async def _serve(settings: Settings, ready: Callable[[str], None]) -> None:
    listener = bind(settings.host, settings.port)
    with listener:
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            server = server_of(app, settings)
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            _spare_the_collector()
            ready(f"http://{host}:{listener.getsockname()[1]}")
            await server.serve([listener])


def _spare_the_collector() -> None:
    """Exclude everything that is loaded now from garbage collection. It stays for good, and searching it
    again and again would delay streams."""
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    gc.enable()


def server_of(app: FastAPI, settings: Settings) -> Server:
    """A server for an application whose lifespan has begun."""
    context: Context = app.state.context
    connections = Connections(
        room()[0], settings.connections_per_address, settings.trusted_proxies, context.metrics.unwelcome
    )
    context.metrics.connections(connections)
    return Server(
        app,
        drain=context.service.drain,
        abort=context.streams.abort,
        grace=settings.drain,
        silence=settings.stream_ttl,
        patience=settings.request_timeout,
        proxies=settings.trusted_proxies,
        connections=connections,
        addresses=settings.log_addresses,
    )


def _lifespan(settings: Settings, spans: Any) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.context = await resources.open_all(settings, spans, stack)
            yield

    return lifespan
