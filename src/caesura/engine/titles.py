"""The title of a conversation: made once, after the first words of an answer, by the model that said them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any

from sqlalchemy import Connection

from caesura.agents import titles
from caesura.agents.chunks import text_of
from caesura.core import events as ev
from caesura.engine.cancellation import strays_fail
from caesura.engine.compiled import BoundModel
from caesura.engine.run import Run
from caesura.log import Log
from caesura.store import conversations
from caesura.store.database import Database

logger = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]

#: The first turns of a conversation try to give it a title: the very first may have been stopped too soon.
TRIES = 3
#: So many titles are begun at once, and the next ones after so many seconds.
_FEW, _APART = 8, 0.015


class Titles:
    def __init__(self, database: Database, log: Log, spawn: Spawn) -> None:
        self._database, self._log, self._spawn = database, log, spawn
        #: The conversations whose title a model is asked for now.
        self._asked: set[str] = set()
        self._few = asyncio.Semaphore(_FEW)

    def begin(self, run: Run) -> Title | None:
        """Make a title beside this run once it has words; None where none is to be made."""
        if run.turn.ordinal > TRIES or not run.agent.models or run.control.stop or run.cause == "close":
            return None
        return Title(run, self._database, self._log, self._spawn, self._asked, self._in_turn)

    async def _in_turn(self) -> None:
        """When many answers begin together, words come between their titles: to ask for one takes a good part
        of a millisecond of the event loop."""
        async with self._few:
            await asyncio.sleep(_APART)


class Title:
    """A title that may come of one segment. It reads the log as any reader does, so the first words are on
    disk, and shown, before the model is asked for anything else."""

    def __init__(
        self,
        run: Run,
        database: Database,
        log: Log,
        spawn: Spawn,
        asked: set[str],
        in_turn: Callable[[], Awaitable[None]],
    ) -> None:
        self._run, self._database, self._log, self._asked = run, database, log, asked
        self._in_turn = in_turn
        self._calls_before = run.transcript.last_call
        self._asks = self._closed = False
        self.task = spawn(self._make(run.stream.last))

    @property
    def expected(self) -> bool:
        """Whether it may still come. A segment without words has none."""
        return not self.task.done() and self._has_words()

    def close(self) -> None:
        """From here on no title is written, even if the model ignores that its call is cancelled."""
        self._closed = True
        self.task.cancel()
        if self._asks:
            self._asks = False
            self._asked.discard(self._run.turn.conversation_id)

    async def _make(self, after: int) -> None:
        """Whatever goes wrong is written down and harms nothing."""
        conversation_id = self._run.turn.conversation_id
        try:
            model = await self._speaker(after)
            await self._in_turn()
            known = await self._database.read(conversations.find, conversation_id)
            if known.title is not None or conversation_id in self._asked:
                return
            self._asked.add(conversation_id)
            self._asks = True
            await self._write(await self._ask(model))
        except _Titled:
            pass
        except Exception:
            logger.warning("no title for conversation %s", conversation_id, exc_info=True)

    async def _speaker(self, after: int) -> BoundModel:
        """The model that says the first words: where the first of several is not available, another one is.
        Where a sub-agent says them, the agent's own first model."""
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
        raise _Titled  # the turn was deleted

    async def _ask(self, model: BoundModel) -> str | None:
        run = self._run
        with strays_fail():
            said = await model.plain.ainvoke(titles.prompt(run.turn.content, run.language))
        return titles.clean(text_of(said))

    async def _write(self, title: str | None) -> None:
        if title is not None and not self._closed:
            await self._run.record(ev.TitleChanged(title), also=lambda c: _keep(c, self._run, title))

    def _has_words(self) -> bool:
        transcript, before = self._run.transcript, self._calls_before
        finished = (message.content for call, (_, message) in transcript.calls.items() if call > before)
        return any(finished) or any(
            any(draft.text) for call, draft in transcript.drafts.items() if call > before
        )


def _keep(connection: Connection, run: Run, title: str) -> None:
    if not conversations.set_title(connection, run.turn.conversation_id, title, if_none=True):
        raise _Titled


class _Titled(Exception):
    """No title is needed any more: somebody gave one, which stays, or the conversation is gone."""
