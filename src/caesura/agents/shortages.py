"""Models of agents that cannot be used, in words: for the server's log and for the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from caesura.agents import document
from caesura.agents.document import Malformed
from caesura.agents.faults import Fault, dotted
from caesura.agents.faults import Path as FieldPath
from caesura.agents.loader import Agent
from caesura.agents.model_names import NOTHING_REPLACED
from caesura.agents.models import lack


class Shortage(NamedTuple):
    """`reasons` have the field of the agent's file that each is about. `fatal` is whether every turn of the
    agent fails because of it."""

    agent: Agent
    reasons: Mapping[str, FieldPath]
    effect: str
    fatal: bool

    def __str__(self) -> str:
        return f"agent {self.agent.name}: {'; '.join(self.reasons)} ({self.effect})"

    def places(self) -> Iterator[Fault]:
        """The same with the lines of the agent's file."""
        try:
            found = document.parse(self.agent.path.read_bytes())
        except (Malformed, OSError):
            found = None  # it has changed since
        for reason, path in self.reasons.items():
            line = found.line(path) if found is not None else 0
            yield Fault(self.agent.path.name, line, dotted(path), reason, self.effect)


def shortage(
    agent: Agent,
    default_model: str,
    environ: Mapping[str, str],
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> Shortage | None:
    """What the models of this agent and of its sub-agents lack, such as a key; None if all can be used. The
    models of an agent also make titles and summaries."""
    own = _own(agent, default_model, environ, replaced)
    if own is not None and own.fatal:
        return own
    reasons: dict[str, FieldPath] = {}
    for number, link in enumerate(agent.sub_agents):
        found = shortage(link.agent, default_model, environ, replaced)
        if found is not None and found.fatal:
            path = ("spec", "sub_agents", number, "ref")
            reasons |= {f"sub-agent {link.agent.name}: {reason}": path for reason in found.reasons}
    if not reasons:
        return own
    reasons = {**own.reasons, **reasons} if own is not None else reasons
    return Shortage(agent, reasons, "its turns fail until then: it needs all of its sub-agents", True)


def _own(
    agent: Agent, default_model: str, environ: Mapping[str, str], replaced: Mapping[str, str]
) -> Shortage | None:
    is_graph = agent.spec.type == "langgraph"
    if is_graph and "model" not in agent.spec.model_fields_set:
        return None
    reasons, none_left = lack(agent.spec.model, default_model, environ, replaced)
    if not reasons:
        return None
    if not none_left:
        return Shortage(agent, reasons, "skipped until then: the agent's other models answer", False)
    if is_graph:
        return Shortage(agent, reasons, "until then first words are the titles of its conversations", False)
    return Shortage(agent, reasons, "its turns fail until then: it has no other model", True)
