"""The roster: agent files, checked and listed."""

from __future__ import annotations

import json
import os
from pathlib import Path

from caesura.agents.loader import BUILTIN, Catalog
from caesura.agents.loader import schema as schema_of
from caesura.agents.models import default_model, full_name
from caesura.agents.tools.registry import standard
from caesura.core import shown
from caesura.settings import Settings


def check(directory: Path) -> int:
    """Returns the exit code: 1 if there is a fault."""
    catalog = Catalog(directory, standard().names, environ=os.environ)
    for fault in catalog.faults:
        print(shown.line(str(fault)))
    if catalog.faults:
        return 1
    good = [agent for agent in catalog.agents() if agent.path.parent != BUILTIN]
    names = ", ".join(agent.name for agent in good)
    print(f"good: {names}" if good else "there is no agent file (.yaml) in this folder")
    if mirrored := [agent.name for agent in good if agent.mirrored]:
        print(f"these need a Redis, and do not work without CAESURA_REDIS_URL: {', '.join(mirrored)}")
    return 0


def schema() -> None:
    print(json.dumps(schema_of(), indent=2, ensure_ascii=False))


def listing(agents_dir: str | None) -> None:
    settings = Settings.load(agents_dir=agents_dir)
    catalog = Catalog(settings.agents_dir, standard().names)
    default = default_model(os.environ, settings.model)
    for agent in catalog.agents():
        mark = "*" if agent.name == settings.default_agent else " "
        named = full_name(agent.spec.model.primary, default, settings.model_map)
        model = agent.spec.graph or agent.spec.model.class_ or named
        origin = "ships with Caesura" if agent.path.parent == BUILTIN else str(agent.path)
        print(f"{mark} {agent.name:<24} {shown.text(model):<24} {shown.text(origin)}")
        print(f"    {shown.text(agent.description.strip())}")
    for fault in catalog.faults:
        print(f"! {shown.line(str(fault))}")
