"""A call that a model wants, and the tool for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caesura.agents.tools.tool import Tool
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval, Interrupt
from caesura.core.permits import Permit
from caesura.engine.run import Scope


class Wish:
    """`args` are those of the model, until a person edits them."""

    def __init__(self, scope: Scope, wanted: Mapping[str, Any]) -> None:
        self.scope, self.run, self.agent = scope, scope.run, scope.agent
        self.id = str(wanted["id"])
        self.name: str = wanted["name"]
        self.args: dict[str, Any] = wanted["args"]
        self.place: str | None = wanted.get("place")
        self.found: Tool | None = self.agent.tool(self.name)

    @property
    def tool(self) -> Tool:
        """The tool, which the agent is known to have."""
        assert self.found is not None  # noqa: S101 - for the type checker
        return self.found

    @property
    def permit(self) -> str:
        """What always allowing this tool permits."""
        return str(Permit(self.agent.name, self.tool.origin, self.name))

    def approvals(self, unknown: bool = False) -> list[tuple[Approval, Answer]]:
        """What a person has decided about this call. A model may use its id for a call of another tool."""
        return [
            (item, answer)
            for item, answer in self.answered()
            if isinstance(item, Approval) and item.unknown == unknown and item.name == self.name
        ]

    def answered(self, below: bool = False) -> list[tuple[Interrupt, Answer]]:
        """The interrupts of this call that have an answer, with the answer. With `below` also those of the
        sub-agent that works under it."""
        return [
            (item.interrupt, item.answer)
            for item in self.run.interrupts
            if (item.interrupt.tool_call_id == self.id or (below and item.interrupt.parent == self.id))
            and item.answer is not None
        ]
