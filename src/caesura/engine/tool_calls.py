"""Calling a tool: who must approve, what the journal records, which events are written.

A call is journalled before it is made and after it has ended, each time together with its event. A call that
has ended is never made again. A call that had begun when its process died may or may not have taken effect: a
tool that is safe to repeat is called again; for any other tool the person decides. A call that stopped to ask
the person something is journalled as such: it was not under way, so it is simply made again.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import Any, assert_never

from sqlalchemy import Connection

from caesura.agents.aside import LARGE
from caesura.agents.context import RunContext
from caesura.agents.tools.tool import Description, Result, Tool, ToolError
from caesura.core import events as ev
from caesura.core import ids, interrupts, json_data, outputs
from caesura.core.answers import Answer
from caesura.core.errors import CaesuraError, Outdated
from caesura.core.interrupts import Approval, File, Interrupt, Questions
from caesura.core.messages import Message
from caesura.engine import calls, texts
from caesura.engine.cancellation import strays_fail
from caesura.engine.observers import ToolBegins
from caesura.engine.progress import Progress
from caesura.engine.run import AnswersNeeded, Released, Scope
from caesura.log.stream import Also
from caesura.store import grants
from caesura.store import tool_calls as journal

logger = logging.getLogger(__name__)

#: How often a tool is called while others change what it works on.
_TRIES = 8
#: Seconds after which it is called again, at most; twice as long each time. Calls of other turns do not wait
#: in the same order, so each waits for a random part of it.
_PAUSE = 0.02
#: The kind of an interrupt and, of questions, what they ask.
_What = tuple[type[Interrupt], bytes]


async def call(scope: Scope, wanted: Mapping[str, Any]) -> Message:
    """The result of the call; raises `AnswersNeeded` if a person must decide first."""
    return await _Call(scope, wanted).result()


def refuse(scope: Scope, wanted: Mapping[str, Any]) -> Message:
    """The result of a call that the person has refused together with the rest of the reply. The agent reads
    their reason in a message of its own."""
    return _Call(scope, wanted).refuse()


def is_decided(scope: Scope, wanted: Mapping[str, Any]) -> bool:
    """Whether a person decides about this call, or has decided, before it does anything. A call of a tool
    that the agent does not have does nothing."""
    return _Call(scope, wanted).is_decided()


class _Revoked(Exception):
    """The tool is no longer always allowed."""


class _Call:
    def __init__(self, scope: Scope, wanted: Mapping[str, Any]) -> None:
        self._scope, self._run, self._agent = scope, scope.run, scope.agent
        self._id = str(wanted["id"])
        self._name = wanted["name"]
        self._args: dict[str, Any] = wanted["args"]
        self._tool: Tool | None = self._agent.tool(self._name)
        #: What the file held that the call replaces, when the person was asked who approved the call.
        self._expected: File | None = None
        #: How often the tool has asked for each answer.
        self._asks: Counter[_What] = Counter()

    async def result(self) -> Message:
        known = self._run.journal.get(self._id)
        if known is not None and known.output is not None:
            return self._message(known.output["text"], known.output["status"])
        if known is not None:
            self._args = known.args  # a person may have edited them
        if (reason := self._args.get(calls.REFUSED)) is not None:
            return self._note(texts.refused_arguments(reason), "error")
        if self._tool is None:
            return self._note(texts.no_such_tool(self._name, list(self._agent.tools)), "error")
        if calls.BROKEN in self._args:
            return self._note(texts.broken_arguments(self._args[calls.BROKEN]), "error")
        if known is not None and not self._stopped_to_ask and not (self._tool.repeatable or self._tool.asks):
            return await self._confirmed(unknown=True)
        # Once a person was asked, their decision counts, even if the agent's file has changed since.
        if self._agent.permission(self._name) == "confirm" or self._approvals():
            return await self._confirmed()
        return await self._make()

    def refuse(self) -> Message:
        known = self._run.journal.get(self._id)
        if known is not None and known.output is not None:
            return self._message(known.output["text"], known.output["status"])
        return self._note(texts.refused(""), "refused")

    def is_decided(self) -> bool:
        if self._tool is None or self._tool.only_asks:
            return True
        granted = self._name in self._run.grants and not self._approvals()
        return self._agent.permission(self._name) == "confirm" and not granted

    async def _confirmed(self, unknown: bool = False) -> Message:
        """Follow the person's decision about this call, or their grant for the tool. Without either, ask."""
        if (given := self._given(unknown)) is not None:
            return await self._decided(*given, unknown)
        if not unknown and self._name in self._run.grants:
            try:
                return await self._make(granted=True)
            except _Revoked:
                self._run.grants.discard(self._name)
        assert self._tool is not None  # noqa: S101 - for the type checker
        if not unknown and (reason := await self._refusal(self._tool)) is not None:
            return self._note(reason, "error")
        raise AnswersNeeded([await self._approval(unknown)])

    async def _refusal(self, tool: Tool) -> str | None:
        """Why the call can only be refused. A check that fails is a failure of the tool."""
        try:
            async with asyncio.timeout(self._seconds()):
                with strays_fail(self._run.is_broken_off):
                    return await tool.refusal(self._args)
        except ToolError as error:
            return str(error)
        except Exception:  # noqa: BLE001 - logged with its id
            return self._failed()

    def _failed(self) -> str:
        """What the model reads about the exception that is being handled, which is logged."""
        error_id = ids.error()
        logger.exception("tool %s failed (%s)", self._name, error_id)
        return texts.tool_failed(error_id)

    def _given(self, unknown: bool) -> tuple[Approval, Answer] | None:
        """The decision about this call, unless the person has stopped the turn since. Each attempt with an
        unknown outcome needs its own decision."""
        transcript = self._run.transcript
        decided = self._approvals(unknown)
        if not decided or decided[-1][0].id in transcript.lapsed:
            return None
        enough = not unknown or len(decided) >= transcript.attempts.get(self._id, 0)
        return decided[-1] if enough else None

    def _approvals(self, unknown: bool = False) -> list[tuple[Approval, Answer]]:
        return [
            (item, answer)
            for item, answer in self._answered()
            if isinstance(item, Approval) and item.unknown == unknown
        ]

    def _answered(self) -> list[tuple[Interrupt, Answer]]:
        """The interrupts of this call that have an answer, with the answer."""
        return [
            (item.interrupt, item.answer)
            for item in self._run.interrupts
            if item.interrupt.tool_call_id == self._id and item.answer is not None
        ]

    async def _approval(self, unknown: bool, changed: bool = False) -> Approval:
        (label, description), args = await self._described()
        if unknown:
            description = texts.unknown_outcome(description, self._run.language)
        if changed:
            description = texts.changed_since(description, self._run.language)
        return Approval(
            ids.interrupt(),
            tool_call_id=self._id,
            name=self._name,
            args=args,
            label=label,
            description=description,
            unknown=unknown,
            file=await self._file(),
            changed=changed,
            agent=self._agent.name,
            parent=self._scope.parent,
        )

    async def _file(self) -> File | None:
        """What the file holds that the call would replace."""
        if self._tool is None or self._tool.replaces is None:
            return None
        with self._context().active():
            return await self._tool.replaces.look(self._args)

    async def _check_file(self, asked: Approval, unknown: bool) -> None:
        """Ask again if the file is no longer what the person was shown: they approved something else. What
        cannot be looked at is left to the call, which says what is wrong."""
        replaces = self._tool.replaces if self._tool is not None else None
        if replaces is None:
            return
        self._expected = _expected(asked.file, self._args.get("path"))
        with self._context().active():
            if self._expected is not None and await replaces.unchanged(self._args, self._expected):
                return
            if await replaces.look(self._args) is None:
                return
        raise AnswersNeeded([await self._approval(unknown, changed=True)])

    def _ask(self, item: Interrupt) -> Answer:
        """The answer that the tool itself asks for. If it asks the same more than once, answers are matched
        in order. The answer to one question never counts for another."""
        if isinstance(item, Approval):
            raise TypeError("an approval is about a call: a tool asks for a confirmation")
        what = _what(item)
        place = self._asks[what]
        self._asks[what] += 1
        given = [answer for answered, answer in self._answered() if _what(answered) == what]
        if place >= len(given):
            mine = replace(item, id=ids.interrupt(), tool_call_id=self._id, agent=self._agent.name)
            raise AnswersNeeded([replace(mine, parent=self._scope.parent)])
        return given[place]

    async def _decided(self, asked: Approval, answer: Answer, unknown: bool) -> Message:
        match answer.decision:
            case "reject" if unknown:
                return self._note(texts.left_unknown(answer.message), "unknown")
            case "reject":
                return self._note(texts.refused(answer.message), "refused")
            case "respond":
                return self._note(answer.message, "answered")
            case "edit":
                self._args = answer.args or {}
                await self._check_file(asked, unknown)
                return await self._make()
            case "approve":
                if asked.changed:
                    self._args = asked.args  # a person may have edited them before
                self._args = self._shown(asked)
                await self._check_file(asked, unknown)
                return await self._make()
            case "answers" | "fields" | "value":
                raise ValueError(f"{answer.decision} is no decision about a tool call")
            case unreachable:
                assert_never(unreachable)

    def _shown(self, asked: Approval) -> dict[str, Any]:
        """The arguments with the defaults that the person was shown: they may be others by now."""
        known = self._tool.defaults if self._tool is not None else {}
        shown = {name: value for name, value in asked.args.items() if name in known}
        return {**self._args, **{name: value for name, value in shown.items() if name not in self._args}}

    async def _make(self, granted: bool = False) -> Message:
        """With `granted` the call is made because the tool is always allowed. The grant is checked in the
        transaction that begins the call, so no call begins after the grant was revoked."""

        def begun(connection: Connection) -> None:
            if granted and not grants.stands(connection, self._run.turn.num, self._name):
                raise _Revoked
            journal.begin(connection, self._run.turn.num, self._id, self._name, self._args)

        assert self._tool is not None  # noqa: S101 - for the type checker
        events = [] if self._goes_on() else [self._started()]
        if granted or not (self._tool.repeatable or self._tool.asks):
            await self._run.record(*events, also=begun, durable=not self._tool.repeatable)
        elif events:
            # If the record of the beginning is lost, the call is simply made again: there is no need to wait
            # for the disk.
            self._run.note(*events, also=begun, lax=not self._tool.asks)
        try:
            result = await self._outcome()
        except AnswersNeeded:
            if not self._tool.asks:
                self._run.note(also=self._stopped)
            raise
        if self._tool.asks:
            return self._note(result.text, result.status)
        return await self._keep(result)

    async def _keep(self, result: Result) -> Message:
        """End a call whose result has rows. If what they were made from has changed meanwhile, the tool is
        called again. Of the calls of a turn, one at a time is, so that each succeeds in the end."""
        try:
            return await self._offer(result)
        except Outdated:
            async with self._run.retries:
                for tried in range(_TRIES):
                    with suppress(Outdated):
                        return await self._offer(await self._outcome())
                    await asyncio.sleep(random.uniform(0, _PAUSE * 2**tried))  # noqa: S311 - no secret
        return self._end(Result(texts.changed_meanwhile(), "error"))

    async def _offer(self, result: Result) -> Message:
        text, status, rows, events = result
        if rows is None:
            return self._end(result)
        try:
            await self._run.offer(*events, self._finished(text, status), also=self._ended(result))
        except Outdated:
            raise
        except CaesuraError as error:
            if error.status >= 500:
                raise
            return self._end(Result(error.message, "error"))
        return self._message(text, status)

    def _goes_on(self) -> bool:
        """Whether this call has already begun. A tool that asks runs again from its beginning when the answer
        comes, but its start and its end are recorded once."""
        begun = self._run.transcript.running.get(self._id)
        same = begun is not None and begun.args == self._started().args
        return same and self._tool is not None and (self._tool.asks or self._stopped_to_ask)

    @property
    def _stopped_to_ask(self) -> bool:
        """Whether the call was not under way when this run began: it had stopped to ask the person."""
        known = self._run.journal.get(self._id)
        return known is not None and known.status == "asked"

    def _stopped(self, connection: Connection) -> None:
        journal.ask(connection, self._run.turn.num, self._id)

    async def _outcome(self) -> Result:
        assert self._tool is not None  # noqa: S101 - for the type checker
        seconds = self._seconds()
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                with self._working():
                    result = await self._watched(self._tool)
        except (AnswersNeeded, Released):
            raise
        except CaesuraError as error:
            if error.status >= 500:
                raise
            return Result(error.message, "error")
        except Exception:  # noqa: BLE001 - logged with its id
            if seconds is not None and clock.expired():
                return Result(texts.too_slow(seconds), "error")
            return Result(self._failed(), "error")
        # Cut first: a tool may return hundreds of megabytes, and cleaning looks at each character.
        text = json_data.text(outputs.bounded(result.text, self._run.limits.tool_output))
        return result._replace(text=self._run.holding.keep(self._id, text))

    @contextmanager
    def _working(self) -> Iterator[None]:
        with (
            closing(Progress(self._run, self._id)) as progress,
            replace(self._context(), progress=progress.tell).active(),
            self._scope.active(),
            strays_fail(self._run.is_broken_off),
        ):
            yield

    async def _watched(self, tool: Tool) -> Result:
        """Call the tool, and tell the observers."""
        begins = ToolBegins(self._name, self._id, self._args, self._agent.name, self._scope.parent)
        with self._run.watching.call(begins) as ended:
            try:
                result = await tool.run(self._args)
            except (AnswersNeeded, Released):
                ended.pauses = True
                raise
            ended.output, ended.failed = result.text, result.status == "error"
        return result

    def _seconds(self) -> float | None:
        """How long the tool may take. One that asks may let a sub-agent work."""
        assert self._tool is not None  # noqa: S101 - for the type checker
        if self._tool.timeout is not None:
            return self._tool.timeout
        return None if self._tool.asks else self._run.limits.tool

    def _context(self) -> RunContext:
        turn = self._run.turn
        return RunContext(
            conversation_id=turn.conversation_id,
            turn_id=turn.id,
            user_id=turn.user_id,
            agent=self._agent.name,
            language=self._run.language,
            workspace=self._run.workspace,
            tool_call_id=self._id,
            ask=self._ask,
            parent=self._scope.parent,
            database=self._run.database,
            expected=self._expected,
        )

    def _end(self, result: Result) -> Message:
        """End a call whose result has no rows."""
        # If this is lost, the outcome is unknown and a person decides: write it soon, but do not wait for the
        # disk.
        assert self._tool is not None  # noqa: S101 - for the type checker
        ended, lax = self._ended(result), self._tool.repeatable
        self._run.note(*result.events, self._finished(result.text, result.status), also=ended, lax=lax)
        return self._message(result.text, result.status)

    def _ended(self, result: Result) -> Also:
        def ended(connection: Connection) -> None:
            output = {"text": result.text, "status": result.status}
            journal.finish(connection, self._run.turn.num, self._id, output)
            if result.rows is not None:
                result.rows(connection)

        return ended

    def _note(self, text: str, status: ev.ToolStatus) -> Message:
        """The result of a call whose beginning was not journalled, or that was not made at all."""

        def noted(connection: Connection) -> None:
            journal.begin(connection, self._run.turn.num, self._id, self._name, self._args)
            journal.finish(connection, self._run.turn.num, self._id, {"text": text, "status": status})

        self._run.note(self._finished(text, status), also=noted)
        return self._message(text, status)

    def _started(self) -> ev.ToolStarted:
        return ev.ToolStarted(
            self._id, self._name, json_data.clean(self._args), self._agent.name, self._scope.parent
        )

    def _finished(self, text: str, status: ev.ToolStatus) -> ev.ToolFinished:
        return ev.ToolFinished(self._id, self._name, text, status, self._agent.name, self._scope.parent)

    def _message(self, text: str, status: str) -> Message:
        return Message("tool", text, tool_call_id=self._id, name=self._name, status=status)

    async def _described(self) -> tuple[Description, Any]:
        """The description of the call for a person, and its arguments."""
        assert self._tool is not None  # noqa: S101 - for the type checker
        tool, language = self._tool, self._run.language
        args = tool.filled(self._args)
        large = len(json_data.dumps(self._args)) > LARGE
        shown = await self._run.aside.run(json_data.clean, args) if large else json_data.clean(args)
        if tool.describe_apart is not None:
            return await tool.describe_apart(args, language), shown
        if large:
            return await self._run.aside.run(tool.describe, args, language), shown
        return tool.describe(args, language), shown


def _what(item: Interrupt) -> _What:
    """What is asked, in the form in which it is stored."""
    asked = item.questions if isinstance(item, Questions) else ()
    return type(item), json_data.dumps([interrupts.question_dict(question) for question in asked])


def _expected(shown: File | None, path: object) -> File | None:
    """What the file must be: what was shown or, under a path that a person has edited, no file at all."""
    if shown is None or not isinstance(path, str):
        return None
    return shown if shown.path == path else File(path)
