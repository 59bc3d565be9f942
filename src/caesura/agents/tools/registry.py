"""The registry of tools, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from caesura.agents.spec import Permission, Spec
from caesura.agents.tools import artifacts, ask_user, execute, files
from caesura.agents.tools.disk import Disk
from caesura.agents.tools.own.declared import Declared
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.sandbox import Sandbox
from caesura.agents.tools.tool import Tool
from caesura.agents.tools.web.web import Web
from caesura.core.errors import NotFound

#: The tools of an agent whose file does not list tools.
DEFAULT = (
    *("ask_user", "read_file", "list_files", "write_file", "execute"),
    *("create_artifact", "update_artifact", "rewrite_artifact", "read_artifact"),
)
_NONE: Mapping[str, Declared] = MappingProxyType({})


class Registry:
    """Maps names to tools. Immutable: `extended` returns a new registry."""

    def __init__(
        self, tools: Iterable[Tool], default: Sequence[str] = DEFAULT, threads: OwnThreads | None = None
    ) -> None:
        """`threads` run the plain functions of operators."""
        self._tools = {tool.name: tool for tool in tools}
        self._default = tuple(default)
        self.threads = threads or OwnThreads()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    def extended(self, tools: Iterable[Tool]) -> Registry:
        return Registry([*self._tools.values(), *tools], self._default, self.threads)

    def get(self, name: str) -> Tool:
        if name not in self._tools:
            raise NotFound(f"tool not found: {name}")
        return self._tools[name]

    def tools_of(self, spec: Spec, own: Mapping[str, Declared] = _NONE) -> list[Tool]:
        """The tools that an agent may use, in the order of its file, without denied tools. `own` are those of
        its operator, as its file names them."""
        names = dict.fromkeys(self._default if spec.tools is None else spec.tools)
        tools = [own[name].tool(self.threads) if name in own else self.get(name) for name in names]
        return [tool for tool in tools if spec.permission(tool.name, tool.permission) != "deny"]

    def permission(self, spec: Spec, name: str) -> Permission:
        """Whether a call runs at once or after approval: as the agent's file says, or by default as the tool
        says."""
        return spec.permission(name, self._tools[name].permission if name in self._tools else "auto")


def standard(sandbox: Sandbox | None = None, web: Web | None = None, disk: Disk | None = None) -> Registry:
    chosen, internet = sandbox or Sandbox(), web or Web()
    return Registry(
        [
            ask_user.tool(),
            *files.tools(disk or Disk(chosen.quota, chosen.share)),
            execute.tool(chosen),
            *artifacts.tools(),
            *internet.tools(),
        ]
    )
