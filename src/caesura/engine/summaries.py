"""Summaries of what is too long ago for a model's window: made beside the turns, by the same model, and kept
in rows. Nothing waits for one. One that is lost is made again after a later turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple

from caesura.agents import summaries as texts
from caesura.core import events as ev
from caesura.core.language import Language
from caesura.core.messages import Message
from caesura.core.turns import Turn
from caesura.engine import asides, model_failures, tokens, view
from caesura.engine.agent import Compiled
from caesura.engine.branch import Branch, Told
from caesura.engine.history import said_in
from caesura.engine.observers import Watching
from caesura.engine.run import Run
from caesura.engine.titles import Spawn
from caesura.models.model import Model
from caesura.store import summaries
from caesura.store.database import Database
from caesura.store.summaries import Summary

logger = logging.getLogger(__name__)

#: From this part of the limit on, a summary is made of what the next cut leaves out, if there is none yet.
_FULL = 0.8
#: How many summaries are made at once, how many wait for their turn, and the seconds that one may take.
_AT_ONCE, _WAITING, _SECONDS = 4, 100, 180.0
#: The parts of the limit that a summary is made from, is asked for, and may take.
_READ, _WRITTEN, _KEPT = 0.5, 0.1, 0.25


class _Wanted(NamedTuple):
    """`turns` follow the turn of the summary `earlier`; the new one covers them too."""

    conversation_id: str
    language: Language
    watching: Watching
    model: Model
    earlier: Summary | None
    turns: Sequence[Told]
    limit: int


class Summaries:
    def __init__(self, database: Database, spawn: Spawn) -> None:
        self._database, self._spawn = database, spawn
        #: The conversations for which a model is making a summary now.
        self._requested: set[str] = set()
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def of(self, turn: Turn, agent: Compiled) -> Sequence[Summary]:
        """The summaries of the turn's conversation, if its agent uses them."""
        if agent.spec.model.context != "summarise" or agent.foreign or turn.parent_id is None:
            return ()
        return await self._database.read(summaries.of, turn.conversation_id)

    def begin(self, run: Run) -> None:
        """The segment has ended. If the turn is done, make a summary if the next turns need one."""
        conversation_id = run.turn.conversation_id
        if not isinstance(run.transcript.outcome, ev.Finished):
            return
        if run.agent.spec.model.context != "summarise" or conversation_id in self._requested:
            return
        if len(self._requested) < _WAITING and _wanted(run, run.summaries) is not None:
            self._requested.add(conversation_id)
            self._spawn(self._make(run))

    async def _make(self, run: Run) -> None:
        """Make the summary. Errors are logged and affect nothing else."""
        conversation_id = run.turn.conversation_id
        try:
            # One may have been made while the turn ran.
            wanted = _wanted(run, await self._database.read(summaries.of, conversation_id))
            if wanted is None:
                return
            async with self._places, asyncio.timeout(_SECONDS):
                text = texts.clean(await _ask(wanted))
                if text is not None:
                    most = max(int(wanted.limit * _KEPT), 200)
                    made = Summary(wanted.turns[-1].id, text[:most])
                    await self._database.write_lightly(summaries.put, conversation_id, made)
        except Exception as error:  # noqa: BLE001 - nothing waits for a summary
            what = f"no summary for conversation {conversation_id}"
            model_failures.log(logger, logging.WARNING, what, error)
        finally:
            self._requested.discard(conversation_id)


def _wanted(run: Run, known: Sequence[Summary]) -> _Wanted | None:
    """What is to be summarised: what the newest view left out, or the next cut will leave out, as far as no
    summary covers it."""
    if run.last_view is None:
        return None
    model, window, shown = run.last_view
    most = window.limit_of(run.turn.conversation_id)
    if most is None:
        return None
    said = said_in(run.turn.content, run.transcript.messages())
    branch = run.history.extended(Told.of(run.turn.id, said), None)
    agent = run.agent
    base = tokens.of_text(agent.system_prompt) + tokens.of_schemas(agent.schemas)
    limit = max(int(most / window.ratio(run.turn.conversation_id)), 1)
    first = _first(branch, shown.first)
    covered, earlier = _covered(branch, known)
    if covered <= first:
        seen = view.weight_from(branch, first, earlier)
        first = max(first, _next_cut(branch, base, seen, limit) if base + seen >= _FULL * limit else 0)
    elif base + view.weight_from(branch, covered, earlier) > limit:  # a cut there would not be enough
        first = view.place_after_cut(branch, base, limit)
    turns = branch.turns[covered:first]
    if not turns:
        return None
    return _Wanted(run.turn.conversation_id, run.language, run.watching, model, earlier, turns, limit)


def _next_cut(branch: Branch, base: int, seen: int, limit: int) -> int:
    """The first turn that is still shown after the next cut. Until then the prompt grows up to its limit.
    `seen` are the tokens of what is shown of the conversation now."""
    grown = view.place_after_cut(branch, max(limit - seen, base), limit)
    # The newest turn stays, unless it would be left out even now.
    return min(grown, max(view.place_after_cut(branch, base, limit), len(branch.turns) - 1))


def _first(branch: Branch, turn_id: str | None) -> int:
    return (branch.place(turn_id) or 0) if turn_id is not None else 0


def _covered(branch: Branch, known: Sequence[Summary]) -> tuple[int, Summary | None]:
    """Up to where the branch is covered by a summary, and this summary."""
    found = [(place, item) for item in known if (place := view.covers(branch, item)) is not None]
    return max(found, key=lambda pair: pair[0]) if found else (0, None)


async def _ask(wanted: _Wanted) -> str:
    messages: list[Message] = [message for turn in wanted.turns for message in turn.messages]
    # A character of Chinese is a token, so this many characters fit in any language.
    most = int(wanted.limit * _READ)
    words = max(int(wanted.limit * _WRITTEN), 40)
    earlier = wanted.earlier.text if wanted.earlier is not None else None
    prompt = texts.prompt(earlier, messages, wanted.language, most, min(words, 800))
    return await asides.ask(wanted.model, prompt, wanted.watching, 2 * texts.LONGEST)
