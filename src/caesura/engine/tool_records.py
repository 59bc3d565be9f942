"""The record of a tool call: what the journal and the log say about it, each time in one transaction."""

from __future__ import annotations

from sqlalchemy import Connection

from caesura.agents.tools.tool import Result
from caesura.core import events as ev
from caesura.core import json_data
from caesura.core.errors import CaesuraError, Outdated
from caesura.core.messages import Message
from caesura.engine.tool_wishes import Wish
from caesura.log.stream import Also
from caesura.store import grants
from caesura.store import tool_calls as journal
from caesura.store.database import brief
from caesura.store.tool_calls import ToolCall


class Revoked(Exception):
    """The tool is no longer always allowed."""


class Record:
    def __init__(self, wish: Wish) -> None:
        self._wish, self._run = wish, wish.run

    @property
    def known(self) -> ToolCall | None:
        """What the journal had about this call when this run began."""
        return self._run.journal.get(self._wish.id)

    @property
    def result(self) -> Message | None:
        """The result of a call that has ended."""
        known = self.known
        if known is None or known.output is None:
            return None
        return self._message(known.output["text"], known.output["status"])

    @property
    def stopped_to_ask(self) -> bool:
        """Whether the call was not under way when this run began: it had stopped to ask the person."""
        known = self.known
        return known is not None and known.status == "asked"

    async def begin(self, granted: bool) -> None:
        """With `granted` the call is made because the tool is always allowed. The grant is checked in the
        transaction that begins the call, so no call begins after the grant was revoked."""
        wish, tool = self._wish, self._wish.tool

        @brief
        def begun(connection: Connection) -> None:
            if granted and not grants.stands(connection, self._run.turn.num, wish.permit):
                raise Revoked
            journal.begin(connection, self._run.turn.num, wish.id, wish.name, wish.args, wish.place)

        events = [] if self._goes_on() else [self._started()]
        if granted or not (tool.repeatable or tool.asks):
            await self._run.record(*events, also=begun, durable=not tool.repeatable)
        elif events or self._is_told or self.stopped_to_ask:
            # If the record of the beginning is lost, the call is simply made again: there is no need to wait
            # for the disk.
            self._run.note(*events, also=begun, lax=not tool.asks)

    def ask(self) -> None:
        """The call has stopped to ask the person."""
        self._run.note(also=lambda connection: journal.ask(connection, self._run.turn.num, self._wish.id))

    async def offer(self, result: Result) -> Message:
        """End a call. Raises `Outdated` if what the rows of its result were made from has changed."""
        text, status, rows, events = result
        if rows is None:
            return self.end(result)
        try:
            await self._run.offer(*events, self._finished(text, status), also=self._ended(result))
        except Outdated:
            raise
        except CaesuraError as error:
            if error.status >= 500:
                raise
            return self.end(Result(error.message, "error"))
        return self._message(text, status)

    def end(self, result: Result) -> Message:
        """End a call whose result has no rows."""
        # If this is lost, the outcome is unknown and a person decides: write it soon, but do not wait for the
        # disk.
        ended, lax = self._ended(result), self._wish.tool.repeatable
        self._run.note(*result.events, self._finished(result.text, result.status), also=ended, lax=lax)
        return self._message(result.text, result.status)

    def note(self, text: str, status: ev.ToolStatus) -> Message:
        """The result of a call whose beginning was not journalled, or that was not made at all."""
        wish, turn = self._wish, self._run.turn.num

        @brief
        def noted(connection: Connection) -> None:
            journal.begin(connection, turn, wish.id, wish.name, wish.args, wish.place)
            journal.finish(connection, turn, wish.id, {"text": text, "status": status})

        self._run.note(self._finished(text, status), also=noted)
        return self._message(text, status)

    def _goes_on(self) -> bool:
        """Whether this call has already begun. A tool that asks runs again from its beginning when the answer
        comes, but its start and its end are recorded once."""
        begun = self._run.transcript.running.get(self._wish.id)
        same = begun is not None and begun.args == self._started().args
        return same and (self._wish.tool.asks or self.stopped_to_ask or self._is_told)

    @property
    def _is_told(self) -> bool:
        """Whether this is the first call of a graph's tool. That the graph's model asks for it was told
        before the graph makes it."""
        return self._wish.agent.foreign and self.known is None

    def _ended(self, result: Result) -> Also:
        def ended(connection: Connection) -> None:
            output = {"text": result.text, "status": result.status}
            journal.finish(connection, self._run.turn.num, self._wish.id, output)
            if result.rows is not None:
                result.rows(connection)

        return ended if result.rows is not None else brief(ended)

    def _started(self) -> ev.ToolStarted:
        wish = self._wish
        return ev.ToolStarted(
            wish.id, wish.name, json_data.clean(wish.args), wish.agent.name, wish.scope.parent
        )

    def _finished(self, text: str, status: ev.ToolStatus) -> ev.ToolFinished:
        wish = self._wish
        return ev.ToolFinished(wish.id, wish.name, text, status, wish.agent.name, wish.scope.parent)

    def _message(self, text: str, status: str) -> Message:
        return Message("tool", text, tool_call_id=self._wish.id, name=self._wish.name, status=status)
