"""The loop of an agent from a file: call the model, call the tools that it asks for, until it asks for none.

The loop keeps no state of its own. Every reply of the model is in the log and every tool call in the
journal. So each run starts from the turn's message, after a question as after a crash, and replays what is
recorded: no model call and no finished tool call is made twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from caesura.agents.tools.tool import ToolError
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Message
from caesura.engine import confirmations, model_calls, tool_calls
from caesura.engine.agent import Compiled
from caesura.engine.model_calls import Said
from caesura.engine.run import AnswersNeeded, Released, Run, Scope


async def converse(run: Run) -> Mapping[str, Interrupt]:
    """Work on the turn's message, and on the person's later answers. Returns the interrupts that need an
    answer first, if any, by the id under which the agent expects it."""
    scope = Scope(run, run.agent)
    try:
        await work(scope, [Message("user", run.turn.content)])
    except AnswersNeeded as needed:
        return needed.asked
    return {}


async def delegate(scope: Scope, agent: Compiled, task: str, call_id: str) -> Message:
    """Let a sub-agent work on a task, under the tool call that asked for it. The turn's limits hold for it
    too. If it uses up its own steps, only its call fails."""
    inner = Scope(scope.run, agent, call_id)
    if agent.foreign:
        from caesura.engine.graphs import drive  # LangGraph takes half a second to load, and few need it

        return await drive.delegate(inner, task)
    return await work(inner, [Message("user", task)])


async def work(scope: Scope, state: list[Message]) -> Message:
    """Run the loop and return the agent's last message. The messages before it are added to `state`."""
    while True:
        scope.run.check()
        if scope.run.control.leaving:
            raise Released
        _check_steps(scope, state)
        equipped = await scope.equipped()
        said = await model_calls.call(equipped, state)
        state.append(said.message)
        equipped = await scope.calling(equipped, said.message.tool_calls)
        if said.asks and not _asked_anyway(equipped, said.message.tool_calls):
            asked = confirmations.confirmation(scope.run, said.asks, said.message.content)
            raise AnswersNeeded({confirmations.IN_WORDS: asked})
        if said.message.tool_calls:
            state += await _results(equipped, said)
        elif not said.answers:
            return said.message
        state += [Message("user", answered.message) for answered in said.answers]


def _check_steps(scope: Scope, state: Sequence[Message]) -> None:
    """The steps of a sub-agent. Those of the turn are counted in the run, because sub-agents share them."""
    most = scope.agent.spec.limits.max_steps
    if scope.parent is not None and sum(message.role == "assistant" for message in state) >= most:
        raise ToolError(f"{scope.agent.name} did not come to an end in {most} steps")


def _asked_anyway(scope: Scope, calls: Sequence[dict[str, Any]]) -> bool:
    """Whether a person decides about each call of a reply by itself, and the operator wants no form filled
    in: the confirmation that the reply asks for is then one question too many."""
    if not calls or scope.agent.spec.interrupt.fields:
        return False
    return all(tool_calls.is_decided(scope, call) for call in calls)


async def _results(scope: Scope, said: Said) -> list[Message]:
    """The results of a reply's calls. If the person has refused what the reply asked for, none is made."""
    calls = said.message.tool_calls
    if said.answers and said.answers[-1].refuses:
        return [tool_calls.refuse(scope, call) for call in calls]
    return await _made(scope, calls)


async def _made(scope: Scope, calls: Sequence[dict[str, Any]]) -> list[Message]:
    """The results of the calls, which run concurrently. A call that asks a question does not stop the others
    from finishing. Each call has its own task, even a single one: a tool that turns its cancellation into
    another error must not keep the run from being stopped."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_settled(scope, call)) for call in calls]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    outcomes = [task.result() for task in tasks]
    if any(isinstance(outcome, Released) for outcome in outcomes):
        raise Released
    needed = [outcome for outcome in outcomes if isinstance(outcome, AnswersNeeded)]
    if needed:
        raise AnswersNeeded({name: item for outcome in needed for name, item in outcome.asked.items()})
    return [outcome for outcome in outcomes if isinstance(outcome, Message)]


async def _settled(scope: Scope, call: dict[str, Any]) -> Message | AnswersNeeded | Released:
    try:
        return await tool_calls.call(scope, call)
    except (AnswersNeeded, Released) as outcome:
        return outcome
