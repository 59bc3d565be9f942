"""An agent that is ready to run: either its models and its tools by name, or a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from caesura.agents.spec import Permission, Spec
from caesura.agents.tools.tool import Tool
from caesura.models.model import Model, Schema


@dataclass(frozen=True, slots=True)
class Compiled:
    name: str
    version: str
    spec: Spec
    models: tuple[Model, ...]
    tools: Mapping[str, Tool] = field(default_factory=dict)
    #: The tools as the models see them.
    schemas: tuple[Schema, ...] = ()
    permissions: Mapping[str, Permission] = field(default_factory=dict)
    #: The operator's own LangGraph graph, which is observed from outside.
    graph: Any = None
    #: Why the agent cannot run: its file is missing or invalid.
    fault: Exception | None = None

    @property
    def foreign(self) -> bool:
        return self.graph is not None

    @property
    def system_prompt(self) -> str:
        return self.spec.system_prompt
