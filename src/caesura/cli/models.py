"""The models that a provider offers."""

from __future__ import annotations

import asyncio
import os
import sys

from caesura.agents.model_names import DEFAULT, default_model
from caesura.agents.models import ModelUnavailable, offered
from caesura.agents.spec import Model as Spec
from caesura.cli.remedies import remedy_for_list
from caesura.cli.roster import catalog_of
from caesura.core import shown
from caesura.models.connections import Connections
from caesura.models.failures import ModelError
from caesura.settings import Settings


def listing(agent: str | None, model: str | None, agents_dir: str | None) -> None:
    """Print the names of what is offered, and on standard error how to use one."""
    settings = Settings.load(agents_dir=agents_dir, model=model)
    found = asyncio.run(_offered(settings, agent))
    for name in found:
        print(shown.line(name))
    chooses = f"spec.model.primary in the file of {agent} chooses" if agent else "CAESURA_MODEL chooses"
    whose = "the agent's" if agent else "the server's"
    print(f"{len(found)} models; {chooses} {whose}: provider:name", file=sys.stderr)


async def _offered(settings: Settings, agent: str | None) -> list[str]:
    default = default_model(os.environ, settings.model)
    spec = Spec(primary=DEFAULT) if agent is None else catalog_of(settings).get(agent).spec.model
    try:
        async with Connections(os.environ) as connections:
            return await offered(spec, default, os.environ, connections, settings.model_map)
    except ModelError as error:
        raise ModelUnavailable(f"{error}: {remedy_for_list(error)}") from error
