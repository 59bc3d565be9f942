"""The operator's own tools that an agent's file names as `module:function`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from caesura.agents import imports
from caesura.agents.faults import Fault
from caesura.agents.imports import ImportFault
from caesura.agents.spec import TARGET, Permission, Spec
from caesura.agents.tools.own import declared
from caesura.agents.tools.own.declared import Declared
from caesura.agents.tools.own.unusable import Unusable

_WHERE = "name a function in a module next to this file, or in an installed package"
_STRICTNESS: tuple[Permission, ...] = ("auto", "confirm", "deny")


class OwnTools:
    """`found` are the tools without faults, as the file names them. `sources` are the Python files next to it
    in which they were looked for. `usable` are the names by which the file may speak of them."""

    def __init__(self, folder: Path, taken: Collection[str], servers: tuple[str, ...] = ()) -> None:
        """`taken` are the names of other tools and of sub-agents, and `servers` those of MCP servers."""
        self._folder, self._taken = folder, taken
        self._prefixes = tuple(f"{server}__" for server in servers if server)
        self.found: dict[str, Declared] = {}
        self.sources: list[Path] = []
        self.usable: set[str] = set()

    def add(self, target: str, at: Fault) -> list[Fault]:
        """Load the tool that `target` names. Returns its faults. `at` is where the file names it."""
        if not re.fullmatch(TARGET, target):
            return [replace(at, message=f"{target!r} is not of the form module:function", remedy=_WHERE)]
        if target in self.found:
            return []
        self.usable |= {target, target.partition(":")[2]}
        try:
            found = self._load(target)
        except ImportFault as error:
            return [self._import_fault(target, at, error)]
        except Unusable as error:
            return [self._unusable(target, at, error)]
        if (holder := self._holder(found.name)) is not None:
            message = f"the name {found.name} is already that of {holder}"
            return [replace(at, message=message, remedy="rename the function")]
        self.found[target] = found
        self.usable.add(found.name)
        return []

    def _load(self, target: str) -> Declared:
        if (file := imports.module_file(target, self._folder)) is not None and file not in self.sources:
            self.sources.append(file)
        try:
            return declared.read(imports.load(target, self._folder))
        except (ImportFault, Unusable):
            raise
        except BaseException as error:  # an operator's types run code of their own, which may raise anything
            if imports.is_interrupted(error):
                raise
            told = f"cannot be a tool: {type(error).__name__}: {imports.said(error)}"
            raise Unusable(told, "correct its types") from error

    def _holder(self, name: str) -> str | None:
        if name in self._taken:
            return "a built-in tool or a sub-agent"
        if name.startswith(self._prefixes):
            return "a tool of an MCP server"
        return next((target for target, item in self.found.items() if item.name == name), None)

    def _import_fault(self, target: str, at: Fault, error: ImportFault) -> Fault:
        usual = error.remedy == imports.WHERE
        if not error.line:
            return replace(at, message=str(error), remedy=_WHERE if usual else error.remedy)
        remedy = imports.CORRECT_LINE if usual else error.remedy
        # Every tool of the file has this fault: it is told without the name of one, and so once.
        return replace(self._in_file(target, at, error.line, str(error), remedy), field="")

    def _unusable(self, target: str, at: Fault, error: Unusable) -> Fault:
        return self._in_file(target, at, error.line, error.message, error.remedy)

    def _in_file(self, target: str, at: Fault, line: int, message: str, remedy: str) -> Fault:
        """A fault in the Python file, or where the agent's file names it if the line is not known."""
        name = target.partition(":")[2]
        path = imports.module_file(target, self._folder)
        if path is None or not line:
            return replace(at, message=imports.plain(f"{target}: {message}"), remedy=remedy)
        return Fault(str(path.relative_to(self._folder)), line, name, imports.plain(message), remedy)


def renamed(spec: Spec, own: Mapping[str, Declared]) -> Spec:
    """The same spec, in which permissions name an own tool by its name, and not as `module:function`. If both
    are there, the stricter one counts. What a tool's code says about itself is written down too: that it was
    stricter is then known when the code has changed."""
    if not own:
        return spec
    permissions: dict[str, Permission] = {}
    for key, said in _said(spec):
        name = own[key].name if key in own else key
        permissions[name] = max(permissions.get(name, "auto"), said, key=_STRICTNESS.index)
    declared = {item.name: item.mark.permission for item in own.values()}
    return spec.model_copy(update={"permissions": {**declared, **permissions}, "interrupt_on": []})


def _said(spec: Spec) -> Iterator[tuple[str, Permission]]:
    """What the file says about each tool, from both of its ways to say it."""
    for key, permission in spec.permissions.items():
        yield key, permission
    listed = spec.interrupt_on
    for key in listed:
        if key not in spec.permissions:
            yield key, "confirm" if not isinstance(listed, dict) or listed[key] else "auto"
