"""One segment of a turn, from its claim to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from caesura.agents import phrases
from caesura.agents.aside import LARGE, Aside
from caesura.core import codec, described, fold, ids, interrupts, json_data, language, shown
from caesura.core import events as ev
from caesura.core.errors import CaesuraError, Fenced, Unavailable, Unwritable
from caesura.core.interrupts import Asked
from caesura.core.turns import Turn
from caesura.engine import cancellation, loop, past, texts
from caesura.engine.agent import Compiled
from caesura.engine.builder import Builder
from caesura.engine.callbacks import watched
from caesura.engine.ending import Ending, Outcome, failed
from caesura.engine.failures import NotStored, QuestionLimit, RunFailed, TimeLimit
from caesura.engine.history import History
from caesura.engine.limits import Limits
from caesura.engine.past import Past
from caesura.engine.run import Control, Released, Run, stop_reason
from caesura.engine.titles import Spawn, Titles
from caesura.log import Log, Stream
from caesura.store import fence, life
from caesura.store import interrupts as asked
from caesura.store.database import Database

logger = logging.getLogger(__name__)

#: The graph id of an interrupt that comes from no graph: a confirmation that the agent asked for in its text.
IN_WORDS = "words"
#: The limit of adoptions: a turn that crashes its process each time must not crash processes for ever.
_ADOPTIONS = 20
#: The limit of claims, for a turn that crashes its process before the log records the adoption.
_CLAIMS = 200


class Runner:
    def __init__(
        self,
        database: Database,
        log: Log,
        builder: Builder,
        workspaces: Path,
        limits: Limits,
        spawn: Spawn,
        callbacks: Sequence[Any] = (),
        history: History | None = None,
    ) -> None:
        self._database, self._log, self._builder = database, log, builder
        self._workspaces, self._limits = workspaces, limits
        self._callbacks = tuple(callbacks)
        self.history = history or History(database)
        self._aside = Aside("caesura-texts")
        self._runs: dict[int, Run] = {}
        self._titles = Titles(database, log, spawn)
        self._ending = Ending(log, self.history, spawn)

    async def run(self, turn: Turn, control: Control, known: Past | None = None) -> None:
        """Work on a turn that this process has claimed, until its segment ends. `known` is the turn's past,
        if the claim has already read it."""
        if turn.epoch - turn.segment > _CLAIMS:
            await self._ending.give_up(turn, failed(turn, RunFailed(f"given up after {_CLAIMS} attempts")))
            return
        if turn.ended:
            await self._ending.close(turn)
            return
        try:
            if turn.status == "waiting" and not turn.stop_requested and await self._ending.is_open(turn):
                await self._ending.close(turn)
                return
            known = known or await self._past(turn)
            stream = self._log.begin(turn.num, turn.epoch, known.events[-1].seq if known.events else 0)
            with self._log.live(stream):
                run = await self._open(turn, self._agent(turn.agent), control, known, stream)
        except (Fenced, Unavailable):
            raise
        except Exception as error:  # noqa: BLE001 - what cannot be read now cannot be read later
            await self._ending.give_up(turn, failed(turn, error))
            return
        with self._log.live(run.stream), self._known(run):
            self._begin(run)
            title = self._titles.begin(run)
            try:
                outcome = await self._outcome(run)
                await self._ending.end(run, outcome, title)
            except (Released, asyncio.CancelledError):
                if run.control.leaving:  # keep finished work, so that it is not done again
                    with suppress(CaesuraError):
                        await run.stream.commit()
                raise
            except (Fenced, Unavailable):
                raise
            except Exception as error:
                if run.transcript.outcome is not None:
                    raise  # the turn has already ended
                await self._abandon(run, error)
            finally:
                if title is not None:
                    title.close()

    def shown(self, num: int, epoch: int) -> int | None:
        """How many messages the history shows for a turn that runs in this process under this claim; None if
        it does not. The number may be slightly ahead of what is committed."""
        run = self._runs.get(num)
        return run.transcript.shown() if run is not None and run.turn.epoch == epoch else None

    @contextmanager
    def _known(self, run: Run) -> Iterator[None]:
        self._runs[run.turn.num] = run
        try:
            yield
        finally:
            if self._runs.get(run.turn.num) is run:
                del self._runs[run.turn.num]

    # --- opening

    def _agent(self, name: str) -> Compiled:
        try:
            return self._builder.get(name)
        except Exception as error:  # noqa: BLE001 - an operator's file may be wrong in any way
            return self._builder.unusable(name, error)

    async def _past(self, turn: Turn) -> Past:
        return past.NONE if turn.epoch == 1 else await self._database.read(past.read, turn.num)

    async def _open(self, turn: Turn, agent: Compiled, control: Control, known: Past, stream: Stream) -> Run:
        history = await self.history.before(turn)
        first = history[0].text if history else ""
        limits = agent.spec.limits
        return Run(
            turn=turn,
            agent=agent,
            language=language.of(f"{first} {turn.content}"),
            workspace=self._workspaces / turn.conversation_id,
            limits=replace(self._limits, steps=limits.max_steps, run=limits.max_seconds or self._limits.run),
            stream=stream,
            transcript=fold.fold(item.event for item in known.events),
            history=history,
            journal=known.journal,
            asked=known.asked,
            control=control,
            aside=self._aside,
            grants=set(turn.grants),
            callbacks=self._callbacks,
            logged=sum(codec.size(item.event) for item in known.events),
        )

    def _begin(self, run: Run) -> None:
        """Append the events that the segment begins, and that text of an earlier attempt is void."""
        turn, transcript = run.turn, run.transcript
        if stop := turn.stop_requested:
            run.control.stop = run.control.stop or stop_reason(stop)
        late = [ev.SegmentEnded()] if transcript.open and transcript.outcome is not None else []
        cause = run.cause = _cause(run)
        number = transcript.segment if cause == "adopt" else transcript.segment + 1
        started = ev.RunStarted(run.agent.name, number, cause, turn.epoch)
        # If the turn is stopped or its log is full, the text so far is kept as its answer, and is not void.
        again = cause in ("adopt", "retry") and run.control.stop is None and not run.full()
        voids = [ev.TextVoided(call) for call in transcript.drafts] if again else []
        closed = _closings(run) if cause == "resume" else []
        start = run.stream.last + len(late) if cause != "adopt" else None
        # Record the stop, so that a crash before the outcome does not reopen a question that is to be closed.
        stop = "timeout" if cause == "close" and turn.stop_requested is None else None
        events: list[ev.Event] = [*late, started, *voids, *closed]
        if cause == "start" and turn.status == "running":
            run.say(started, lax=True)  # the row was made that way
        else:
            run.note(*events, also=lambda c: life.begin_segment(c, turn, number, start, stop), lax=True)

    # --- running

    async def _outcome(self, run: Run) -> Outcome:
        """The outcome of the segment. Errors become an outcome as well."""
        clock = asyncio.timeout(max(run.limits.run - run.turn.running_ms / 1000, 0.001))
        closes = run.control.stop is not None or run.turn.status == "waiting"
        try:
            if closes:
                return await self._closed(run)
            if run.agent.fault is not None:
                return failed(run.turn, run.agent.fault)
            if run.full():
                return failed(run.turn, run.too_long())
            if run.transcript.adoptions > _ADOPTIONS:
                return failed(run.turn, RunFailed(f"given up after {_ADOPTIONS} attempts"))
            async with clock:
                return await self._drive(run)
        except asyncio.CancelledError:
            if run.control.stop is None or closes:
                raise  # questions may still be open: the next owner closes them
            cancellation.forget()
            return ev.Stopped(run.control.stop)
        except TimeoutError as error:
            late = TimeLimit(f"the turn took longer than {run.limits.run:g} seconds")
            return failed(run.turn, late if clock.expired() else error)
        except (Fenced, Released, Unavailable, Unwritable):
            raise
        except Exception as error:  # noqa: BLE001 - a run may fail in any way, and ends in an event
            return failed(run.turn, error)

    async def _abandon(self, run: Run, error: Exception) -> None:
        """End a turn whose run produced rows that the database refuses. Another attempt would not help."""
        failure = NotStored()
        failure.__cause__ = error
        run.stream.fail(Unwritable())  # a title may still be about to be written
        known = await self._database.read(past.read, run.turn.num)
        messages = fold.fold(item.event for item in known.events).closed()
        await self._ending.give_up(run.turn, failed(run.turn, failure), messages)

    async def _closed(self, run: Run) -> Outcome:
        """The outcome of a waiting turn that was stopped or whose questions expired."""
        reason = run.control.stop or "timeout"
        run.asked = await self._database.write(_close_questions, run.turn, interrupts.closed_by(reason))
        for event in _closings(run):
            run.say(event)
        return ev.Stopped(reason)

    async def _drive(self, run: Run) -> Outcome:
        run.control.stoppable = True
        try:
            found = await _advance(run)
        finally:
            run.control.stoppable = False
        if found:
            return await self._ask(run, found)
        return await self._ask_in_words(run) or ev.Finished()

    # --- asking

    async def _ask(self, run: Run, found: dict[str, interrupts.Interrupt]) -> ev.Interrupted:
        _check_questions(run, found.values())
        spec = run.agent.spec.interrupt
        expires = None
        if spec.enabled:
            expires = await self._database.read(asked.clock) + spec.timeout_seconds * 1000
        run.questions = {
            graph_id: replace(await self._legible(item), expires_at=expires)
            for graph_id, item in _in_order(run, found)
        }
        return ev.Interrupted(tuple(run.questions.values()))

    async def _ask_in_words(self, run: Run) -> ev.Interrupted | None:
        spec = run.agent.spec.interrupt
        reason = await self._reason(_last_words(run), spec.phrases) if spec.enabled else None
        if reason is None:
            return None
        label = texts.confirm_label(run.language)
        told = described.text(reason, run.language)
        item = interrupts.Interrupt(
            ids.interrupt(),
            "confirmation",
            label=label,
            description=described.sentence(label, told, run.language) if told.size else told.text,
            reason=reason,
            fields=spec.form(run.language),
            agent=run.agent.name,
        )
        return await self._ask(run, {IN_WORDS: item})

    async def _reason(self, words: str, extra: Sequence[str]) -> str | None:
        if len(words) <= phrases.LONG:
            return phrases.detect(words, extra)
        return await self._aside.run(phrases.detect, words, extra)

    async def _legible(self, item: interrupts.Interrupt) -> interrupts.Interrupt:
        if len(item.label) + len(item.description) <= LARGE:
            return _legible(item)
        return await self._aside.run(_legible, item)


def _legible(item: interrupts.Interrupt) -> interrupts.Interrupt:
    """The interrupt with its texts cleaned: an operator's own tool may have put anything into them."""
    return replace(item, label=shown.line(item.label), description=shown.line(item.description))


async def _advance(run: Run) -> dict[str, interrupts.Interrupt]:
    """Run the agent. Returns the questions that it asks, if any, by the id under which it expects the
    answer."""
    if run.agent.foreign:
        from caesura.engine.graphs import drive  # LangGraph takes half a second to load, and few need it

        return await drive.advance(run)
    async with watched(run):
        return {item.id: item for item in await loop.converse(run)}


def _check_questions(run: Run, asked: Collection[interrupts.Interrupt]) -> None:
    if len(asked) > run.limits.questions:
        raise QuestionLimit(
            f"the agent asked for {len(asked)} decisions at once, and {run.limits.questions} may be"
        )
    size = sum(len(json_data.dumps(interrupts.to_dict(item))) for item in asked)
    if size > run.limits.question_bytes:
        raise QuestionLimit(
            f"what the agent asks for has {size} bytes, and {run.limits.question_bytes} may be"
        )


def _in_order(run: Run, found: dict[str, interrupts.Interrupt]) -> list[tuple[str, interrupts.Interrupt]]:
    """Questions asked together, in the order of their tool calls. Their ids get the same order, because rows
    are read by id, and a client that answers must find the questions in the order in which they were
    shown."""
    places = {call_id: place for place, call_id in enumerate(run.call_ids())}
    names = sorted(item.id for item in found.values())
    asked = sorted(found.items(), key=lambda item: places.get(item[1].tool_call_id or "", len(places)))
    return [(graph_id, replace(item, id=name)) for (graph_id, item), name in zip(asked, names, strict=True)]


def _last_words(run: Run) -> str:
    """The agent's last text since the person's last message. Questions in earlier texts have been
    answered."""
    words = ""
    for message in run.transcript.finished:
        if message.role == "user":
            words = ""
        elif message.role == "assistant" and message.parent is None:
            words = message.content or words
    return words


def _cause(run: Run) -> ev.Cause:
    outcome = run.transcript.outcome
    if run.stream.last == 0:
        return "start"
    if outcome is None:
        return "adopt"
    if run.turn.status == "waiting" or (run.turn.stop_requested and isinstance(outcome, ev.Interrupted)):
        return "close"
    return "resume" if isinstance(outcome, ev.Interrupted) else "retry"


def _closings(run: Run) -> list[ev.InterruptClosed]:
    """For each question that is open in the log but closed in the rows: the event that closes it."""
    open_ids = {item.id for item in run.transcript.pending}
    events = []
    for item in run.asked:
        if item.interrupt.id in open_ids and item.status != "pending":
            given = interrupts.answer_dict(item.answer) if item.answer else {}
            events.append(ev.InterruptClosed(item.interrupt.id, item.status, given, _told(run, item)))
    return events


def _told(run: Run, item: Asked) -> str | None:
    """The text in which the agent reads an answer that no graph waits for."""
    if item.graph_id != IN_WORDS or item.answer is None:
        return None
    answer = item.answer
    return answer.message or texts.confirmation(answer.fields, answer.refuses, run.language)


def _close_questions(connection: Connection, turn: Turn, how: interrupts.Status) -> list[Asked]:
    fence.hold(connection, turn.num, turn.epoch)
    asked.close(connection, turn.num, how)
    return asked.of(connection, turn.num)
