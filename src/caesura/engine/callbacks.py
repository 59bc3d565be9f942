"""Callbacks of a run: LangChain's callbacks see the turn, and under it every model and tool call."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager

import langsmith
from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.tracers.context import _tracing_v2_is_enabled

from caesura.engine.run import Run

logger = logging.getLogger(__name__)

_ASK = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2")
#: Variables of an old tracing API: LangChain only raises an error when it sees them.
_GONE = ("LANGCHAIN_TRACING", "LANGCHAIN_HANDLER")


def allow_langsmith(allowed: bool, environ: MutableMapping[str, str]) -> None:
    """LangChain sends whole conversations to LangSmith when an environment variable says so. Unless the
    server's settings allow it, the variable is ignored: it may be left over from another program."""
    for name in _GONE:
        environ.pop(name, None)
    langsmith.configure(enabled=None if allowed else False)
    asked = [name for name in _ASK if environ.get(name) == "true"]
    if asked and not allowed:
        logger.warning("%s is ignored: nothing is sent to LangSmith without CAESURA_LANGSMITH=true", asked[0])


@asynccontextmanager
async def watched(run: Run) -> AsyncIterator[None]:
    """Call the callbacks when the run begins and ends. Without callbacks this does nothing."""
    if not run.callbacks and not _tracing_v2_is_enabled():
        yield
        return
    manager = AsyncCallbackManager.configure(list(run.callbacks))
    began = await manager.on_chain_start(None, {"input": run.turn.content}, name=run.agent.name)
    run.config = {"callbacks": began.get_child()}
    try:
        yield
    except BaseException as error:
        await began.on_chain_error(error)
        raise
    await began.on_chain_end({"output": run.transcript.text})
