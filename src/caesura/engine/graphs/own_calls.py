"""Calls of marked functions and tools that an operator's own graph makes: each goes through the journal.

A graph knows nothing of it: LangChain calls the tool, and gets what the journal has or what the call came to.
If a person must decide first, the graph's node is interrupted as by `interrupt`, and runs again afterwards.
"""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool, ToolException
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime
from langgraph.types import Interrupt as GraphInterruption
from pydantic_core import to_jsonable_python

from caesura.agents.tools.own import declared, journalled
from caesura.agents.tools.own.declared import Declared
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.tool import Action, Tool
from caesura.core import json_data
from caesura.core.interrupts import Approval, Interrupt
from caesura.core.messages import Message
from caesura.engine import interrupts, tool_calls
from caesura.engine.failures import QuestionLimit
from caesura.engine.run import AnswersNeeded, Scope
from caesura.store.tool_calls import ToolCall

#: The longest id of a call that a row takes.
_LONGEST_ID = 200

#: How the ids of interruptions for these calls begin. LangGraph's own ids are hexadecimal.
_OWN = "caesura:"

Outcome = Message | Exception


class Begun(NamedTuple):
    """A tool call that LangChain makes. `id` is None if it was not given a model's call, but arguments."""

    id: str | None
    args: dict[str, Any] | None


class Started(BaseCallbackHandler):
    """Hears from LangChain which tool calls run."""

    run_inline = True

    def __init__(self) -> None:
        self.calls: dict[UUID, Begun] = {}

    @property
    def ignore_llm(self) -> bool:
        return True

    @property
    def ignore_chat_model(self) -> bool:
        return True

    @property
    def ignore_chain(self) -> bool:
        return True

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        tool_call_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.calls[run_id] = Begun(tool_call_id, inputs)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.calls.pop(run_id, None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.calls.pop(run_id, None)


class OwnCalls:
    """The calls of one segment. `asked` is what people must decide about them."""

    def __init__(self, scope: Scope, group: asyncio.TaskGroup) -> None:
        self._scope, self._run, self._group = scope, scope.run, group
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[str, asyncio.Task[Outcome]] = {}
        #: The tool and the arguments of each task, by the id of its call.
        self._made: dict[str, tuple[str, Any]] = {}
        #: How often each call without an id was made in each attempt of a graph's node.
        self._numbers: Counter[tuple[str, int]] = Counter()
        self._threads = scope.agent.threads or OwnThreads()
        #: The tools that were called, by the ids of the objects that are marked.
        self._declared: dict[tuple[int, int], Declared] = {}
        self.started = Started()
        self.asked: dict[str, Interrupt] = {}

    def begun(self) -> Begun | None:
        run_id = getattr(ensure_config().get("callbacks"), "parent_run_id", None)
        return self.started.calls.get(run_id) if run_id is not None else None

    async def make(self, begun: Begun, target: Any, given: Mapping[str, Any]) -> Any:
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

    def _begin(self, begun: Begun, target: Any, given: Mapping[str, Any], done: Future[Outcome]) -> None:
        def ended(task: asyncio.Task[Outcome]) -> None:
            if not task.cancelled():
                done.set_result(task.result())
            else:
                done.cancel()

        try:
            self._task(begun, target, given).add_done_callback(ended)
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits
            done.set_exception(error)

    def _task(self, begun: Begun, target: Any, given: Mapping[str, Any]) -> asyncio.Task[Outcome]:
        """The task of this call. A call that was made in this segment is not made again, for example because
        LangGraph retries its node."""
        tool = self._tool(begun, target, given)
        args = begun.args if begun.args is not None else to_jsonable_python(dict(given), fallback=str)
        call_id = self._call_id(begun, tool, args)
        task = self._tasks.get(call_id)
        if task is not None and task.cancelled():
            self._run.journal[call_id] = ToolCall(call_id, tool.name, args, "begun", None)
            task = None
        if task is None:
            self._run.journalled.add(call_id)
            self._made[call_id] = tool.name, json_data.clean(args)
            wanted = {"id": call_id, "name": tool.name, "args": args}
            task = self._tasks[call_id] = self._group.create_task(self._outcome(tool, wanted))
        return task

    def _call_id(self, begun: Begun, tool: Tool, args: dict[str, Any]) -> str:
        """The id that the model has given to the call, unless it is the id of another call already: whatever
        is known of that one, a decision above all, is not about this one."""
        given = self._scope.call_id(begun.id) if begun.id else ""
        if not 0 < len(given) <= _LONGEST_ID:
            return self._named(begun, tool, args)
        known, wanted = self._known(given), json_data.clean(args)
        same = not known or any(name == tool.name and _fits(wanted, of, tool) for name, of in known)
        return given if same else self._named(begun, tool, args)

    def _known(self, call_id: str) -> list[tuple[str, Any]]:
        """The tools and arguments that are known of the call with this id: what the journal has, what a
        person was shown, and what they have made of it."""
        found = [self._made[call_id]] if call_id in self._made else []
        if (noted := self._run.journal.get(call_id)) is not None:
            found.append((noted.name, noted.args))
        for item in self._run.interrupts:
            asked = item.interrupt
            if isinstance(asked, Approval) and asked.tool_call_id == call_id:
                found.append((asked.name, asked.args))
                if item.answer is not None and item.answer.args is not None:
                    found.append((asked.name, item.answer.args))
        return found

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

    def _named(self, begun: Begun, tool: Tool, args: Mapping[str, Any]) -> str:
        """An id for a call that has none, or one that is too long. It is the same when the graph's node runs
        again and makes the same call."""
        where = ensure_config().get("configurable", {}).get("checkpoint_ns", "")
        told = json_data.dumps([self._scope.parent, begun.id or where, tool.name, args])
        name = hashlib.sha256(told).hexdigest()[:32]
        if begun.id is not None:
            return f"call-{name}"
        attempt = name, _attempt()
        self._numbers[attempt] += 1
        return f"call-{name}-{self._numbers[attempt]}"

    def restart(self) -> None:
        """The graph goes on: nodes that are not done run again from their beginning, with the same calls."""
        self._numbers.clear()

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
        run.journal[call_id] = ToolCall(call_id, tool.name, wanted["args"], "ended", output)
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
            raise GraphInterrupt([GraphInterruption(value=None, id=f"{_OWN}{next(iter(outcome.asked))}")])
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


def _attempt() -> int:
    """How often LangGraph has run this graph's node: after a failure it may run it again."""
    found = getattr(get_runtime(), "execution_info", None)
    return found.node_attempt if found is not None else 1


def _fits(wanted: Mapping[str, Any], known: Mapping[str, Any], tool: Tool) -> bool:
    """Whether these are the same arguments, except for defaults that were filled in."""
    return all(name in known and known[name] == value for name, value in wanted.items()) and all(
        name in wanted or name in tool.defaults for name in known
    )


def is_own(item: GraphInterruption) -> bool:
    """Whether a graph's node was interrupted for a call of these."""
    return item.id.startswith(_OWN)


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
