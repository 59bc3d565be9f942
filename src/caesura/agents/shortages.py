"""Models of agents that cannot be used, in words: for the server's log and for the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from caesura.agents.loader import Agent
from caesura.agents.model_names import NOTHING_REPLACED
from caesura.agents.models import lack


class Shortage(NamedTuple):
    """`fatal` is whether every turn of the agent fails because of it."""

    agent: str
    reasons: tuple[str, ...]
    effect: str
    fatal: bool

    def __str__(self) -> str:
        return f"agent {self.agent}: {'; '.join(self.reasons)} ({self.effect})"


def shortage(
    agent: Agent,
    default_model: str,
    environ: Mapping[str, str],
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> Shortage | None:
    """What the models of this agent lack, such as a key; None if all can be used."""
    is_graph = agent.spec.type == "langgraph"
    if is_graph and "model" not in agent.spec.model_fields_set:
        return None
    reasons, none_left = lack(agent.spec.model, default_model, environ, replaced)
    if not reasons:
        return None
    if not none_left:
        return Shortage(agent.name, reasons, "skipped until then: the agent's other models answer", False)
    if is_graph:
        return Shortage(agent.name, reasons, "until then its conversations get no titles", False)
    return Shortage(agent.name, reasons, "its turns fail until then: it has no other model", True)
