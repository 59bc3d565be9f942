"""Which version of an agent works on a turn: what its file said when the turn began, and the code of now."""

from __future__ import annotations

from dataclasses import replace

from caesura.agents import versions
from caesura.agents.loader import Agent
from caesura.core import events as ev
from caesura.core.errors import Fenced, NotFound, Unavailable
from caesura.core.fold import Transcript
from caesura.core.turns import Turn
from caesura.engine.agent import Compiled
from caesura.engine.builder import Builder
from caesura.store import agent_versions
from caesura.store.database import Database


class Versions:
    def __init__(self, database: Database, builder: Builder) -> None:
        self._database, self._builder = database, builder
        #: For each agent, the version that was stored last.
        self._stored: dict[str, str] = {}

    async def of(self, turn: Turn, transcript: Transcript) -> Compiled:
        """The agent for the next segment of a turn. An agent that cannot be made says why in its `fault`.
        Raises `NotFound` if this process has no such agent, unless the segment only closes the turn."""
        try:
            now = self._builder.agent(turn.agent)
        except NotFound as error:
            if turn.stop_requested is None and turn.status != "waiting":
                raise
            return self._builder.unusable(turn.agent, error)
        begun = transcript.version if _goes_on(transcript) else ""
        try:
            if begun in ("", now.version):
                await self._keep(now)
                return self._builder.current(now)
            data = await self._database.read(agent_versions.get, now.name, begun)
            return replace(self._builder.earlier(data, now), changed=True)
        except (Fenced, Unavailable):
            raise
        except Exception as error:  # noqa: BLE001 - an operator's file may be wrong in any way
            return self._builder.unusable(turn.agent, error)

    async def _keep(self, agent: Agent) -> None:
        """Store the version before the turn's first event names it."""
        if self._stored.get(agent.name) != agent.version:
            await self._database.write_lightly(
                agent_versions.keep, agent.name, agent.version, versions.dump(agent)
            )
            self._stored[agent.name] = agent.version


def _goes_on(transcript: Transcript) -> bool:
    """Whether the turn goes on: after a question or a crash. A retry begins anew."""
    return transcript.outcome is None or isinstance(transcript.outcome, ev.Interrupted)
