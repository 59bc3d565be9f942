"""What "always allow" holds for: a tool of one agent, from where it comes. It is kept as a text."""

from __future__ import annotations

from typing import NamedTuple


class Permit(NamedTuple):
    """`origin` is the module of a function, an MCP server, a graph, or `built-in`."""

    agent: str
    origin: str
    tool: str

    def __str__(self) -> str:
        return "\n".join(self)

    @classmethod
    def of(cls, text: str) -> Permit:
        """The permit of this text. An older one has the name of a tool alone, and so permits nothing."""
        parts = text.split("\n", 2)
        return cls(*parts) if len(parts) == 3 else cls("", "", text)
