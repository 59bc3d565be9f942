"""The interrupts of a run: how it asks a person to decide, and how unanswered ones are closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlalchemy import Connection

from caesura.agents import phrases
from caesura.agents.aside import LARGE, Aside
from caesura.agents.spec import Spec
from caesura.core import answers, interrupts, json_data, shown
from caesura.core import events as ev
from caesura.core.interrupts import Approval, Confirmation, Interrupt
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.core.turns import Turn
from caesura.engine import confirmations, texts
from caesura.engine.changes import Changes
from caesura.engine.confirmations import IN_WORDS
from caesura.engine.failures import QuestionLimit
from caesura.engine.run import Run, Scope
from caesura.store import fence
from caesura.store import interrupts as rows
from caesura.store.database import Database


class Interrupts:
    def __init__(self, database: Database, aside: Aside, changes: Changes) -> None:
        self._database, self._aside, self._changes = database, aside, changes

    async def ask(self, run: Run, found: Mapping[str, Interrupt]) -> ev.Interrupted:
        """The outcome of a segment that ends with these interrupts, by graph id. Their rows are written
        together with the outcome."""
        found = _fitting(run, found)
        spec, now = run.agent.spec, 0
        if any(_seconds(spec, item) is not None for item in found.values()):
            now = await self._database.read(rows.clock)
        run.new_interrupts = {
            graph_id: replace(await self._legible(item), expires_at=_expiry(spec, item, now))
            for graph_id, item in _in_order(run, found)
        }
        return ev.Interrupted(tuple(run.new_interrupts.values()))

    async def ask_in_words(self, run: Run) -> ev.Interrupted | None:
        """The same for a confirmation that a graph asks for in what it has said since the person's last
        message; None if it asks for none. Our own agents ask for it while they work."""
        scope = Scope(run, run.agent)
        said = [message.content for message in confirmations.unanswered(run)]
        found = [reason for text in said if (reason := await confirmations.reason_in(scope, text))]
        if not found:
            return None
        reason = " ".join(found)[: phrases.LONGEST_REASON]
        context = "\n\n".join(said)
        return await self.ask(run, {IN_WORDS: confirmations.confirmation(run, reason, context)})

    async def close(self, run: Run) -> ev.Stopped:
        """Close the pending interrupts of a turn that was stopped or whose interrupts expired."""
        reason = run.control.stop or "timeout"
        run.interrupts = await self._database.write(_close, run.turn, interrupts.closed_by(reason))
        self._changes.tell_of(run.turn)
        for event in closings(run):
            run.say(event)
        return ev.Stopped(reason)

    async def _legible(self, item: Interrupt) -> Interrupt:
        if len(item.label) + len(item.description) <= LARGE:
            return _legible(item)
        return await self._aside.run(_legible, item)


def closings(run: Run) -> list[ev.InterruptClosed]:
    """For each interrupt that is open in the log but closed in the rows: the event that closes it."""
    open_ids = {item.id for item in run.transcript.pending}
    events = []
    for item in run.interrupts:
        if item.interrupt.id in open_ids and item.status != "pending":
            given = answers.to_dict(item.answer) if item.answer else {}
            events.append(ev.InterruptClosed(item.interrupt.id, item.status, given, _message(run, item)))
    return events


def _legible(item: Interrupt) -> Interrupt:
    """The interrupt with its texts cleaned: an operator's own tool may have put anything into them."""
    if isinstance(item, Approval):
        item = replace(item, note=shown.line(item.note))
    return replace(item, label=shown.line(item.label), description=shown.line(item.description))


def _expiry(spec: Spec, item: Interrupt, now: int) -> int | None:
    seconds = _seconds(spec, item)
    return None if seconds is None else now + seconds * 1000


def _seconds(spec: Spec, item: Interrupt) -> int | None:
    """How long this waits for a person; None if for ever."""
    if isinstance(item, Confirmation):
        return spec.interrupt.timeout_seconds
    return spec.approvals.timeout_seconds


def _without_content(item: Interrupt) -> Interrupt:
    if not isinstance(item, Approval) or item.file is None:
        return item
    return replace(item, file=replace(item.file, content=None))


def check_count(run: Run, count: int) -> None:
    """`QuestionLimit` if a person would have to decide about too many things at once."""
    if count > run.limits.questions:
        raise QuestionLimit(
            f"the agent asked for {count} decisions at once, and {run.limits.questions} may be"
        )


def _fitting(run: Run, found: Mapping[str, Interrupt]) -> Mapping[str, Interrupt]:
    """The interrupts, without the contents of files if they are too large with them. `QuestionLimit` if there
    are too many of them or they are still too large."""
    check_count(run, len(found))
    if _size(found.values()) <= run.limits.question_bytes:
        return found
    light = {graph_id: _without_content(item) for graph_id, item in found.items()}
    size = _size(light.values())
    if size > run.limits.question_bytes:
        raise QuestionLimit(
            f"what the agent asks for has {size} bytes, and {run.limits.question_bytes} may be"
        )
    return light


def _size(items: Iterable[Interrupt]) -> int:
    return sum(len(json_data.dumps(interrupts.to_dict(item))) for item in items)


def _in_order(run: Run, found: Mapping[str, Interrupt]) -> list[tuple[str, Interrupt]]:
    """Interrupts that are asked together, in the order of their tool calls. Their ids get the same order,
    because rows are read by id, and a client that answers must find the interrupts in the order in which they
    were shown."""
    places = {call_id: place for place, call_id in enumerate(run.call_ids())}
    names = sorted(item.id for item in found.values())
    ordered = sorted(found.items(), key=lambda item: places.get(item[1].tool_call_id or "", len(places)))
    return [(graph_id, replace(item, id=name)) for (graph_id, item), name in zip(ordered, names, strict=True)]


def _message(run: Run, item: StoredInterrupt) -> str | None:
    """The text in which the agent reads an answer that no graph waits for."""
    asked = item.interrupt
    if item.graph_id != IN_WORDS or item.answer is None or not isinstance(asked, Confirmation):
        return None
    return texts.confirmation(asked, item.answer, run.language)


def _close(connection: Connection, turn: Turn, status: interrupts.Status) -> list[StoredInterrupt]:
    fence.hold(connection, turn.num, turn.epoch)
    rows.close(connection, turn.num, status)
    return rows.of(connection, turn.num)
