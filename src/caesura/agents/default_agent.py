"""The default agent: whether a catalog has it, and which settings are wrong if not."""

from __future__ import annotations

from pathlib import Path

from caesura.agents.loader import Catalog


def lack(catalog: Catalog, name: str, directory: Path | None, built_in: bool) -> str | None:
    """What keeps a server with this default agent from starting; None if nothing does."""
    names = [agent.name for agent in catalog.agents()]
    if name in names:
        return None
    why = f" (caesura agents check {directory} says why)" if catalog.faults else ""
    if names:
        others = f"; with CAESURA_BUILT_IN_AGENTS=false there are {', '.join(names)}" if not built_in else ""
        return f"CAESURA_DEFAULT_AGENT: agent not found: {name}{others}{why}"
    if directory is None:
        place = "set CAESURA_AGENTS_DIR to the folder of your agents"
    else:
        place = f"no agent in CAESURA_AGENTS_DIR={directory} can be used"
    return f"CAESURA_BUILT_IN_AGENTS=false leaves no agent: {place}{why}"
