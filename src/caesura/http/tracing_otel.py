"""Runs as spans of OpenTelemetry, with the attributes that its conventions have for generative AI. What
people and models write is left out: it is not for everybody who may see traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from caesura.engine.observers import Ended, ModelBegins, RunBegins, ToolBegins, Watch

#: Where the counts of tokens go.
_USAGE = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}


class OpenTelemetry:
    def __init__(self, provider: Any) -> None:
        self._tracer = provider.get_tracer("caesura")

    def begin(self, run: RunBegins) -> Watch:
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": run.agent,
            "gen_ai.conversation.id": run.conversation_id,
            "caesura.turn.id": run.turn_id,
        }
        # A run outlives the request that began it.
        span = self._tracer.start_span(f"invoke_agent {run.agent}", context=_context(), attributes=attributes)
        return _Span(self._tracer, span)

    def callbacks(self) -> Sequence[Any]:
        return ()


class _Span:
    def __init__(self, tracer: Any, span: Any) -> None:
        self._tracer, self._span = tracer, span

    def begin(self, call: ModelBegins | ToolBegins) -> Watch:
        attributes: dict[str, Any] = {"gen_ai.agent.name": call.agent} if call.agent else {}
        if isinstance(call, ToolBegins):
            name = f"execute_tool {call.name}"
            attributes |= {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": call.name,
                "gen_ai.tool.call.id": call.id,
            }
        else:
            name = f"chat {call.model}"
            attributes |= {"gen_ai.operation.name": "chat", "gen_ai.request.model": call.model}
        span = self._tracer.start_span(name, context=_context(self._span), attributes=attributes)
        return _Span(self._tracer, span)

    def end(self, ended: Ended) -> None:
        for name, count in (ended.usage or {}).items():
            if name in _USAGE:
                self._span.set_attribute(_USAGE[name], count)
        if ended.finish_reason:
            self._span.set_attribute("gen_ai.response.finish_reasons", [ended.finish_reason])
        if ended.failed:
            from opentelemetry.trace import Status, StatusCode

            kind = type(ended.error).__name__ if ended.error is not None else "tool_error"
            self._span.set_attribute("error.type", kind)
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


def _context(span: Any = None) -> Any:
    from opentelemetry.context import Context
    from opentelemetry.trace import set_span_in_context

    return Context() if span is None else set_span_in_context(span, Context())
