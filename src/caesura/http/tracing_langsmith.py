"""Runs in LangSmith. They are sent only if the server's settings allow it."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from caesura.core import messages
from caesura.engine.observers import Ended, ModelBegins, RunBegins, ToolBegins, Watch

if TYPE_CHECKING:
    from langsmith.run_trees import RunTree

logger = logging.getLogger(__name__)

_ASK = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2")
#: Variables of an old tracing API: LangChain only raises an error when it sees them.
_GONE = ("LANGCHAIN_TRACING", "LANGCHAIN_HANDLER")


def allow(allowed: bool, environ: MutableMapping[str, str]) -> bool:
    """Whether runs are sent. LangChain sends whole conversations to LangSmith when an environment variable
    says so. Unless the server's settings allow it, the variable is switched off, also for LangChain: it may
    be left over from another program."""
    for name in _GONE:
        environ.pop(name, None)
    asked = [name for name in _ASK if environ.get(name) == "true"]
    if asked and not allowed:
        logger.warning("%s is ignored: nothing is sent to LangSmith without CAESURA_LANGSMITH=true", asked[0])
        environ.update(dict.fromkeys(asked, "false"))
    return bool(asked) and allowed


class LangSmith:
    def begin(self, run: RunBegins) -> Watch:
        from langsmith.run_trees import RunTree  # slow to load, and only with LangChain installed

        return _Tree(_posted(RunTree(name=run.agent, run_type="chain", inputs={"input": run.input})))

    def callbacks(self) -> Sequence[Any]:
        return ()  # LangChain itself sees that it is to send


class _Tree:
    def __init__(self, tree: RunTree) -> None:
        self._tree = tree

    def begin(self, call: ModelBegins | ToolBegins) -> Watch:
        if isinstance(call, ToolBegins):
            made = self._tree.create_child(call.name, "tool", inputs=call.args)
        else:
            told = {"messages": [messages.to_dict(item) for item in call.messages]}
            made = self._tree.create_child(call.model, "llm", inputs=told)
        return _Tree(_posted(made))

    def end(self, ended: Ended) -> None:
        outputs: dict[str, Any] = {"output": ended.output}
        if ended.tool_calls:
            outputs["tool_calls"] = list(ended.tool_calls)
        if ended.usage:
            outputs["usage_metadata"] = ended.usage
        error = type(ended.error).__name__ if ended.error is not None else None
        self._tree.end(outputs=outputs, error=error or ("the call failed" if ended.failed else None))
        self._tree.patch()


def _posted(tree: RunTree) -> RunTree:
    tree.post()
    return tree
