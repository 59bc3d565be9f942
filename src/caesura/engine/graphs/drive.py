"""Running an operator's own graph from its current state to its end, or to its next question.

The graph is checkpointed at every step, because only the graph knows what its steps do.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.errors import GraphDrained, GraphRecursionError
from langgraph.runtime import RunControl
from langgraph.types import Command, StateSnapshot, StreamMode
from langgraph.types import Interrupt as GraphInterrupt

from caesura.core import events as ev
from caesura.core import fold
from caesura.core.interrupts import GraphRequest, Interrupt
from caesura.core.messages import Message
from caesura.engine import confirmations, history
from caesura.engine.cancellation import strays_fail
from caesura.engine.failures import StepLimit
from caesura.engine.graphs import identity, own_calls, states
from caesura.engine.graphs.own_calls import OwnCalls
from caesura.engine.graphs.questions import Questions, waiting
from caesura.engine.graphs.watcher import Watcher, refs, void
from caesura.engine.run import Released, Run
from caesura.models.langchain import to_langchain
from caesura.store.graph_states import Kept

_MODES: list[StreamMode] = ["messages", "updates"]
_NOTHING = object()


async def advance(run: Run) -> dict[str, Interrupt]:
    """Run the graph. Returns its questions, if any, by the id under which it expects the answer."""
    with identity.place(run.turn).active():
        await states.begin(run)
        async with own_calls.of(run) as calls:
            found = await _advance(run, calls)
        return found | calls.asked


async def leave(run: Run) -> list[Kept]:
    """The state that the turn leaves to those that follow it."""
    return await states.left(run, identity.place(run.turn))


async def _advance(run: Run, calls: OwnCalls) -> dict[str, Interrupt]:
    config: Any = {
        "configurable": {**identity.known(run.turn), "refusals": _refusals(run)},
        "recursion_limit": run.limits.steps,
        "callbacks": [*run.callbacks, calls.started],
    }
    state = None if run.cause == "start" else await _state(run, config)
    if run.cause != "start":
        _void_unknown(run, state)
    questions, begun = Questions(run), _step(state)
    given = await _input(run, state, questions)
    try:
        while given is not _NOTHING:
            found = await _stream(run, given, config)
            asked = await questions.asked(item for item in found if not own_calls.is_own(item))
            if asked or calls.asked or not found:
                return asked
            # All that the graph asks for is always allowed: it goes on, with the steps that are left.
            spent = _step(await _state(run, config)) - begun
            if spent >= run.limits.steps:
                raise _too_long(run)
            config["recursion_limit"] = run.limits.steps - spent
            given = Command(resume=await questions.resumed(found))
    except GraphDrained as error:
        raise Released from error
    except GraphRecursionError as error:
        raise _too_long(run) from error
    return {}


async def _state(run: Run, config: Any) -> StateSnapshot | None:
    """The state of the graph; None if it has not begun with the turn's message."""
    state: StateSnapshot = await run.agent.graph.aget_state(config)
    begun = state.created_at is not None and _step(state) > states.BEFORE_INPUT
    return state if begun else None


def _too_long(run: Run) -> StepLimit:
    return StepLimit(f"the graph did not come to an end in {run.limits.steps} steps")


def _step(state: StateSnapshot | None) -> int:
    """The number of the last step. LangGraph counts from -1, the input."""
    return -1 if state is None else (state.metadata or {}).get("step", -1)


async def _input(run: Run, state: StateSnapshot | None, questions: Questions) -> Any:
    """The input with which the graph continues: its first messages, answers, None to resume, or `_NOTHING` if
    it has ended."""
    if state is None:
        return {"messages": _opening(run)}
    if resume := await questions.resumed(waiting(state.tasks)):
        return Command(resume=resume)
    if bool(state.tasks) or (state.metadata or {}).get("source") == "input":
        return None
    told = _told(run, refs(state.values))
    return {"messages": told} if told else _NOTHING


def _told(run: Run, known: set[str]) -> list[BaseMessage]:
    """The person's answer to a confirmation that the graph asked for in words and that it has not read: a
    graph that has ended begins again with it."""
    given = list(zip(confirmations.trailing(run), reversed(confirmations.given(run)), strict=False))
    named = [(f"answer-{item.interrupt.id}", message.content) for message, item in reversed(given)]
    return [HumanMessage(text, id=name) for name, text in named if name not in known]


def _opening(run: Run) -> list[BaseMessage]:
    """The first messages of the graph. A retry includes what the earlier attempt finished."""
    whole = [item for item in run.transcript.finished if not item.cut]
    done = [item for item in fold.close(whole, run.transcript.running) if item.parent is None]
    said = [*run.history.messages, *history.valid([Message("user", run.turn.content), *done])]
    return to_langchain(replace(item, kept=()) if item.kept else item for item in said)


def _void_unknown(run: Run, state: StateSnapshot | None) -> None:
    """Void the text that the graph will produce again: text that it had not saved when its process died, and
    text from a graph's node that then asked a question, because it restarts from its beginning."""
    known = refs(state.values) if state is not None else set()
    again = void(run, known) if run.cause == "adopt" else list(run.transcript.drafts)
    for call in again:
        run.say(ev.TextVoided(call))


async def _stream(run: Run, given: Any, config: Any) -> list[GraphInterrupt]:
    """Run the graph, and return what it asks."""
    watcher, control = Watcher(run), RunControl()
    asked: dict[str, GraphInterrupt] = {}
    run.control.when_leaving(control.request_drain)
    stream: AsyncGenerator[Any, None] = run.agent.graph.astream(
        given,
        config,
        context=identity.context(run.agent.graph.context_schema, run.turn),
        stream_mode=_MODES,
        subgraphs=True,
        durability="sync",
        control=control,
    )
    with strays_fail(run.is_broken_off):
        async with aclosing(stream) as steps:
            async for _, mode, data in steps:
                run.check()
                if mode == "updates" and "__interrupt__" in data:
                    asked |= {item.id: item for item in data["__interrupt__"]}
                else:
                    await watcher.see(mode, data)
    if not asked:
        await watcher.end()
    return list(asked.values())


def _refusals(run: Run) -> list[dict[str, Any]]:
    """The refusals since the turn began or was retried, in the order of the questions. A graph's node that
    restarts from its beginning finds its earlier refusals here. A retry asks all questions again."""
    return [
        {"interrupt": item.graph_id, "value": item.interrupt.value, "message": item.answer.message}
        for item in run.interrupts
        if item.answer is not None
        and item.answer.decision == "reject"
        and isinstance(item.interrupt, GraphRequest)
        and item.interrupt.id not in run.transcript.ids_before_retry
    ]
