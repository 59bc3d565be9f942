"""Running an operator's own graph from its current state to its end, or to its next question: that of the
turn's agent, or that of a sub-agent under its tool call.

The graph is checkpointed at every step, because only the graph knows what its steps do.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.errors import GraphDrained, GraphRecursionError
from langgraph.runtime import RunControl
from langgraph.types import Command, StateSnapshot, StreamMode
from langgraph.types import Interrupt as GraphInterrupt

from caesura.agents.tools.tool import ToolError
from caesura.core import events as ev
from caesura.core import fold, ids
from caesura.core.errors import CaesuraError
from caesura.core.interrupts import GraphRequest, Interrupt
from caesura.core.interrupts import Questions as Form
from caesura.core.messages import Message
from caesura.engine import confirmations, history
from caesura.engine.cancellation import strays_fail
from caesura.engine.failures import GraphChanged, StepLimit
from caesura.engine.graphs import fit, identity, own_calls, states
from caesura.engine.graphs.messages import given, refs
from caesura.engine.graphs.own_calls import OwnCalls
from caesura.engine.graphs.questions import Questions, waiting
from caesura.engine.graphs.watcher import Watcher, drafts, said_inside, void
from caesura.engine.run import AnswersNeeded, Released, Run, Scope
from caesura.store.graph_states import Kept

_MODES: list[StreamMode] = ["messages", "updates", "tasks", "custom"]
_NOTHING = object()


class _Work(NamedTuple):
    """What a graph works on. `remembered` are messages that its subgraphs have already. `state` is None if it
    has not begun."""

    message: str
    remembered: Sequence[BaseMessage]
    state: StateSnapshot | None


async def advance(run: Run) -> dict[str, Interrupt]:
    """Run the graph of the turn's agent. Returns its questions, if any, by the id under which it expects the
    answer."""
    scope = Scope(run, run.agent)
    with identity.place(scope).active():
        await states.begin(run)
        return await _observed(scope, run.turn.content, await states.remembered(run))


async def leave(run: Run) -> list[Kept]:
    """The state that the turn leaves to those that follow it."""
    return await states.left(run, identity.place(Scope(run, run.agent)))


async def delegate(scope: Scope, task: str) -> Message:
    """Let the graph of a sub-agent work on a task, and return its last message. If the graph fails, only the
    call of the sub-agent fails."""
    with identity.place(scope).active():
        try:
            asked = await _observed(scope, task)
            state = await scope.agent.graph.aget_state(_config(scope))
        except (CaesuraError, Released):
            raise
        except Exception:
            _break_off(scope)
            raise
    if asked:
        raise AnswersNeeded(asked)
    return Message("assistant", _last_words(scope, state.values))


async def _observed(
    scope: Scope, message: str, remembered: Sequence[BaseMessage] = ()
) -> dict[str, Interrupt]:
    """Run a graph that works on this message, with the calls of its marked tools."""
    state = None
    if scope.run.cause != "start":
        if scope.run.cause in ("adopt", "resume"):
            waits = await scope.run.database.read(fit.waiting, scope.run.turn.num, scope.parent)
            if not await fit.checked(scope.run.aside, scope.agent.graph, waits):
                if scope.run.cause == "resume" and (
                    again := _again(scope, fit.asked(scope.agent.graph, waits))
                ):
                    return again
                raise GraphChanged
        state = await _state(scope, _config(scope))
        await _void_unknown(scope, state, scope.run.cause == "adopt")
    async with own_calls.of(scope) as calls:
        work = _Work(message, remembered, state)
        found = await _advance(scope, work, calls)
    return found | calls.asked


def _again(scope: Scope, waiting: Collection[str]) -> dict[str, Interrupt]:
    """The questions of a graph that cannot go on with their answers here. Another server has taken these."""
    names = {name.removeprefix(own_calls.OWN) for name in waiting}
    return {
        item.graph_id: replace(item.interrupt, id=ids.interrupt())
        for item in scope.run.interrupts
        if item.interrupt.parent == scope.parent
        and (item.graph_id in names or item.graph_id.partition(":")[0] in names)
    }


async def _advance(scope: Scope, work: _Work, calls: OwnCalls) -> dict[str, Interrupt]:
    run, config = scope.run, _config(scope)
    steps = config["recursion_limit"]
    config["callbacks"] = [*run.callbacks, calls.runs]
    questions, begun = Questions(scope, calls.ids), _step(work.state)
    into = await _input(scope, work, questions)
    if into is _NOTHING and run.cause == "adopt":
        # The server was ended after the last step, perhaps before all of it was told.
        await Watcher(scope, calls, partial(_saved, scope), work.remembered).pause()
    try:
        while into is not _NOTHING:
            found = await _stream(scope, into, config, calls, work.remembered)
            asked = await questions.asked(item for item in found if not own_calls.is_own(item))
            if asked or calls.asked or not found:
                return asked
            # All that the graph asks for is always allowed: it goes on, with the steps that are left.
            state = await _state(scope, config)
            await _void_unknown(scope, state)
            spent = _step(state) - begun
            if spent >= steps:
                raise _too_long(scope, steps)
            config["recursion_limit"] = steps - spent
            into = Command(resume=await questions.resumed(found))
    except GraphDrained as error:
        raise Released from error
    except GraphRecursionError as error:
        raise _too_long(scope, steps) from error
    return {}


async def _state(scope: Scope, config: Any) -> StateSnapshot | None:
    """The state of the graph; None if it has not begun with its message."""
    state: StateSnapshot = await scope.agent.graph.aget_state(config)
    begun = state.created_at is not None and _step(state) > states.BEFORE_INPUT
    return state if begun else None


def _config(scope: Scope) -> Any:
    run, own = scope.run, scope.agent.spec.limits.max_steps
    return {
        "configurable": {**identity.known(scope), "refusals": _refusals(scope)},
        "recursion_limit": run.limits.steps if scope.parent is None else own,
        "callbacks": run.callbacks,
    }


def _too_long(scope: Scope, steps: int) -> Exception:
    if scope.parent is not None:
        return ToolError(f"{scope.agent.name} did not come to an end in {steps} steps")
    return StepLimit(f"the graph did not come to an end in {steps} steps")


def _break_off(scope: Scope) -> None:
    """The graph of a sub-agent has failed, and the turn goes on without it."""
    for call in drafts(scope):
        scope.run.say(ev.TextVoided(call))
    for call_id, begun in list(scope.run.transcript.running.items()):
        if begun.parent == scope.parent:
            ended = ev.ToolFinished(call_id, begun.name, fold.UNKNOWN, "unknown", begun.agent, begun.parent)
            scope.run.say(ended)


def _last_words(scope: Scope, values: Any) -> str:
    """The text of the last message in the graph's state or, if that is not its own, what it said last."""
    said = values.get("messages") if isinstance(values, dict) else None
    last = said[-1] if isinstance(said, list) and said else None
    if isinstance(last, AIMessage | ToolMessage):
        return str(last.text)
    replies = scope.run.replies_of(scope.parent)
    return replies[-1].content if replies else ""


def _step(state: StateSnapshot | None) -> int:
    """The number of the last step. LangGraph counts from -1, the input."""
    return -1 if state is None else (state.metadata or {}).get("step", -1)


async def _input(scope: Scope, work: _Work, questions: Questions) -> Any:
    """The input with which the graph continues: its first messages, answers, None to resume, or `_NOTHING` if
    it has ended."""
    if (state := work.state) is None:
        return {"messages": _opening(scope, work)}
    if resume := await questions.resumed(waiting(state.tasks)):
        return Command(resume=resume)
    if bool(state.tasks) or (state.metadata or {}).get("source") == "input":
        return None
    told = _told(scope.run, refs(state.values)) if scope.parent is None else []
    return {"messages": told} if told else _NOTHING


def _told(run: Run, known: set[str]) -> list[BaseMessage]:
    """The person's answer to a confirmation that the graph asked for in words and that it has not read: a
    graph that has ended begins again with it."""
    answered = list(zip(confirmations.trailing(run), reversed(confirmations.given(run)), strict=False))
    named = [(f"answer-{item.interrupt.id}", message.content) for message, item in reversed(answered)]
    return [HumanMessage(text, id=name) for name, text in named if name not in known]


def _opening(scope: Scope, work: _Work) -> list[BaseMessage]:
    """The first messages of the graph. A retry includes what the earlier attempt finished. A sub-agent sees
    nothing of the conversation but its task."""
    run = scope.run
    whole = [item for item in run.transcript.finished if not item.cut]
    done = [item for item in fold.close(whole, run.transcript.running) if item.parent == scope.parent]
    before = run.history.messages if scope.parent is None else []
    said = [*before, *history.valid([Message("user", work.message), *done])]
    return given((replace(item, kept=()) if item.kept else item for item in said), work.remembered)


async def _void_unknown(scope: Scope, state: StateSnapshot | None, crashed: bool = False) -> None:
    """Void the text that the graph will produce again: text that it had not saved when its process died, and
    text from a graph's node that then asked a question, because it restarts from its beginning. So do all
    nodes of a subgraph without a checkpointer."""
    again = drafts(scope)
    if crashed or (state is not None and said_inside(scope)):
        again = void(scope, state, await scope.agent.graph.checkpointer.ended())
    for call in again:
        scope.run.say(ev.TextVoided(call))


async def _stream(
    scope: Scope, into: Any, config: Any, calls: OwnCalls, remembered: Sequence[BaseMessage]
) -> list[GraphInterrupt]:
    """Run the graph, and return what it asks."""
    run, control, graph = scope.run, RunControl(), scope.agent.graph
    watcher = Watcher(scope, calls, partial(_saved, scope), remembered)
    asked: dict[str, GraphInterrupt] = {}
    stream: AsyncGenerator[Any, None] = graph.astream(
        into,
        config,
        context=identity.context(graph.context_schema, scope),
        stream_mode=_MODES,
        subgraphs=True,
        durability="sync",
        control=control,
    )
    with strays_fail(run.is_broken_off), run.control.when_leaving(control.request_drain):
        async with aclosing(stream) as steps:
            try:
                async for ns, mode, data in steps:
                    run.check()
                    if mode == "updates" and "__interrupt__" in data:
                        asked |= {item.id: item for item in data["__interrupt__"]}
                    else:
                        await watcher.see(mode, data, ns)
            except BaseException:
                calls.seen.close()  # before the stream is closed, which waits for all that waits for this
                raise
    await (watcher.pause() if asked else watcher.end())
    return list(asked.values())


async def _saved(scope: Scope) -> list[BaseMessage]:
    """The messages in the newest checkpoint. What tasks of the present step have given is not among them: it
    would have other ids each time it is read."""
    graph, config = scope.agent.graph, _config(scope)
    if isinstance(graph.channels.get("messages"), DeltaChannel):
        values = (await graph.aget_state(config)).values
    else:
        newest = await graph.checkpointer.aget_tuple(config)
        values = newest.checkpoint["channel_values"] if newest is not None else {}
    said = values.get("messages") if isinstance(values, dict) else getattr(values, "messages", None)
    return [message for message in said or () if isinstance(message, BaseMessage)]


def _refusals(scope: Scope) -> list[dict[str, Any]]:
    """The refusals since the turn began or was retried, in the order of the questions. A graph's node that
    restarts from its beginning finds its earlier refusals here. A retry asks all questions again."""
    found = []
    for item in scope.run.interrupts:
        asked, answer = item.interrupt, item.answer
        before = asked.parent != scope.parent or asked.id in scope.run.transcript.ids_before_retry
        if answer is None or answer.decision != "reject" or asked.tool_call_id or before:
            continue
        if isinstance(asked, GraphRequest | Form):
            value = asked.value if isinstance(asked, GraphRequest) else asked.args
            found.append({"interrupt": item.graph_id, "value": value, "message": answer.message})
    return found
