"""The title of a conversation: made once, after the first words of a reply, by the same model. If that fails,
it is the first words of the message."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import Connection

from caesura.agents import titles
from caesura.core import events as ev
from caesura.engine import asides, model_failures
from caesura.engine.run import Run
from caesura.log import Log
from caesura.log.bulk import Bulk
from caesura.models.model import Model
from caesura.store import conversations
from caesura.store.database import Database

logger = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]

#: The first turns of a conversation try to give it a title: the very first may have been stopped too soon.
TRIES = 3
#: At most `_FEW` titles are started at once, and the next ones `_APART` seconds later.
_FEW, _APART = 4, 0.015
#: Characters of a reply that are read for a title.
_LONGEST = 100_000


class Titles:
    def __init__(self, database: Database, log: Log, spawn: Spawn) -> None:
        self._database, self._log, self._spawn = database, log, spawn
        #: The conversations for which a model is making a title now.
        self._requested: set[str] = set()
        self._few = asyncio.Semaphore(_FEW)

    def begin(self, run: Run) -> Title | None:
        """Make a title concurrently with this run, once it has text; None if no title is needed."""
        if run.turn.titled or run.turn.ordinal > TRIES or not run.agent.models:
            return None
        if run.control.stop or run.cause == "close":
            return None
        return Title(run, self._database, self._log, self._spawn, self._requested, self._in_turn)

    async def _in_turn(self) -> None:
        """Space out the titles of replies that begin together, so that text is delivered in between. Starting
        a title takes most of a millisecond of the event loop."""
        async with self._few:
            await asyncio.sleep(_APART)


class Title:
    """The title that one segment may produce. It follows the log like any reader, so the first words are on
    disk, and shown, before the model is called for the title."""

    def __init__(
        self,
        run: Run,
        database: Database,
        log: Log,
        spawn: Spawn,
        requested: set[str],
        in_turn: Callable[[], Awaitable[None]],
    ) -> None:
        self._run, self._database, self._log, self._requested = run, database, log, requested
        self._in_turn = in_turn
        self._calls_before = run.transcript.last_call
        self._asks = self._closed = False
        self.task = spawn(self._make(run.stream.last))

    @property
    def expected(self) -> bool:
        """Whether a title may still come. A segment without text gets none."""
        return not self.task.done() and self._has_words()

    def close(self) -> None:
        """Write no title from now on, even if the model ignores its cancellation."""
        self._closed = True
        self.task.cancel()
        if self._asks:
            self._asks = False
            self._requested.discard(self._run.turn.conversation_id)

    async def _make(self, after: int) -> None:
        """Make the title. Errors are logged and do not affect the run."""
        conversation_id = self._run.turn.conversation_id
        try:
            model = await self._speaker(after)
            await self._in_turn()
            if await self._is_titled() or conversation_id in self._requested:
                return
            self._requested.add(conversation_id)
            self._asks = True
            await self._write(await self._ask(model))
        except _Titled:
            pass
        except Exception as error:  # noqa: BLE001 - a turn does not fail for its title
            what = f"no title for conversation {conversation_id}"
            model_failures.log(logger, logging.WARNING, what, error)

    async def _is_titled(self) -> bool:
        """Whether the conversation has a title. A title that is set after this check is kept as well."""
        turn = self._run.turn
        if turn.titled is not None:
            return turn.titled
        return (await self._database.read(conversations.find, turn.conversation_id)).title is not None

    async def _speaker(self, after: int) -> Model:
        """The model that produces the first text, which is a fallback if the first model is unavailable. If a
        sub-agent produces it, the agent's own first model."""
        models = self._run.agent.models
        labels: dict[int, str] = {}
        async with aclosing(self._log.follow(self._run.turn.num, after)) as batches:
            async for batch in batches:
                for item in batch:
                    event = item.event
                    if isinstance(event, ev.ModelStarted) and event.parent is None:
                        labels[event.call] = event.model
                    elif isinstance(event, ev.TextDelta) and event.text:
                        label = labels.get(event.call)
                        return next((model for model in models if model.label == label), models[0])
        raise _Titled  # the turn was deleted, or the log is closed

    async def _ask(self, model: Model) -> str | None:
        run = self._run
        prompt = titles.prompt(run.turn.content, run.language)
        return titles.clean(await asides.ask(model, prompt, run.watching, _LONGEST, lambda: self._closed))

    async def _write(self, title: str | None) -> None:
        if title is not None and not self._closed:
            await self._run.record(ev.TitleChanged(title), also=_First(self._run.turn.conversation_id, title))

    def _has_words(self) -> bool:
        transcript, before = self._run.transcript, self._calls_before
        finished = (message.content for call, (_, message) in transcript.calls.items() if call > before)
        return any(finished) or any(
            any(draft.text) for call, draft in transcript.drafts.items() if call > before
        )


async def name_plainly(run: Run) -> None:
    """Give a conversation without a title the first words of its message. A model that failed has made none,
    a graph may have no model for it, and conversations without titles cannot be told apart."""
    title = titles.clean(run.turn.content)
    if title is None or run.turn.titled or run.turn.ordinal > TRIES:
        return
    with suppress(_Titled):
        await run.record(ev.TitleChanged(title), also=_First(run.turn.conversation_id, title))


@dataclass(frozen=True, slots=True)
class _First(Bulk):
    """The title of a conversation that has none."""

    conversation_id: str
    title: str

    @classmethod
    def write_all(cls, connection: Connection, items: Sequence[Self]) -> None:
        titles = {item.conversation_id: item.title for item in items}
        if conversations.set_first_titles(connection, titles) != len(items):
            raise _Titled


class _Titled(Exception):
    """No title is needed: somebody has set one, which stays, or the conversation was deleted."""
