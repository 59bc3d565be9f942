"""Traces, if the extra is installed: OpenTelemetry for requests and runs, Langfuse and LangSmith for runs."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from fastapi import FastAPI

from caesura.core import installs
from caesura.engine.observers import Observer
from caesura.http.tracing_langfuse import Langfuse
from caesura.http.tracing_langsmith import LangSmith
from caesura.http.tracing_otel import OpenTelemetry

logger = logging.getLogger(__name__)

#: Seconds for sending the last traces when the server stops.
_PATIENCE = 3.0


def spans(environ: Mapping[str, str] = os.environ) -> Any:
    """Where spans go: to `OTEL_EXPORTER_OTLP_ENDPOINT`; None if that is not set."""
    if not environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return None
    if not _installed("opentelemetry.instrumentation.asgi", "otel"):
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def instrument(app: FastAPI, provider: Any) -> None:
    """Send a span of each request, if spans go anywhere."""
    if provider is None:
        return
    from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware

    # A stream sends often: no span for each send.
    app.add_middleware(OpenTelemetryMiddleware, tracer_provider=provider, exclude_spans=["send", "receive"])


def observers(environ: Mapping[str, str], provider: Any, langsmith: bool) -> list[Observer]:
    """Who is told of runs, model calls and tool calls. `langsmith` is whether LangSmith may be."""
    found: list[Observer] = []
    if provider is not None:
        found.append(OpenTelemetry(provider))
    keys = environ.get("LANGFUSE_PUBLIC_KEY") and environ.get("LANGFUSE_SECRET_KEY")
    if keys and _installed("langfuse", "langfuse"):
        from langfuse import Langfuse as Client

        found.append(Langfuse(Client()))
    if langsmith and _installed("langsmith", "langchain"):
        found.append(LangSmith())
    return found


async def close(told: Sequence[Observer], provider: Any) -> None:
    """Send what is left. What cannot be sent in a few seconds is lost."""
    work = [provider.shutdown] if provider is not None else []
    work += [observer.close for observer in told if isinstance(observer, Langfuse)]
    if not work:
        return
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def send() -> None:
        for item in work:
            item()
        with suppress(RuntimeError):  # the loop may have ended
            loop.call_soon_threadsafe(done.set)

    # A daemon thread: if it hangs, it does not keep the process alive.
    threading.Thread(target=send, name="caesura-traces", daemon=True).start()
    with suppress(TimeoutError):
        await asyncio.wait_for(done.wait(), _PATIENCE)


def _installed(module: str, extra: str) -> bool:
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        logger.warning("tracing is set up but not installed: %s", installs.add_extra(extra))
    return found
