"""What may be wrong with an agent that can be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from caesura.agents import graphs
from caesura.agents.loader import Agent


def cautions(agent: Agent, redis: bool = True) -> Iterator[str]:
    """`redis` is whether the server has a Redis."""
    if agent.mirrored and not redis:
        yield (
            f"agent {agent.name}: its questions are not shown in Redis, and wait in the database alone"
            " (set CAESURA_REDIS_URL, or leave out interrupt.checkpoint_backend)"
        )
    for name, count in Counter(agent.spec.tools or ()).items():
        if count > 1:
            yield f"agent {agent.name}: {name} is listed {count} times in spec.tools (once is enough)"
    for target, tool in agent.own.items():
        if not tool.documented:
            yield (
                f"agent {agent.name}: {target} has no docstring, so the model knows only its name"
                " (say in a docstring what it is for)"
            )
    if agent.graph is not None and (unknown := graphs.unknown_context(agent.graph)):
        yield (
            f"agent {agent.name}: the context_schema of its graph requires {', '.join(unknown)},"
            " which no graph gets, so runtime.context is None (make optional what it requires besides)"
        )
