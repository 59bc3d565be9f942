"""Runs in Langfuse: an agent, and under it its generations and tools."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from caesura.core import messages
from caesura.engine.observers import Ended, ModelBegins, RunBegins, ToolBegins, Watch

#: How Langfuse calls what we count.
_USAGE = {
    "input_tokens": "input",
    "output_tokens": "output",
    "total_tokens": "total",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
    "reasoning_tokens": "output_reasoning",
}


class Langfuse:
    """`client` is a client of Langfuse's own library. It sends from a thread of its own."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def begin(self, run: RunBegins) -> Watch:
        about = {"conversation_id": run.conversation_id, "turn_id": run.turn_id, "user_id": run.user_id}
        return _Observation(
            self._client.start_observation(name=run.agent, as_type="agent", input=run.input, metadata=about)
        )

    def callbacks(self) -> Sequence[Any]:
        if importlib.util.find_spec("langchain_core") is None:
            return ()
        from langfuse.langchain import CallbackHandler

        return (CallbackHandler(),)

    def close(self) -> None:
        """Send what is left."""
        self._client.shutdown()


class _Observation:
    def __init__(self, observation: Any) -> None:
        self._observation = observation

    def begin(self, call: ModelBegins | ToolBegins) -> Watch:
        about = {"agent": call.agent, "parent": call.parent}
        if isinstance(call, ToolBegins):
            made = self._observation.start_observation(
                name=call.name, as_type="tool", input=call.args, metadata={**about, "tool_call_id": call.id}
            )
        else:
            made = self._observation.start_observation(
                name=call.model,
                as_type="generation",
                model=call.model,
                input=[messages.to_dict(item) for item in call.messages],
                metadata={**about, "tools": [tool.name for tool in call.tools]},
            )
        return _Observation(made)

    def end(self, ended: Ended) -> None:
        told: dict[str, Any] = {"output": ended.output}
        if ended.tool_calls:
            told["output"] = {"content": ended.output, "tool_calls": list(ended.tool_calls)}
        if ended.usage is not None:
            told["usage_details"] = {_USAGE.get(name, name): count for name, count in ended.usage.items()}
        if ended.failed:
            told["level"] = "ERROR"
            told["status_message"] = type(ended.error).__name__ if ended.error is not None else ended.output
        self._observation.update(**told)
        self._observation.end()
