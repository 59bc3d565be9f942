"""Observing an operator's own graph: its messages and tool calls become events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langgraph.types import StateSnapshot

from caesura.core import events as ev
from caesura.core import json_data, outputs
from caesura.core.interrupts import Approval
from caesura.engine.calls import REFUSED
from caesura.engine.graphs.messages import found_in, id_of, in_other_forms, node_of, refs, was_given
from caesura.engine.run import Scope
from caesura.engine.speech import counted
from caesura.models.langchain_chunks import finish_reason, reasoning_of, text_of, tool_calls, usage_of

#: LangChain's middleware marks with this what it asks a model for itself, such as a summary.
_INTERNAL = "lc_internal_call"

#: Reads the state of the graph that was saved last.
ReadState = Callable[[], Awaitable[StateSnapshot]]


@dataclass(slots=True)
class _Heard:
    """A message that is being streamed, with the task and the graph's node that produce it."""

    call: int
    node: str
    task: str
    usage: dict[str, int] | None = None


class Watcher:
    """Turns the stream of a graph into events. A message is identified by its id: it may arrive in pieces,
    then as a whole, and once more from a subgraph. A graph's node may also give messages in another form,
    without ids: these are read from the state, when they have become part of it."""

    def __init__(self, scope: Scope, read_state: ReadState) -> None:
        self._scope, self._run, self._read_state = scope, scope.run, read_state
        #: The node of the graph itself, not of a subgraph, that is heard now.
        self._top = ""
        #: What models have streamed that was not part of the state when their graph's node was done: a node
        #: around that one may put the same words into a message.
        self._loose: Counter[str] = Counter()
        #: How many messages are to be found in the state, and whether it may have others since a crash.
        self._unread, self._unsure = 0, self._run.cause == "adopt"
        said = self._run.transcript.calls.values()
        self._finished = {id_of(ref) for ref, message in said if ref and message.parent == scope.parent}
        self._open: dict[str, _Heard] = {}
        self._results = {m.tool_call_id for m in self._run.transcript.finished if m.role == "tool"}

    async def see(self, mode: str, data: Any, ns: Sequence[str] = ()) -> None:
        """`ns` names the subgraph from which this comes, by the nodes around it."""
        if mode == "messages":
            message, about = data
            if isinstance(message, AIMessageChunk):
                self._hear(message, about)
            await self._run.stream.breathe()
            return
        if not ns:
            await self.pause()
        for node, update in data.items():
            self._top = node_of(ns[0]) if ns else node
            other = [] if ns else in_other_forms(update)
            for found in () if other else found_in(update):
                await self._settle(found, node)
            await self._complete(node)
            await self._note(other)

    async def pause(self) -> None:
        """The graph is between two steps, asks or has ended."""
        if self._unread or self._unsure:
            self._unsure = False
            await self._read()

    async def end(self) -> None:
        """The graph has ended: finish the messages that it streamed but did not keep in its state."""
        await self.pause()
        for heard in list(self._open.values()):
            await self._complete(heard.node, always=True)

    async def _note(self, found: list[BaseMessage]) -> None:
        """A graph's node has given these messages, not all of them as objects. The state has them when all
        nodes of this step are done. A function with `entrypoint` has no state."""
        if "messages" in self._scope.agent.graph.channels:
            self._unread += sum(isinstance(message, AIMessage | ToolMessage) for message in found)
        elif found:
            await self._say_new(found)

    async def _read(self) -> None:
        values = (await self._read_state()).values
        said = values.get("messages") if isinstance(values, dict) else getattr(values, "messages", None)
        found = [message for message in said or () if isinstance(message, BaseMessage)]
        self._unread = max(self._unread - await self._say_new(found), 0)

    async def _say_new(self, messages: list[BaseMessage]) -> int:
        """Say what was not said yet, and return how much that is. A model may have streamed the same words
        before they came in another message."""
        here, calls = {message.id for message in messages}, self._run.transcript.calls.values()
        mine = [(ref, item) for ref, item in calls if item.parent == self._scope.parent]
        spoken = Counter(item.content for ref, item in mine if id_of(ref) not in here)
        count = 0
        for message in messages:
            known = message.id in self._finished or was_given(message)
            if known or not isinstance(message, AIMessage | ToolMessage):
                continue
            count += 1
            text = text_of(message) if isinstance(message, AIMessage) else ""
            if text and spoken[text]:
                spoken[text] -= 1
                self._finished.add(message.id or "")
            else:
                await self._settle(message, "")
        return count

    def _hear(self, chunk: AIMessageChunk, about: dict[str, Any]) -> None:
        ref = chunk.id or ""
        if not ref or ref in self._finished or _INTERNAL in about:
            return
        told = ("langgraph_node", "langgraph_checkpoint_ns", "ls_model_name")
        node, task, model = (str(about.get(name) or "") for name in told)
        self._top = node_of(task) or node
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
                self._loose[self._run.transcript.calls[heard.call][1].content] += 1

    async def _settle(self, message: BaseMessage, node: str) -> None:
        if was_given(message):
            return
        if isinstance(message, AIMessage):
            await self._finish(message, node)
        elif isinstance(message, ToolMessage):
            await self._return(message, self._scope.call_id(message.tool_call_id))

    async def _return(self, message: ToolMessage, call_id: str) -> None:
        if self._is_journalled(call_id):
            return
        if call_id in self._results:
            call_id = self._another(call_id)
            if call_id not in self._run.transcript.running:
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
        if ref not in self._open and self._loose[text_of(message)] > 0 and not tool_calls(message):
            self._loose[text_of(message)] -= 1
            self._finished.add(ref)
            return
        if ref not in self._open and (twin := self._twin(message, node)) is not None:
            self._open[ref] = self._open.pop(twin)
            self._finished.add(twin)
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

    def _twin(self, message: AIMessage, node: str) -> str | None:
        """The message with the same words that a model has just streamed in this graph's node: a node may put
        the words of its model into a message of its own."""
        text, drafts = text_of(message), self._run.transcript.drafts
        for ref, heard in self._open.items():
            draft = drafts.get(heard.call)
            if text and heard.node == node and draft is not None and "".join(draft.text) == text:
                return ref
        return None

    def _call(self, ref: str, node: str, task: str = "", model: str = "") -> int:
        if ref not in self._open:
            agent, parent = self._scope.agent.name, self._scope.parent
            if parent is not None:
                self._run.check_steps()  # the steps of the turn, which its agent and all sub-agents share
            self._open[ref] = _Heard(self._run.next_call(), node, task)
            self._run.say(ev.ModelStarted(self._open[ref].call, agent, model, parent, f"{self._top}:{ref}"))
        return self._open[ref].call

    def _shown(self, call: dict[str, Any]) -> dict[str, Any]:
        """A tool call as its event shows it."""
        shown = _bounded(call)
        return {**shown, "id": self._another(self._scope.call_id(shown["id"]))}

    def _another(self, call_id: str) -> str:
        """The id under which a call is told. Some models give the first call of each reply the same id."""
        told, number = call_id, 1
        while told in self._results:
            number += 1
            told = f"{call_id}-{number}"
        return told


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


def void(scope: Scope, state: StateSnapshot | None) -> list[int]:
    """The model calls that the graph makes again after a crash: those of its nodes that run again, unless
    their message is in the graph's state."""
    kept = refs(state.values) if state is not None else set()
    lost = [
        call
        for call, (ref, message) in scope.run.transcript.calls.items()
        if message.parent == scope.parent
        and id_of(ref) not in kept
        and (state is None or node_of(ref) in (*state.next, ""))
    ]
    return [*lost, *drafts(scope)]


def drafts(scope: Scope) -> list[int]:
    """The model calls of the graph that have not finished."""
    return [call for call, draft in scope.run.transcript.drafts.items() if draft.parent == scope.parent]
