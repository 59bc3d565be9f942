"""Calls of marked functions and tools that an operator's own graph makes: each goes through the journal.

A graph knows nothing of it: LangChain calls the tool, and gets what the journal has or what the call came to.
If a person must decide first, the graph's node is interrupted as by `interrupt`, and runs again afterwards.
"""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt as GraphInterruption
from pydantic_core import to_jsonable_python

from caesura.agents.tools.own import declared, journalled
from caesura.agents.tools.own.declared import Declared
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.tool import Action, Tool
from caesura.core import json_data
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Message
from caesura.engine import interrupts, tool_calls
from caesura.engine.failures import QuestionLimit
from caesura.engine.graphs.call_ids import CallIds
from caesura.engine.graphs.runs import Begun, NodeRun, Runs
from caesura.engine.graphs.saver import Place
from caesura.engine.run import AnswersNeeded, Scope
from caesura.store.tool_calls import ToolCall

#: How the ids of interruptions for these calls begin. LangGraph's own ids are hexadecimal.
OWN = "caesura:"

T = TypeVar("T")
Outcome = Message | Exception


class OwnCalls:
    """The calls of one segment. `asked` is what people must decide about them."""

    def __init__(self, scope: Scope, group: asyncio.TaskGroup) -> None:
        self._scope, self._run, self._group = scope, scope.run, group
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[str, asyncio.Task[Outcome]] = {}
        self._threads = scope.agent.threads or OwnThreads()
        #: The tools that were called, by the ids of the objects that are marked.
        self._declared: dict[tuple[int, int], Declared] = {}
        self.seen = Place.current().seen
        self.ids, self.runs = CallIds(scope), Runs(scope.run.transcript.retries, self._check, self.seen)
        self.asked: dict[str, Interrupt] = {}

    def begun(self) -> Begun | None:
        return self.runs.begun()

    async def make(self, begun: Begun, target: Any, given: Mapping[str, Any]) -> Any:
        await self._caught_up(begun)
        return self._told(await self._task(begun, target, given), begun, target)

    def make_in_thread(self, begun: Begun, target: Any, given: Mapping[str, Any]) -> Any:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            done: Future[Outcome] = Future()
            copied = contextvars.copy_context()
            self._loop.call_soon_threadsafe(self._begin, begun, target, given, done, context=copied)
            return self._told(done.result(), begun, target)
        raise RuntimeError("a tool is called on the event loop, which it would block: await its ainvoke")

    async def call(self, tool: Tool, args: Mapping[str, Any]) -> Message:
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("another event loop runs here: await this in a graph's node that is async")
        node, plain = self.runs.here(), json_data.clean(args)
        outcome = await self._once(self._id(None, tool, plain, node), tool, plain, node)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def read(self, work: Callable[..., T], *args: Any) -> T:
        return await self._run.database.read(work, self.conversation_id, *args)

    @property
    def conversation_id(self) -> str:
        return self._run.turn.conversation_id

    def _begin(self, begun: Begun, target: Any, given: Mapping[str, Any], done: Future[Outcome]) -> None:
        async def make() -> None:
            try:
                await self._caught_up(begun)
                done.set_result(await self._task(begun, target, given))
            except asyncio.CancelledError:
                done.cancel()
                raise
            except Exception as error:  # noqa: BLE001 - raised in the thread that waits
                done.set_exception(error)

        self._group.create_task(make())

    def _check(self, node: str, state: Any) -> None:
        """`QuestionLimit` if middleware would ask for too many decisions. LangChain needs milliseconds for
        each, in which nothing else runs."""
        reviewed = self._scope.agent.reviewed.get(node)
        said = state.get("messages") if isinstance(state, Mapping) else None
        if reviewed and isinstance(said, list) and said:
            names = [call["name"] for call in getattr(said[-1], "tool_calls", ())]
            interrupts.check_count(self._run, sum(name in reviewed for name in names))

    async def _caught_up(self, begun: Begun) -> None:
        """Wait until the message with this call is told. A subgraph does not wait for that by itself."""
        path = self.runs.node(begun).path
        if begun.id is not None and path:
            await self.seen.begun(path[-1])

    def _task(self, begun: Begun, target: Any, given: Mapping[str, Any]) -> asyncio.Task[Outcome]:
        """The task of this call. A call that was made in this segment is not made again, for example because
        LangGraph retries its node."""
        tool = self._tool(begun, target, given)
        args = begun.args if begun.args is not None else to_jsonable_python(dict(given), fallback=str)
        node = self.runs.node(begun)
        return self._once(self._id(begun.id, tool, args, node), tool, args, node)

    def _id(self, given: str | None, tool: Tool, args: dict[str, Any], node: NodeRun) -> str:
        """The id of this call, to which a model may have given one."""
        named = self._named(given, tool, args, node)
        taken = self.ids.take_over(named, tool.name, args, tool.repeatable)
        return taken or self.ids.make(given or "", tool.name, args, tool.defaults, node) or named

    def _once(self, call_id: str, tool: Tool, args: dict[str, Any], node: NodeRun) -> asyncio.Task[Outcome]:
        place = self.ids.place(call_id) or node.place
        task = self._tasks.get(call_id)
        if task is not None and task.cancelled():
            self._run.journal[call_id] = ToolCall(call_id, tool.name, args, "begun", None, place)
            task = None
        if task is None:
            self._run.journalled.add(call_id)
            wanted = {"id": call_id, "name": tool.name, "args": args, "place": place}
            task = self._tasks[call_id] = self._group.create_task(self._outcome(tool, wanted))
        return task

    def _tool(self, begun: Begun, target: Any, given: Mapping[str, Any]) -> Tool:
        key = id(getattr(target, "__func__", target)), id(getattr(target, "__self__", None))
        if key not in self._declared:
            self._declared[key] = declared.read(target)
        tool = self._declared[key].tool(self._threads)
        known = begun.args or {}
        injected = {name: value for name, value in given.items() if name not in known}
        if not isinstance(target, BaseTool) or not injected:
            return tool
        action = tool.action
        with_injected = Action(
            lambda args: action.function({**args, **injected}), action.description, action.parameters
        )
        return replace(tool, action=with_injected)

    def _named(self, given: str | None, tool: Tool, args: Mapping[str, Any], node: NodeRun) -> str:
        """A name for the call, and its id if it has none that can be used. It is the same when the graph's
        node runs again and makes the same call."""
        told = json_data.dumps([self._scope.parent, given, node.where, tool.name, args])
        name = hashlib.sha256(told).hexdigest()[:32]
        node.numbers[name] += 1
        return f"call-{name}-{node.numbers[name]}"

    async def _outcome(self, tool: Tool, wanted: dict[str, Any]) -> Outcome:
        run, owner = self._run, self._scope.agent
        agent = replace(owner, tools={tool.name: tool}, permissions={tool.name: tool.permission})
        try:
            message = await tool_calls.call(replace(self._scope, agent=agent), wanted)
        except AnswersNeeded as needed:
            # Here, because the node may be over: LangGraph does not wait for all calls of a node.
            self.asked |= needed.asked
            return self._within_limit(needed)
        except Exception as error:  # noqa: BLE001 - raised in the graph's node
            return error
        call_id, output = wanted["id"], {"text": message.content, "status": message.status}
        run.journal[call_id] = ToolCall(call_id, tool.name, wanted["args"], "ended", output, wanted["place"])
        return message

    def _within_limit(self, needed: AnswersNeeded) -> Outcome:
        """The error ends the graph with the first question too many. LangGraph looks at all calls whenever
        one of them has ended, so the time of thousands of questions would grow with their square."""
        try:
            interrupts.check_count(self._run, len(self.asked))
        except QuestionLimit as error:
            return error
        return needed

    def _told(self, outcome: Outcome, begun: Begun, target: Any) -> Any:
        """What LangChain gets."""
        if isinstance(outcome, AnswersNeeded):
            raise GraphInterrupt([GraphInterruption(value=None, id=f"{OWN}{next(iter(outcome.asked))}")])
        if isinstance(outcome, Exception):
            raise outcome
        fine = outcome.status in ("ok", "answered")
        if begun.id is None and not fine:
            raise ToolException(outcome.content)
        told: Any = outcome.content
        if begun.id is not None:
            status = "success" if fine else "error"
            told = ToolMessage(told, tool_call_id=begun.id, name=outcome.name, status=status)
        return (told, None) if getattr(target, "response_format", "") == "content_and_artifact" else told


def is_own(item: GraphInterruption) -> bool:
    """Whether a graph's node was interrupted for a call of these."""
    return item.id.startswith(OWN)


@asynccontextmanager
async def of(scope: Scope) -> AsyncIterator[OwnCalls]:
    """The calls of the graph that runs here. Ends when they have ended."""
    try:
        async with asyncio.TaskGroup() as group:
            calls = OwnCalls(scope, group)
            with journalled.active(calls):
                yield calls
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
