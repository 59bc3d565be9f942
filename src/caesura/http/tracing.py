"""Traces, if the extra is installed: OpenTelemetry for requests, Langfuse for model calls."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

logger = logging.getLogger(__name__)


def instrument(app: FastAPI, environ: Mapping[str, str] = os.environ) -> None:
    """Send a trace of each request to `OTEL_EXPORTER_OTLP_ENDPOINT`, if that is set."""
    if not environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return
    if not _installed("opentelemetry.instrumentation.asgi", "otel"):
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    # A stream sends often: no span for each send.
    app.add_middleware(OpenTelemetryMiddleware, tracer_provider=provider, exclude_spans=["send", "receive"])


def callbacks(environ: Mapping[str, str] = os.environ) -> tuple[Any, ...]:
    """Callbacks for model and tool calls: Langfuse, if its keys are set."""
    if not (environ.get("LANGFUSE_PUBLIC_KEY") and environ.get("LANGFUSE_SECRET_KEY")):
        return ()
    if not _installed("langfuse", "langfuse"):
        return ()
    from langfuse.langchain import CallbackHandler

    return (CallbackHandler(),)


def _installed(module: str, extra: str) -> bool:
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        logger.warning(
            "tracing is set up but not installed: in Caesura's own folder, .venv/bin/pip install -e '.[%s]'",
            extra,
        )
    return found
