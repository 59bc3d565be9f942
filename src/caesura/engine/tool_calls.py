"""Calling a tool: who must approve, what the journal records, which events are written.

A call is journalled before it is made and after it has ended, each time together with its event. A call that
has ended is never made again. A call that had begun when its process died may or may not have taken effect: a
tool that is safe to repeat is called again; for any other tool the person decides. A call that stopped to ask
the person something is journalled as such: it was not under way, so it is simply made again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, assert_never

from caesura.agents.tools import ask_user
from caesura.agents.tools.tool import Result
from caesura.core import fold, outputs
from caesura.core.answers import Answer
from caesura.core.errors import Outdated
from caesura.core.interrupts import Approval, Questions
from caesura.core.messages import Message
from caesura.engine import calls, texts, tool_approvals
from caesura.engine.run import AnswersNeeded, Scope
from caesura.engine.tool_records import Record, Revoked
from caesura.engine.tool_runs import ToolRun
from caesura.engine.tool_wishes import Wish

#: How often a tool is called while others change what it works on.
_TRIES = 8
#: Seconds after which it is called again, at most; twice as long each time. Calls of other turns do not wait
#: in the same order, so each waits for a random part of it.
_PAUSE = 0.02


async def call(scope: Scope, wanted: Mapping[str, Any]) -> Message:
    """The result of the call; raises `AnswersNeeded` if a person must decide first."""
    return await _Call(Wish(scope, wanted)).result()


def refuse(scope: Scope, wanted: Mapping[str, Any]) -> Message:
    """The result of a call that the person has refused together with the rest of the reply. The agent reads
    their reason in a message of its own."""
    record = Record(Wish(scope, wanted))
    return record.result or record.note(texts.refused(""), "refused")


def is_decided(scope: Scope, wanted: Mapping[str, Any]) -> bool:
    """Whether a person decides about this call, or has decided, before it does anything. A call of a tool
    that the agent does not have does nothing."""
    wish = Wish(scope, wanted)
    if wish.found is None or wish.found.only_asks:
        return True
    granted = wish.permit in wish.run.grants and not wish.approvals()
    return wish.agent.permission(wish.name) == "confirm" and not granted


class _Call:
    def __init__(self, wish: Wish) -> None:
        self._wish, self._run = wish, wish.run
        self._record, self._tool_run = Record(wish), ToolRun(wish)

    async def result(self) -> Message:
        wish, record = self._wish, self._record
        if (ended := record.result) is not None:
            return ended
        known = record.known
        if known is not None:
            wish.args = known.args  # a person may have edited them
        if (reason := wish.args.get(calls.REFUSED)) is not None:
            return record.note(texts.refused_arguments(reason), "error")
        if wish.found is None:
            return await self._without_tool()
        if calls.BROKEN in wish.args:
            return record.note(texts.broken_arguments(wish.args[calls.BROKEN]), "error")
        if known is not None and not record.stopped_to_ask and not (wish.tool.repeatable or wish.tool.asks):
            return await self._confirmed(unknown=True)
        # Once a person was asked, their decision counts, even if the agent's file has changed since.
        if wish.agent.permission(wish.name) == "confirm" or wish.approvals():
            return await self._confirmed()
        return await self._make()

    async def _without_tool(self) -> Message:
        """The result without the tool. The agent reads what a person has answered all the same."""
        wish, record = self._wish, self._record
        for asked, answer in wish.answered():
            if isinstance(asked, Questions) and asked.name == wish.name:  # of a tool that only asks
                return record.note(ask_user.result(asked.questions, answer), "ok")
        unknown = record.known is not None and not record.stopped_to_ask
        given = self._given(unknown)
        if given is not None and given[1].decision in ("reject", "respond"):
            return await self._decided(*given, unknown)
        if unknown:
            return record.note(fold.UNKNOWN, "unknown")  # it had begun before the tool was taken away
        answers = (
            texts.answered(asked, answer, self._run.language) for asked, answer in wish.answered(below=True)
        )
        told = "\n".join([texts.no_such_tool(wish.name, list(wish.agent.tools)), *filter(None, answers)])
        return record.note(outputs.bounded(told, self._run.limits.tool_output), "error")

    async def _confirmed(self, unknown: bool = False) -> Message:
        """Follow the person's decision about this call, or their grant for the tool. Without either, ask."""
        permit, grants = self._wish.permit, self._run.grants
        if (given := self._given(unknown)) is not None:
            return await self._decided(*given, unknown)
        if not unknown and permit in grants:
            try:
                return await self._make(granted=True)
            except Revoked:
                grants.discard(permit)
        if not unknown and (reason := await self._tool_run.refusal()) is not None:
            return self._record.note(reason, "error")
        raise AnswersNeeded.about(await tool_approvals.make(self._wish, self._tool_run, unknown))

    def _given(self, unknown: bool) -> tuple[Approval, Answer] | None:
        """The decision about this call, unless the person has stopped the turn since. Each attempt with an
        unknown outcome needs its own decision."""
        transcript = self._run.transcript
        decided = self._wish.approvals(unknown)
        lapsed = transcript.lapsed | transcript.ids_before_retry if unknown else transcript.lapsed
        if not decided or decided[-1][0].id in lapsed:
            return None
        return decided[-1] if not unknown or self._wish.id in transcript.doubted else None

    async def _decided(self, asked: Approval, answer: Answer, unknown: bool) -> Message:
        wish, record = self._wish, self._record
        match answer.decision:
            case "reject" if unknown:
                return record.note(texts.left_unknown(answer.message), "unknown")
            case "reject":
                return record.note(texts.refused(answer.message), "refused")
            case "respond":
                return record.note(answer.message, "answered")
            case "edit":
                wish.args = answer.args or {}
            case "approve":
                if asked.changed:
                    wish.args = asked.args  # a person may have edited them before
                wish.args = tool_approvals.shown_args(wish, asked)
            case "answers" | "fields" | "value":
                raise ValueError(f"{answer.decision} is no decision about a tool call")
            case unreachable:
                assert_never(unreachable)
        await tool_approvals.check_file(wish, self._tool_run, asked, unknown)
        return await self._make()

    async def _make(self, granted: bool = False) -> Message:
        """With `granted` the call is made because the tool is always allowed."""
        await self._record.begin(granted)
        try:
            result = await self._tool_run.outcome()
        except AnswersNeeded:
            self._record.ask()
            raise
        if self._wish.tool.asks:
            return self._record.note(result.text, result.status)
        return await self._keep(result)

    async def _keep(self, result: Result) -> Message:
        """End a call whose result has rows. If what they were made from has changed meanwhile, the tool is
        called again. Of the calls of a turn, one at a time is, so that each succeeds in the end."""
        try:
            return await self._record.offer(result)
        except Outdated:
            async with self._run.retries:
                for tried in range(_TRIES):
                    with suppress(Outdated):
                        return await self._record.offer(await self._tool_run.outcome())
                    await asyncio.sleep(random.uniform(0, _PAUSE * 2**tried))  # noqa: S311 - no secret
        return self._record.end(Result(texts.changed_meanwhile(), "error"))
