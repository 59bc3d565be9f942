"""The agents that a person can use."""

from __future__ import annotations

from typing import Any

from caesura.agents import loader
from caesura.agents.loader import Agent, Catalog

__all__ = ["Agent", "Agents"]


class Agents:
    def __init__(self, catalog: Catalog, default: str) -> None:
        self._catalog = catalog
        self.default = default

    def listing(self) -> list[Agent]:
        return self._catalog.agents()

    def get(self, name: str) -> Agent:
        return self._catalog.get(name)

    def mirrored(self) -> frozenset[str]:
        """The names of the agents whose questions are also shown in Redis."""
        return frozenset(agent.name for agent in self._catalog.agents() if agent.mirrored)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of an agent's file."""
        return loader.schema()
