"""The title of a conversation: made once, beside the first answer that is let, by the agent's own model."""

from __future__ import annotations

import logging

from sqlalchemy import Connection

from caesura.agents import titles
from caesura.agents.chunks import text_of
from caesura.core import events as ev
from caesura.engine.run import Run
from caesura.store import conversations
from caesura.store.database import Database

logger = logging.getLogger(__name__)


#: The first turns of a conversation try to give it a title: the very first may have been stopped too soon.
TRIES = 3


async def make(run: Run, database: Database) -> None:
    """Title the conversation, if it has none. Whatever goes wrong is written down and harms nothing."""
    try:
        if run.turn.ordinal > 1:
            known = await database.read(conversations.find, run.turn.conversation_id)
            if known.title is not None:
                return
        answer = await run.agent.models[0].plain.ainvoke(titles.prompt(run.turn.content, run.language))
        title = titles.clean(text_of(answer))
        if title is not None:
            await run.record(ev.TitleChanged(title), also=lambda connection: _keep(connection, run, title))
    except _Titled:
        pass
    except Exception:
        logger.warning("no title for conversation %s", run.turn.conversation_id, exc_info=True)


def _keep(connection: Connection, run: Run, title: str) -> None:
    if not conversations.set_title(connection, run.turn.conversation_id, title, if_none=True):
        raise _Titled


class _Titled(Exception):
    """Somebody gave a title meanwhile: theirs stays, and no event says otherwise."""
