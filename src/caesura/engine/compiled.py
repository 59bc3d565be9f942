"""An agent made ready to run: its graph, its models with their tools bound, its tools by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel

from caesura.agents.spec import Permission, Spec
from caesura.agents.tools.tool import Tool
from caesura.engine.saver import Saver


@dataclass(frozen=True, slots=True)
class BoundModel:
    """A chat model that knows the agent's tools. `plain` does not know them: titles are made with it."""

    label: str
    runnable: Any
    plain: BaseChatModel


@dataclass(frozen=True, slots=True)
class Compiled:
    name: str
    version: str
    spec: Spec
    graph: Any
    models: tuple[BoundModel, ...]
    tools: Mapping[str, Tool]
    permissions: Mapping[str, Permission]
    saver: Saver
    #: The graph is the operator's own: we watch it from outside.
    foreign: bool = False
    #: Why it cannot run at all: its file is gone, or wrong.
    fault: Exception | None = None

    @property
    def system_prompt(self) -> str:
        return self.spec.system_prompt
