"""Graphs without a checkpointer (`compile(checkpointer=False)`) inside of others: LangGraph waits for their
checkpoint, which is never made, because the graph around them stores each of its own."""

from __future__ import annotations

from collections.abc import Generator

from langgraph.pregel._loop import PregelLoop


class _Nothing:
    """What is waited for where there is nothing to wait for."""

    def result(self) -> None:
        return None

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


def allow() -> None:
    """LangGraph sets the attribute with the first checkpoint of a graph that has a checkpointer."""
    PregelLoop._put_checkpoint_fut = _Nothing()  # type: ignore[assignment]
