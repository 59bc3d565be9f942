"""Driving a graph from wherever it is to its end, or to where it asks.

A graph of ours is not checkpointed at every step: every answer of its model stands in the log and every tool
call in the journal, so after a crash it runs again from its last pause and is given what it had, without
asking a model or calling a tool twice. An operator's own graph is checkpointed at every step, because nobody
but the graph knows what its steps do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.errors import GraphDrained
from langgraph.types import Command, StateSnapshot

from caesura.core import events as ev
from caesura.core import fold
from caesura.core.interrupts import Answer, Interrupt, answer_dict
from caesura.engine import foreign, translate
from caesura.engine.run import Run
from caesura.engine.saver import thread_id

_STEPS = 10_000
_NOTHING = object()


class Released(Exception):
    """The run let go of its turn at a step's end: somebody else goes on with it."""


async def advance(run: Run) -> dict[str, Interrupt]:
    """Let the graph work. What it asks then, by the id under which it wants the answer; if anything."""
    thread = thread_id(run.turn.num, run.turn.epoch)
    config: Any = {
        "configurable": {"thread_id": thread},
        "recursion_limit": run.limits.steps if run.agent.foreign else _STEPS,
        "callbacks": list(run.callbacks),
    }
    if run.agent.foreign:
        return await _advance(run, config)
    run.pause = run.agent.saver.gather(thread, fresh=run.cause == "start")
    try:
        return await _advance(run, config)
    finally:
        run.agent.saver.leave(thread)


async def _advance(run: Run, config: Any) -> dict[str, Interrupt]:
    state = None if run.cause == "start" else await run.agent.graph.aget_state(config)
    if state is not None and state.created_at is None:
        state = None
    if run.agent.foreign and run.cause != "start":
        _void_unknown(run, state)
    given = _input(run, state)
    asked = await _stream(run, given, config) if given is not _NOTHING else {}
    # What a person said in between, in words: a graph that begins anew hears it again, in its place.
    for text in [] if asked else _untold(run, state, given):
        asked = await _stream(run, {"messages": [HumanMessage(text)]}, config)
        if asked:
            break
    return asked


def _input(run: Run, state: StateSnapshot | None) -> Any:
    """What the graph needs to go on: the beginning, an answer, a push, or nothing at all."""
    if state is None:
        return {"messages": _opening(run)}
    answers = {item.graph_id: item.answer for item in run.asked if item.answer is not None}
    waiting = {item.id for task in state.tasks for item in task.interrupts}
    resume = {graph_id: _resumed(run, answers[graph_id]) for graph_id in waiting if graph_id in answers}
    if resume:
        return Command(resume=resume)
    pending = bool(state.tasks) or (state.metadata or {}).get("source") == "input"
    return None if pending else _NOTHING


def _opening(run: Run) -> list[BaseMessage]:
    message = HumanMessage(run.turn.content)
    if not run.agent.foreign:
        return [message]
    # Another attempt at an operator's graph begins with what the one before has finished.
    whole = [item for item in run.transcript.finished if not item.cut]
    return [*run.history, message, *translate.to_langchain(fold.close(whole, run.transcript.running))]


def _untold(run: Run, state: StateSnapshot | None, given: Any) -> list[str]:
    told = [message.content for message in run.transcript.finished if message.role == "user"]
    messages = state.values.get("messages", []) if state is not None else given["messages"]
    heard = sum(isinstance(message, HumanMessage) for message in messages)
    return [] if run.agent.foreign else told[heard - 1 :]


def _void_unknown(run: Run, state: StateSnapshot | None) -> None:
    """An operator's graph will say anew what it had not kept when its process died, and what a node had
    said before it asked: the node begins again from its top."""
    known = foreign.refs(state.values) if state is not None else set()
    again = foreign.void(run, known) if run.cause == "adopt" else list(run.transcript.drafts)
    for call in again:
        run.say(ev.TextVoided(call))


async def _stream(run: Run, given: Any, config: Any) -> dict[str, Interrupt]:
    watcher = foreign.Watcher(run) if run.agent.foreign else None
    durability: Literal["sync", "exit"] = "sync" if watcher else "exit"
    asked: dict[str, Interrupt] = {}
    stream: AsyncIterator[Any] = run.agent.graph.astream(
        given,
        config,
        context=None if watcher else run.context(run.agent.name),
        stream_mode=foreign.MODES if watcher else foreign.UPDATES,
        subgraphs=True,
        durability=durability,
        control=run.control.graph,
    )
    try:
        async for _, mode, data in stream:
            if mode == "updates" and "__interrupt__" in data:
                for item in data["__interrupt__"]:
                    asked[item.id] = translate.interrupt(item, run.agent.name, run.agent.foreign)
            elif watcher is not None:
                await watcher.see(mode, data)
    except GraphDrained as error:
        raise Released from error
    if watcher is not None and not asked:
        await watcher.end()
    return asked


def _resumed(run: Run, answer: Answer) -> Any:
    """The answer in the words of who asked: an operator's graph gets the bare value it asked for."""
    return answer.value if run.agent.foreign and answer.decision == "value" else answer_dict(answer)
