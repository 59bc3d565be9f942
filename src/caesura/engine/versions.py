"""Which version of an agent works on a turn: the one that it began with, even if the file has changed."""

from __future__ import annotations

from caesura.core import events as ev
from caesura.core.errors import Fenced, NotFound, Unavailable
from caesura.core.fold import Transcript
from caesura.core.turns import Turn
from caesura.engine.agent import Compiled
from caesura.engine.builder import Builder
from caesura.engine.failures import AgentChanged, AgentGone
from caesura.store import agent_versions
from caesura.store.database import Database


class Versions:
    def __init__(self, database: Database, builder: Builder) -> None:
        self._database, self._builder = database, builder
        #: For each agent, the version that was stored last.
        self._stored: dict[str, str] = {}

    async def of(self, turn: Turn, transcript: Transcript) -> Compiled:
        """The agent for the next segment of a turn. An agent that cannot be made says why in its `fault`."""
        begun = transcript.version if _goes_on(transcript) else ""
        try:
            if begun in ("", self._builder.version(turn.agent)):
                current = self._builder.get(turn.agent)
                await self._keep(current)
                return current
            return await self._earlier(turn.agent, begun)
        except (Fenced, Unavailable):
            raise
        except NotFound:  # the file was deleted, or has an error since a restart
            return self._builder.unusable(turn.agent, AgentGone(turn.agent))
        except Exception as error:  # noqa: BLE001 - an operator's file may be wrong in any way
            return self._builder.unusable(turn.agent, error)

    async def _earlier(self, name: str, version: str) -> Compiled:
        body = None
        if not self._builder.knows(name, version):
            body = await self._database.read(agent_versions.get, name, version)
        try:
            found = self._builder.earlier(name, version, body)
        except ValueError as error:
            raise AgentChanged(name) from error
        if found is None:
            raise AgentChanged(name)
        return found

    async def _keep(self, agent: Compiled) -> None:
        """Store the version before the turn's first event names it."""
        if self._stored.get(agent.name) == agent.version:
            return
        if (body := self._builder.data_of(agent.name, agent.version)) is not None:
            await self._database.write_lightly(agent_versions.keep, agent.name, agent.version, body)
        self._stored[agent.name] = agent.version


def _goes_on(transcript: Transcript) -> bool:
    """Whether the turn goes on: after a question or a crash. A retry begins anew."""
    return transcript.outcome is None or isinstance(transcript.outcome, ev.Interrupted)
