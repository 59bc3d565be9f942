"""Who watches a run: LangChain's callbacks see the turn, and under it every model and tool call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.tracers.context import _tracing_v2_is_enabled

from caesura.engine.run import Run


@asynccontextmanager
async def watched(run: Run) -> AsyncIterator[None]:
    """Tell the callbacks that the run begins and how it ends; without any, nothing costs anything."""
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
