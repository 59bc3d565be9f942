"""The loop of an agent of ours: its model speaks, its tools are called, until it calls no more.

The loop keeps nothing. Every answer of the model stands in the log and every tool call in the journal, so
a run begins with the turn's message each time, after a question as after a crash, and is given what it had:
no model is asked and no tool is called twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from caesura.core.interrupts import Interrupt
from caesura.engine import model_calls, tool_calls
from caesura.engine.compiled import Compiled
from caesura.engine.run import Asks, Released, Run, Scope


async def converse(run: Run) -> list[Interrupt]:
    """Work on the turn's message, and on what the person said in between. What is asked then, if anything."""
    scope = Scope(run, run.agent)
    state: list[BaseMessage] = [HumanMessage(run.turn.content)]
    said = [message.content for message in run.transcript.finished if message.role == "user"]
    try:
        await work(scope, state)
        for text in said:
            state.append(HumanMessage(text))
            await work(scope, state)
    except Asks as asks:
        return asks.items
    return []


async def delegate(scope: Scope, agent: Compiled, task: str, call_id: str) -> AIMessage:
    """Let a sub-agent work on a task, under the tool call that asked for it."""
    return await work(Scope(scope.run, agent, call_id), [HumanMessage(task)])


async def work(scope: Scope, state: list[BaseMessage]) -> AIMessage:
    """The agent's last message. All that is said and done on the way is added to `state`."""
    while True:
        scope.run.check()
        if scope.run.control.leaving:
            raise Released
        message = await model_calls.call(scope, state)
        state.append(message)
        if not message.tool_calls:
            return message
        state += await _results(scope, message.tool_calls)


async def _results(scope: Scope, calls: Sequence[ToolCall]) -> list[ToolMessage]:
    """What the calls came to, made at the same time. One that asks does not keep the others from ending. Each
    has a task of its own, also if it is alone: a tool that makes another error of its cancellation must not
    keep the run from being stopped."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_settled(scope, call)) for call in calls]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    outcomes = [task.result() for task in tasks]
    if any(isinstance(outcome, Released) for outcome in outcomes):
        raise Released
    if asked := [item for outcome in outcomes if isinstance(outcome, Asks) for item in outcome.items]:
        raise Asks(asked)
    return [outcome for outcome in outcomes if isinstance(outcome, ToolMessage)]


async def _settled(scope: Scope, call: ToolCall) -> ToolMessage | Asks | Released:
    try:
        return await tool_calls.call(scope, call)
    except (Asks, Released) as outcome:
        return outcome
