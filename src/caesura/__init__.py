"""A server for agent conversations."""

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from caesura.agents.tools.own.context import Context as Context
    from caesura.agents.tools.own.context import Declined as Declined
    from caesura.agents.tools.own.marks import tool as tool
    from caesura.agents.tools.tool import ToolError as ToolError

__version__ = "0.1.0"

#: What an operator's own tools use. Loaded when it is used, so that a command line starts quickly.
_HOMES = {
    "Context": "caesura.agents.tools.own.context",
    "Declined": "caesura.agents.tools.own.context",
    "ToolError": "caesura.agents.tools.tool",
    "tool": "caesura.agents.tools.own.marks",
}

# Read by LangGraph when it is imported: without it, a stored checkpoint could name any importable to call.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'caesura' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
