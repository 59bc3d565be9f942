"""The agents that a person can use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caesura.agents import loader, model_names, models
from caesura.agents.demo.model import LABEL as DEMO_LABEL
from caesura.agents.loader import Agent, Catalog

__all__ = ["Agent", "Agents"]


def is_demo(model: str | None) -> bool:
    """Whether this is the name of the model that is none."""
    return model == DEMO_LABEL


class Agents:
    def __init__(
        self,
        catalog: Catalog,
        default: str,
        default_model: str = model_names.DEMO,
        replaced_models: Mapping[str, str] = model_names.NOTHING_REPLACED,
    ) -> None:
        self._catalog = catalog
        self._default_model, self._replaced_models = default_model, replaced_models
        self.default = default

    def listing(self) -> list[Agent]:
        return self._catalog.agents()

    def get(self, name: str) -> Agent:
        return self._catalog.get(name)

    def mirrored(self) -> frozenset[str]:
        """The names of the agents whose questions are also shown in Redis."""
        return frozenset(agent.name for agent in self._catalog.agents() if agent.mirrored)

    def model(self, agent: Agent) -> str | None:
        """The name of the agent's model, for people. None if an operator's graph names none."""
        if agent.graph is not None and "model" not in agent.spec.model_fields_set:
            return None
        return models.named(agent.spec.model, self._default_model, self._replaced_models)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of an agent's file."""
        return loader.schema()
