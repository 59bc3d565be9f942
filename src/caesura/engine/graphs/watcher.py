"""Observing an operator's own graph: its messages and tool calls become events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langgraph.types import StateSnapshot

from caesura.core import events as ev
from caesura.core import json_data, outputs
from caesura.core.interrupts import Approval, Questions
from caesura.engine.calls import REFUSED
from caesura.engine.graphs.call_ids import Reply
from caesura.engine.graphs.messages import after_replies, found_in, in_other_forms, refs, was_given
from caesura.engine.graphs.own_calls import OwnCalls
from caesura.engine.graphs.said import Said
from caesura.engine.graphs.tasks import SAVED, id_of, ref_of, runs_again, tasks_of
from caesura.engine.graphs.written import Written
from caesura.engine.run import Scope
from caesura.engine.speech import counted
from caesura.models.langchain_chunks import finish_reason, reasoning_of, text_of, tool_calls, usage_of

#: LangChain's middleware marks with this what it asks a model for itself, such as a summary.
_INTERNAL = "lc_internal_call"

#: Reads the messages that the graph has saved last.
ReadSaved = Callable[[], Awaitable[list[BaseMessage]]]


@dataclass(slots=True)
class _Heard:
    """A message that is being streamed, with the tasks that produce it: one of the graph, and those of the
    subgraphs in it."""

    call: int
    path: tuple[str, ...]
    usage: dict[str, int] | None = None


class Watcher:
    """Turns the stream of a graph into events. A message is identified by its id: it may arrive in pieces,
    then as a whole, and once more from a subgraph. A graph's node may also give messages in another form,
    without ids: these are read from the state, when they have become part of it."""

    def __init__(
        self, scope: Scope, calls: OwnCalls, read_saved: ReadSaved, remembered: Sequence[BaseMessage] = ()
    ) -> None:
        """`remembered` are messages of earlier turns, which a subgraph may return once more."""
        self._scope, self._run, self._read_saved = scope, scope.run, read_saved
        self._calls, self._ids, self._written = calls, calls.ids, Written(scope)
        #: An update, until it is told which task has given it.
        self._update: tuple[Sequence[str], dict[str, Any]] | None = None
        #: What models have streamed in each task of the graph that did not become part of the state with it:
        #: the task may still put the same words into a message.
        self._loose = Said()
        #: How many messages are to be found in the state, and the words of those that were said already under
        #: another id: of a task that has streamed them, or before the graph stopped. Whether what was said
        #: then is to be looked for.
        self._unread, self._spoken = 0, Counter[str]()
        self._unsure = self._run.cause != "start"
        self._finished = {message.id for message in remembered if message.id}
        for ref, message in self._run.transcript.calls.values():
            if ref and message.parent == scope.parent:
                self._finished.add(id_of(ref))
                if len(tasks := tasks_of(ref)) > 1:
                    self._loose.add(message.content, tasks, inside=True)
        self._open: dict[str, _Heard] = {}

    async def see(self, mode: str, data: Any, ns: Sequence[str] = ()) -> None:
        """`ns` names the subgraph from which this comes, by the tasks around it. LangGraph tells an update,
        and then the task that has given it."""
        if mode == "messages":
            message, about = data
            if isinstance(message, AIMessageChunk):
                self._hear(message, about)
            await self._run.stream.breathe()
        elif mode == "updates":
            await self._take(SAVED)
            self._update = ns, data
        elif mode == "custom":
            self._written.take(ns, data)
            await self._run.stream.breathe()
        elif "result" not in data:
            self._written.begin(ns, data["id"])
            self._calls.seen.begin(data["id"])
        else:
            self._written.end(ns, data["id"])
            await self._end(data, ns)

    async def _end(self, data: Any, ns: Sequence[str]) -> None:
        """A task has ended."""
        if data["error"] is None and not data["interrupts"]:
            await self._take(self._calls.runs.path((*ns, f":{data['id']}")))
            await self._complete(data["id"])
            await self._run.stream.commit()  # results of marked tools are said without waiting
            self._calls.seen.end(data["id"])

    async def pause(self) -> None:
        """The graph asks, or has ended."""
        await self._take(SAVED)
        await self._read()

    async def end(self) -> None:
        """The graph has ended: finish the messages that it streamed but did not keep in its state."""
        await self.pause()
        for ref in list(self._open):
            await self._close(ref)

    async def _take(self, path: tuple[str, ...]) -> None:
        """Take the update that the last of these tasks has given."""
        if self._update is None:
            return
        (ns, data), self._update = self._update, None
        if not ns:
            await self._read()
        for update in data.values():
            other = [] if ns else in_other_forms(update)
            for found, reply in after_replies(() if other else found_in(update)):
                await self._settle(found, path, reply)
            if other:
                await self._complete(path[-1])
                await self._note(other, path)

    async def _note(self, found: list[BaseMessage], path: tuple[str, ...]) -> None:
        """A task has given these messages, not all of them as objects. The state has them when all tasks of
        this step are done. A function with `entrypoint` has no state."""
        if "messages" not in self._scope.agent.graph.channels:
            for message, reply in after_replies(found):
                await self._settle(message, path, reply)
            return
        for message in found:
            self._unread += isinstance(message, AIMessage | ToolMessage)
            if isinstance(message, AIMessage) and self._was_streamed(message, path):
                self._spoken[text_of(message)] += 1

    async def _read(self) -> None:
        """Say what the state has that was not said yet."""
        if not (self._unread or self._unsure):
            return
        found = await self._read_saved()
        if self._unsure:
            here, calls = {message.id for message in found}, self._run.transcript.calls.values()
            mine = [(id_of(ref), item) for ref, item in calls if item.parent == self._scope.parent]
            self._spoken.update(item.content for ref, item in mine if ref not in here)
            self._unsure = False
        for message, reply in after_replies(found):
            if message.id in self._finished or was_given(message):
                continue
            if isinstance(message, AIMessage | ToolMessage):
                self._unread = max(self._unread - 1, 0)
                await self._settle(message, SAVED, reply)

    def _hear(self, chunk: AIMessageChunk, about: dict[str, Any]) -> None:
        ref = chunk.id or ""
        if not ref or ref in self._finished or _INTERNAL in about:
            return
        path = self._calls.runs.path(str(about.get("langgraph_checkpoint_ns") or "").split("|"))
        model = str(about.get("ls_model_name") or "")
        if reasoning := reasoning_of(chunk):
            self._run.say(ev.ReasoningDelta(self._call(ref, path, model), reasoning.replace("\0", "")))
        if text := text_of(chunk):
            self._run.say(ev.TextDelta(self._call(ref, path, model), text.replace("\0", "")))
        if ref in self._open:
            self._open[ref].usage = _usage(chunk) or self._open[ref].usage

    async def _complete(self, task: str) -> None:
        """A task is done: finish the messages that its model streamed but that did not become part of the
        state."""
        for ref in [ref for ref, heard in self._open.items() if task in heard.path]:
            await self._close(ref)

    async def _close(self, ref: str) -> None:
        heard = self._open.pop(ref)
        self._finished.add(ref)
        await self._run.record(ev.ModelFinished(heard.call, (), heard.usage))
        if heard.path:
            self._loose.add(self._run.transcript.calls[heard.call][1].content, heard.path)

    def _was_streamed(self, message: AIMessage, path: tuple[str, ...]) -> bool:
        """Whether a model has streamed these words in the same task of the graph, in a message that is not
        part of the state. Counts once. Of a message from the state, or of a task that was done before, the
        task is not known."""
        text = text_of(message)
        if path != SAVED:
            return self._loose.take(text, path)
        if not text or self._spoken[text] <= 0:
            return False
        self._spoken[text] -= 1
        return True

    async def _settle(self, message: BaseMessage, path: tuple[str, ...], reply: str) -> None:
        if was_given(message):
            return
        if isinstance(message, AIMessage):
            await self._finish(message, path)
        elif isinstance(message, ToolMessage):
            await self._return(message, path, reply)

    async def _return(self, message: ToolMessage, path: tuple[str, ...], reply: str) -> None:
        """`reply` is the id of the message that has the call, if it is known."""
        if message.id in self._finished:
            return
        if message.id:
            self._finished.add(message.id)
        failed = message.status == "error"
        call_id = self._ids.end(message.tool_call_id, message.name, path, reply, failed)
        if call_id is None:
            return
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
            and isinstance(item.interrupt, Approval | Questions)
            and item.interrupt.tool_call_id == call_id
            and item.interrupt.id not in self._run.transcript.ids_before_retry
        ]
        if decided and decided[-1] in ("reject", "respond"):
            return "refused" if decided[-1] == "reject" else "answered"
        return "error" if message.status == "error" else "ok"

    async def _finish(self, message: AIMessage, path: tuple[str, ...]) -> None:
        ref = message.id or ""
        if ref and ref in self._finished:
            return
        if ref not in self._open and not tool_calls(message) and self._was_streamed(message, path):
            self._finished.add(ref)
            return
        if ref not in self._open and (twin := self._twin(message, path)) is not None:
            self._open[ref] = self._open.pop(twin)
            self._finished.add(twin)
        heard = ref in self._open
        call = self._call(ref, path, str(message.response_metadata.get("model_name") or ""))
        if not heard and (text := text_of(message)):
            self._run.say(ev.TextDelta(call, text.replace("\0", "")))
        self._open.pop(ref, None)
        self._finished.add(ref)
        calls = tuple(self._shown(item, Reply(call, ref, path)) for item in tool_calls(message))
        reason = finish_reason(message)
        await self._run.record(ev.ModelFinished(call, calls, _usage(message), reason))
        if len(path) > 1:
            self._loose.add(text_of(message), path, inside=True)  # it is in the state of a subgraph alone
        agent, parent = self._scope.agent.name, self._scope.parent
        for item in calls:
            if self._ids.is_journalled(item["id"]):
                continue  # it was made before its message came
            self._run.say(ev.ToolStarted(item["id"], item["name"], item["args"], agent, parent))

    def _twin(self, message: AIMessage, path: tuple[str, ...]) -> str | None:
        """The message with the same words that a model has just streamed in this task: a graph's node may put
        the words of its model into a message of its own."""
        text, drafts = text_of(message), self._run.transcript.drafts
        for ref, heard in self._open.items():
            draft = drafts.get(heard.call)
            if text and path[:1] == heard.path[:1] and draft is not None and "".join(draft.text) == text:
                return ref
        return None

    def _call(self, ref: str, path: tuple[str, ...], model: str) -> int:
        if ref not in self._open:
            agent, parent = self._scope.agent.name, self._scope.parent
            if parent is not None:
                self._run.check_steps()  # the steps of the turn, which its agent and all sub-agents share
            self._open[ref] = _Heard(self._run.next_call(), path)
            call = self._open[ref].call
            self._run.say(ev.ModelStarted(call, agent, model, parent, ref_of(path, ref)))
        return self._open[ref].call

    def _shown(self, wanted: dict[str, Any], reply: Reply) -> dict[str, Any]:
        """A tool call as its event shows it."""
        shown = _bounded(wanted)
        return {**shown, "id": self._ids.tell(reply, shown)}


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


def void(scope: Scope, state: StateSnapshot | None, ended: AbstractSet[str]) -> list[int]:
    """The model calls that the graph makes again after a crash: those of its tasks that run again, unless
    their message is in the graph's state. `ended` has the tasks that do not run again."""
    kept = refs(state.values) if state is not None else set()
    lost = [
        call
        for call, (ref, message) in scope.run.transcript.calls.items()
        if message.parent == scope.parent
        and id_of(ref) not in kept
        and (state is None or runs_again(tasks_of(ref), state, ended))
    ]
    return [*lost, *drafts(scope)]


def said_inside(scope: Scope) -> bool:
    """Whether graphs in the graph have said something."""
    calls = scope.run.transcript.calls.values()
    return any(message.parent == scope.parent and len(tasks_of(ref)) > 1 for ref, message in calls)


def drafts(scope: Scope) -> list[int]:
    """The model calls of the graph that have not finished."""
    return [call for call, draft in scope.run.transcript.drafts.items() if draft.parent == scope.parent]
