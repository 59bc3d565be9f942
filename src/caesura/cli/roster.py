"""The roster: agent files, checked and listed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

from caesura.agents.cautions import cautions
from caesura.agents.default_agent import lack
from caesura.agents.loader import BUILTIN, Agent, Catalog
from caesura.agents.loader import schema as schema_of
from caesura.agents.model_names import NOTHING_REPLACED, default_model, full_name
from caesura.agents.shortages import Shortage, shortage
from caesura.agents.tools.registry import standard
from caesura.core import shown
from caesura.core.errors import StartupError
from caesura.settings import Settings


def check(directory: Path, opens: bool = False) -> int:
    """Print what is wrong, and what is good. Returns the exit code: 1 if there is a fault. With `opens` the
    MCP servers of the agents are opened too."""
    catalog = Catalog(directory, standard().names, builtin=_built_in(directory), environ=os.environ)
    for fault in catalog.faults:
        print(shown.line(str(fault)))
    agents = [agent for agent in catalog.agents() if agent.path.parent != BUILTIN]
    bad = _opened(agents) if opens else set()
    good = [agent for agent in agents if agent.name not in bad]
    if good:
        print(f"good: {', '.join(agent.name for agent in good)}")
    elif not (bad or catalog.faults):
        print("there is no agent file (.yaml) in this folder")
    for place in (place for found in _shortages(agents) for place in found.places()):
        print(f"warning: {shown.line(str(place))}")
    redis_url = settings.redis_url if (settings := _settings()) is not None else None
    for caution in (item for agent in agents for item in cautions(agent, redis=redis_url is not None)):
        print(f"warning: {shown.line(caution)}")
    if redis_url is not None and any(agent.mirrored for agent in agents):
        asyncio.run(_reach(redis_url))
    return 1 if bad or catalog.faults else 0


async def _reach(redis_url: str) -> None:
    """Print a warning if this Redis cannot be written to."""
    from caesura.service.redis_entries import Lost, RedisEntries

    try:
        async with aclosing(RedisEntries(redis_url)) as entries:
            await entries.check()
    except (Lost, ValueError) as error:
        print(f"warning: CAESURA_REDIS_URL: {shown.line(str(error))} (no questions are shown there)")


def _opened(agents: list[Agent]) -> set[str]:
    """The agents whose MCP servers are at fault, which is printed."""
    from caesura.cli import servers  # with the package of MCP, which takes a while

    return servers.check(agents)


def catalog_of(settings: Settings) -> Catalog:
    """The agents that a server with these settings would have, checked as the server does."""
    builtin = BUILTIN if settings.built_in_agents else None
    return Catalog(settings.agents_dir, standard().names, builtin=builtin, environ=os.environ)


def _built_in(directory: Path) -> Path | None:
    """The folder of the agents that files in this one may use as sub-agents."""
    settings = _settings(agents_dir=directory)
    return BUILTIN if settings is None or settings.built_in_agents else None


def _settings(**flags: Path) -> Settings | None:
    """The settings of this environment. If they are at fault, they say nothing about the files."""
    try:
        return Settings.load(**flags)
    except StartupError:
        return None


def _shortages(agents: list[Agent]) -> list[Shortage]:
    """With other settings a server may use other models, so those of this environment count."""
    settings = _settings()
    default = default_model(os.environ, settings.model if settings is not None else None)
    replaced = settings.model_map if settings is not None else NOTHING_REPLACED
    found = (shortage(agent, default, os.environ, replaced) for agent in agents)
    return [item for item in found if item is not None]


def schema() -> None:
    print(json.dumps(schema_of(), indent=2, ensure_ascii=False))


def listing(agents_dir: str | None) -> None:
    settings = Settings.load(agents_dir=agents_dir)
    catalog = catalog_of(settings)
    default = default_model(os.environ, settings.model)
    agents = catalog.agents()
    models = [shown.text(_model(agent, default, settings.model_map)) for agent in agents]
    wide = max((len(agent.name) for agent in agents), default=0), max(map(len, models), default=0)
    for agent, model in zip(agents, models, strict=True):
        mark = "*" if agent.name == settings.default_agent else " "
        origin = "ships with Caesura" if agent.path.parent == BUILTIN else str(agent.path)
        print(f"{mark} {agent.name:<{wide[0]}}  {model:<{wide[1]}}  {shown.text(origin)}")
        if description := agent.description.strip():
            print(f"    {shown.text(description)}")
    for fault in catalog.faults:
        print(f"! {shown.line(str(fault))}")
    if missing := lack(catalog, settings.default_agent, settings.agents_dir, settings.built_in_agents):
        print(f"! {shown.line(missing)}")


def _model(agent: Agent, default: str, replaced: Mapping[str, str]) -> str:
    spec = agent.spec
    return spec.graph or spec.model.class_ or full_name(spec.model.primary, default, replaced)
