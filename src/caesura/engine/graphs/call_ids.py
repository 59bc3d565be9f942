"""The ids of tool calls in an operator's own graph.

Some models give the first call of each reply the same id. The log and the journal know a call by the id that
the model has given to it or, if that is the id of another call already, by that id with a number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping
from itertools import count, islice
from typing import Any, NamedTuple

from caesura.core import json_data
from caesura.core.interrupts import Approval, Decision, Questions
from caesura.engine.graphs import reviews
from caesura.engine.graphs.runs import NodeRun
from caesura.engine.graphs.tasks import id_of, tasks_of
from caesura.engine.run import Scope
from caesura.store import tool_calls

#: The longest id of a model's call that is used, and how many calls with the same id are told apart by it.
_LONGEST = 190
_MOST = 100


class Reply(NamedTuple):
    """A message that was told: the number and the id of it, and the tasks that have said it."""

    number: int
    id: str
    path: tuple[str, ...]


class _Told(NamedTuple):
    """A call of a message that was told."""

    reply: Reply
    name: str
    args: Any


class CallIds:
    def __init__(self, scope: Scope) -> None:
        self._scope, self._run = scope, scope.run
        self._told: dict[str, _Told] = {}
        #: The number with which the next call is told, by the id that the model has given to it.
        self._next: dict[str, int] = {}
        #: The calls that were made in this segment: the tool, the arguments, and the place.
        self._made: dict[str, tuple[str, Any, str]] = {}
        self._asked = _asked(scope)
        self._refused = _decided(scope, "reject", "respond")
        self._rejected = _decided(scope, "reject")
        said = self._run.transcript
        #: The calls of attempts before the newest, and those that were taken over by their new places.
        self._earlier = _earlier(scope) if said.retries else {}
        self._taken = {call.place: call.id for call in self._run.journal.values()} if said.retries else {}
        self._ended = {message.tool_call_id for message in said.finished if message.role == "tool"}
        for call, (ref, message) in said.calls.items():
            reply = Reply(call, id_of(ref), tuple(tasks_of(ref)))
            for item in message.tool_calls if message.parent == scope.parent else ():
                self._told[item["id"]] = _Told(reply, item["name"], item["args"])

    def tell(self, reply: Reply, wanted: Mapping[str, Any]) -> str:
        """The id under which a call of a new message is told."""
        given, name, args = self._scope.call_id(wanted["id"]), wanted["name"], wanted["args"]
        number = self._next.get(given, 1)
        while (told := _numbered(given, number)) in self._told or not self._may_be(told, name, args):
            number += 1
        self._next[given] = number + 1
        self._told[told] = _Told(reply, name, args)
        return told

    def make(self, given: str, name: str, args: Any, defaults: Collection[str], node: NodeRun) -> str | None:
        """The id under which a call is made that a model has given this id: that of the newest message with
        this call. None if the id cannot be used. One run of a graph's node makes a call once, and so do all
        nodes together."""
        if not 0 < len(given) <= _LONGEST:
            return None
        given, args = self._scope.call_id(given), json_data.clean(args)
        place, free = node.place, [item for item in self._used(given) if self._is_free(item, node)]
        fitting = [item for item in free if self._fits(item, name, args, defaults)]
        changed = [item for item in free if self._was_changed(item, name)]
        found = self._newest(fitting or changed, node.path, place)
        found = found or self._unused(given, name, args, defaults, node)
        if found is not None:
            node.called.add(found)
            self._made[found] = name, args, place
        return found

    def take_over(self, place: str, name: str, args: Any, repeatable: bool) -> str | None:
        """The id of the equal call of an attempt before the turn was tried again, which this one stands for.
        `place` names this call, and no other of the attempt. What is safe to repeat is made again."""
        run = self._run
        if not run.transcript.retries:
            return None
        if place not in self._taken:
            before = self._earlier.get(_equal(name, args), [])
            left = (run.journal[before.pop()] for _ in range(len(before)))
            free = (item for item in left if item.place is None and not (repeatable and item.output))
            if (call := next(free, None)) is None:
                return None
            call = call._replace(place=place)
            if call.output is not None and call.output["status"] == "unknown":  # the person decides again
                call = call._replace(status="begun", output=None)
            self._taken[place], run.journal[call.id] = call.id, call
            run.note(also=lambda connection: tool_calls.take_over(connection, run.turn.num, call))
        self._made[self._taken[place]] = name, args, place
        return self._taken[place]

    def place(self, call_id: str) -> str | None:
        """Where the call with this id was made."""
        if (made := self._made.get(call_id)) is not None:
            return made[2]
        noted = self._run.journal.get(call_id)
        return noted.place if noted is not None else None

    def open(self, given: str, name: str, args: Any, taken: Container[str | None] = ()) -> str:
        """The id of a call that a person is to decide about: none of those that are taken."""
        given = self._scope.call_id(given)
        found = [item for item in self._used(given) if self._is_open(item) and item not in taken]
        fitting = [item for item in found if self._fits(item, name, json_data.clean(args), ())]
        return self._newest(fitting or found) or given

    def end(
        self, given: str, name: str | None, path: tuple[str, ...], reply: str, failed: bool
    ) -> str | None:
        """The id of the call that a result is of; None if it has ended already. `reply` is the id of the
        message that has the call, if it is known."""
        given = self._scope.call_id(given)
        told = [item for item in self._used(given) if item in self._told]
        told = [item for item in told if reply and self._told[item].reply.id == reply] or told
        told = [item for item in told if self._is_of(item, path)] or told
        found = [item for item in told if self._is_open(item)]
        found = [item for item in found if self._told[item].name == name] or found
        if not failed:  # the result of a rejected call is an error
            found = [item for item in found if item not in self._rejected] or found
        # LangChain's middleware gives the results of refused calls first, if it reviews them together.
        ended = self._newest([item for item in found if item in self._refused] or found, path)
        if ended is None and not told and self._is_open(given):
            ended = given
        if ended is not None:
            self._ended.add(ended)
        return ended

    def is_journalled(self, call_id: str) -> bool:
        """Whether the journal tells of this call. A message with calls may come after they are made: a
        graph's node may make them before it gives out the message."""
        return call_id in self._run.journal or call_id in self._run.journalled

    def _used(self, given: str) -> Iterator[str]:
        """The ids of the calls to which a model has given this id. Numbers of void messages are missing."""
        known = self._told, self._made, self._run.journal, self._asked
        for found in islice(_all(given), _MOST):
            if any(found in ids for ids in known):
                yield found

    def _unused(
        self, given: str, name: str, args: Any, defaults: Collection[str], node: NodeRun
    ) -> str | None:
        """An id for a call whose message was not told yet."""
        for found in islice(_all(given), _MOST):
            untold = found not in self._told and self._is_free(found, node)
            if untold and self._may_be(found, name, args, defaults):
                return found
        return None

    def _newest(self, found: list[str], path: tuple[str, ...] = (), place: str = "") -> str | None:
        """Of these ids the one that was used at this place, or the one of the newest message, in the same
        graph if there is one. The calls of one message come in their order."""

        def rank(call_id: str) -> tuple[bool, bool, int]:
            told = self._told.get(call_id)
            here = place != "" and self.place(call_id) == place
            if told is None:
                return here, False, -1
            return here, self._is_of(call_id, path), told.reply.number

        return max(found, key=rank, default=None)

    def _is_of(self, call_id: str, path: tuple[str, ...]) -> bool:
        """Whether the message with this call was said in the graph in which the last of these tasks runs."""
        return self._told[call_id].reply.path[:-1] == path[:-1]

    def _is_open(self, call_id: str) -> bool:
        return call_id not in self._ended and not self.is_journalled(call_id)

    def _is_free(self, call_id: str, node: NodeRun) -> bool:
        place, retries = self.place(call_id), self._run.transcript.retries
        earlier = place is None and retries and call_id in self._run.journal
        return call_id not in node.called and not earlier and place in (None, node.place)

    def _was_changed(self, call_id: str, name: str) -> bool:
        """Whether the graph may have changed the arguments of this call: nobody has decided about it."""
        told = self._told.get(call_id)
        return told is not None and told.name == name and not self._known(call_id)

    def _fits(self, call_id: str, name: str, args: Any, defaults: Collection[str]) -> bool:
        """Whether this is the call that has the id: as its message has it, or as a person has made it."""
        told, known = self._told.get(call_id), self._known(call_id)
        found = [*known, (told.name, told.args)] if told is not None else known
        return any(name == tool and _same(args, of, defaults) for tool, of in found)

    def _may_be(self, call_id: str, name: str, args: Any, defaults: Collection[str] | None = None) -> bool:
        """Whether nothing is known of the call with this id that is not about this one."""
        known = self._known(call_id)
        return not known or any(name == tool and _same(args, of, defaults) for tool, of in known)

    def _known(self, call_id: str) -> list[tuple[str, Any]]:
        """The tools and arguments that are known of the call with this id: what was made, what the journal
        has, what a person was shown, and what they have made of it."""
        made, noted = self._made.get(call_id), self._run.journal.get(call_id)
        found = [] if made is None else [made[:2]]
        found += [] if noted is None else [(noted.name, noted.args)]
        return [*found, *self._asked.get(call_id, ())]


def _asked(scope: Scope) -> Mapping[str, list[tuple[str, Any]]]:
    """What people were shown of calls, and what they have made of them."""
    found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for item in scope.run.interrupts:
        asked = item.interrupt
        if isinstance(asked, Approval | Questions) and asked.name and asked.tool_call_id:
            found[asked.tool_call_id].append((asked.name, asked.args))
            if item.answer is not None and item.answer.args is not None:
                found[asked.tool_call_id].append((asked.name, item.answer.args))
            if item.answer is not None and item.answer.answers:
                found[asked.tool_call_id].append((asked.name, reviews.answered(asked.args, item.answer)))
    return found


def _earlier(scope: Scope) -> Mapping[tuple[str, bytes], list[str]]:
    """The calls before the turn was tried again that have had an effect, or may have had one: by the tool and
    the arguments, as the model gave them and as a person has edited them. Those that have ended come last."""
    run, said, found = scope.run, scope.run.transcript, defaultdict[tuple[str, bytes], list[str]](list)
    parents = {message.tool_call_id: message.parent for message in said.finished if message.role == "tool"}
    parents |= {call_id: begun.parent for call_id, begun in said.running.items()}
    for call in sorted(run.journal.values(), key=lambda call: call.output is not None):
        ended = "" if call.output is None else call.output["status"]
        if call.place is None and ended not in ("error", "refused") and parents.get(call.id) == scope.parent:
            forms = {_equal(call.name, args) for args in (call.args, said.wanted.get(call.id, call.args))}
            for form in forms:
                found[form].append(call.id)
    return found


def _equal(name: str, args: Any) -> tuple[str, bytes]:
    """The same for equal calls."""
    return name, json_data.dumps(sorted(json_data.clean(args).items()))


def _decided(scope: Scope, *decisions: Decision) -> set[str | None]:
    """The calls about which people have decided so."""
    return {
        item.interrupt.tool_call_id
        for item in scope.run.interrupts
        if item.answer is not None
        and isinstance(item.interrupt, Approval | Questions)
        and item.answer.decision in decisions
    }


def _all(given: str) -> Iterator[str]:
    return (_numbered(given, number) for number in count(1))


def _numbered(given: str, number: int) -> str:
    return given if number == 1 else f"{given}-{number}"


def _same(wanted: Mapping[str, Any], known: Mapping[str, Any], defaults: Collection[str] | None) -> bool:
    """Whether these are the same arguments, except for defaults that were filled in. Without `defaults` any
    may have been."""
    return all(name in known and known[name] == value for name, value in wanted.items()) and (
        defaults is None or all(name in wanted or name in defaults for name in known)
    )
