"""Observing an operator's own graph: its messages and tool calls become events."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from caesura.core import events as ev
from caesura.core import json_data, outputs
from caesura.core.interrupts import Approval
from caesura.core.messages import Message
from caesura.engine.calls import REFUSED
from caesura.engine.run import Scope
from caesura.engine.speech import counted
from caesura.models.langchain import to_langchain
from caesura.models.langchain_chunks import finish_reason, reasoning_of, text_of, tool_calls, usage_of

#: How the ids of messages begin that a graph is given.
_GIVEN = "given-"


@dataclass(slots=True)
class _Heard:
    """A message that is being streamed, with the task and the graph's node that produce it."""

    call: int
    node: str
    task: str
    usage: dict[str, int] | None = None


class Watcher:
    """Turns the stream of a graph into events. A message is identified by its id: it may arrive in pieces,
    then as a whole, and once more from a subgraph."""

    def __init__(self, scope: Scope) -> None:
        self._scope, self._run = scope, scope.run
        said = self._run.transcript.calls.values()
        self._finished = {ref for ref, message in said if ref and message.parent == scope.parent}
        self._open: dict[str, _Heard] = {}
        self._results = {m.tool_call_id for m in self._run.transcript.finished if m.role == "tool"}

    async def see(self, mode: str, data: Any) -> None:
        if mode == "messages":
            message, about = data
            if isinstance(message, AIMessageChunk):
                self._hear(message, about)
            await self._run.stream.breathe()
            return
        for node, update in data.items():
            for found in _messages(update):
                await self._settle(found, node)
            await self._complete(node)

    async def end(self) -> None:
        """The graph has ended: finish the messages that it streamed but did not keep in its state."""
        for heard in list(self._open.values()):
            await self._complete(heard.node, always=True)

    def _hear(self, chunk: AIMessageChunk, about: dict[str, Any]) -> None:
        ref = chunk.id or ""
        if not ref or ref in self._finished:
            return
        told = ("langgraph_node", "langgraph_checkpoint_ns", "ls_model_name")
        node, task, model = (str(about.get(name) or "") for name in told)
        if reasoning := reasoning_of(chunk):
            call = self._call(ref, node, task, model)
            self._run.say(ev.ReasoningDelta(call, reasoning.replace("\0", "")))
        if text := text_of(chunk):
            self._run.say(ev.TextDelta(self._call(ref, node, task, model), text.replace("\0", "")))
        if ref in self._open:
            self._open[ref].usage = _usage(chunk) or self._open[ref].usage

    async def _complete(self, node: str, always: bool = False) -> None:
        """A graph's node is done: finish the messages that its model streamed but that did not become part of
        the state. While several tasks of the node run at once, the task that ended cannot be identified."""
        said = {ref: heard for ref, heard in self._open.items() if heard.node == node}
        if always or len({heard.task for heard in said.values()}) == 1:
            for ref, heard in said.items():
                del self._open[ref]
                self._finished.add(ref)
                await self._run.record(ev.ModelFinished(heard.call, (), heard.usage))

    async def _settle(self, message: BaseMessage, node: str) -> None:
        if (message.id or "").startswith(_GIVEN):
            return
        if isinstance(message, AIMessage):
            await self._finish(message, node)
        elif isinstance(message, ToolMessage):
            await self._return(message, self._scope.call_id(message.tool_call_id))

    async def _return(self, message: ToolMessage, call_id: str) -> None:
        if call_id in self._results or self._is_journalled(call_id):
            return
        self._results.add(call_id)
        text = outputs.bounded(str(message.text), self._run.limits.tool_output)
        text = self._run.holding.keep(call_id, text)
        agent, parent = self._scope.agent.name, self._scope.parent
        await self._run.record(
            ev.ToolFinished(call_id, message.name or "", text, self._status(message, call_id), agent, parent)
        )

    def _status(self, message: ToolMessage, call_id: str) -> ev.ToolStatus:
        """What came of the call: what a person has decided about it or, if it was made, how it went."""
        decided = [
            item.answer.decision
            for item in self._run.interrupts
            if item.answer is not None
            and isinstance(item.interrupt, Approval)
            and item.interrupt.tool_call_id == call_id
            and item.interrupt.id not in self._run.transcript.ids_before_retry
        ]
        if decided and decided[-1] in ("reject", "respond"):
            return "refused" if decided[-1] == "reject" else "answered"
        return "error" if message.status == "error" else "ok"

    def _is_journalled(self, call_id: str) -> bool:
        """Whether the journal tells of this call. A message with calls may come after they are made: a
        subgraph does not wait for this, and a graph's node may make them before it gives out the message."""
        return call_id in self._run.journal or call_id in self._run.journalled

    async def _finish(self, message: AIMessage, node: str) -> None:
        ref = message.id or ""
        if ref and ref in self._finished:
            return
        heard = ref in self._open
        call = self._call(ref, node, model=str(message.response_metadata.get("model_name") or ""))
        if not heard and (text := text_of(message)):
            self._run.say(ev.TextDelta(call, text.replace("\0", "")))
        self._open.pop(ref, None)
        self._finished.add(ref)
        calls = tuple(self._shown(call) for call in tool_calls(message))
        reason = finish_reason(message)
        await self._run.record(ev.ModelFinished(call, calls, _usage(message), reason))
        agent, parent = self._scope.agent.name, self._scope.parent
        for item in calls:
            if self._is_journalled(item["id"]):
                continue  # it was made before its message came
            self._run.say(ev.ToolStarted(item["id"], item["name"], item["args"], agent, parent))

    def _call(self, ref: str, node: str, task: str = "", model: str = "") -> int:
        if ref not in self._open:
            agent, parent = self._scope.agent.name, self._scope.parent
            if parent is not None:
                self._run.check_steps()  # the steps of the turn, which its agent and all sub-agents share
            self._open[ref] = _Heard(self._run.next_call(), node, task)
            self._run.say(ev.ModelStarted(self._open[ref].call, agent, model, parent, ref))
        return self._open[ref].call

    def _shown(self, call: dict[str, Any]) -> dict[str, Any]:
        """A tool call as its event shows it."""
        shown = _bounded(call)
        return {**shown, "id": self._scope.call_id(shown["id"])}


def given(messages: Iterable[Message]) -> list[BaseMessage]:
    """Messages for a graph, with ids by which they are known when a graph's node returns them once more, as a
    subgraph does. A message has the same id in each turn, so that a subgraph with messages of its own does
    not get it twice."""
    said, seen = list(messages), Counter[str]()
    made = to_langchain(said)
    for item, message in zip(said, made, strict=True):
        told = json_data.dumps(
            [item.role, item.content, item.tool_call_id, [c["id"] for c in item.tool_calls]]
        )
        name = hashlib.sha256(told).hexdigest()[:24]
        seen[name] += 1
        message.id = f"{_GIVEN}{name}-{seen[name]}"
    return made


def _usage(message: AIMessage) -> dict[str, int] | None:
    found = usage_of(message)
    return counted(found) if found is not None else None


def _bounded(call: dict[str, Any]) -> dict[str, Any]:
    """A tool call as plain data. Arguments too large to walk are left out; the graph itself uses them
    unchanged."""
    try:
        json_data.count(call["args"])
    except json_data.Unwieldy as error:
        call = {**call, "args": {REFUSED: f"the arguments are not shown: {error}"}}
    shown: dict[str, Any] = json_data.clean(call)
    return shown


def void(scope: Scope, kept: set[str]) -> list[int]:
    """The model calls whose message is not in the graph's state: after a crash the graph makes them again."""
    said = scope.run.transcript.calls.items()
    lost = [call for call, (ref, message) in said if message.parent == scope.parent and ref not in kept]
    return [*lost, *drafts(scope)]


def drafts(scope: Scope) -> list[int]:
    """The model calls of the graph that have not finished."""
    return [call for call, draft in scope.run.transcript.drafts.items() if draft.parent == scope.parent]


def refs(values: Any) -> set[str]:
    """The ids of all messages in a graph's state."""
    return {message.id for message in _messages(values) if message.id}


def _messages(update: Any, depth: int = json_data.DEEPEST) -> Iterator[BaseMessage]:
    """All messages in a state update. States with messages are not nested deeply, so anything deeper than
    `depth` is ignored."""
    if isinstance(update, BaseMessage):
        yield update
    elif depth and isinstance(update, dict | list | tuple):
        for value in update.values() if isinstance(update, dict) else update:
            yield from _messages(value, depth - 1)
