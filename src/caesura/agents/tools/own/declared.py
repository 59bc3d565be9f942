"""A tool as an agent's file declares it: a Python object that was found to be one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from caesura.agents.tools.own import docstrings, journalled, parameters
from caesura.agents.tools.own.call import OwnCall
from caesura.agents.tools.own.described import describer, describer_apart
from caesura.agents.tools.own.marks import Mark, mark_of
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.own.unusable import Unusable, line_of
from caesura.agents.tools.signature import parameters_of
from caesura.agents.tools.tool import Action, Describe, Tool

#: What every provider accepts as the name of a tool.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Declared:
    """`make` gives the tool's action: plain functions run in these threads."""

    name: str
    mark: Mark
    describe: Describe
    make: Callable[[OwnThreads], Action]
    #: What parameters are if they are left out.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Whether a text says what the tool is for.
    documented: bool = True
    #: Where its code is.
    module: str = ""

    def tool(self, threads: OwnThreads) -> Tool:
        said = self.mark
        made = Tool(
            self.name,
            self.make(threads),
            self.describe,
            said.permission,
            repeatable=said.repeatable,
            origin=f"module {self.module}",
            timeout=said.timeout,
            describe_apart=describer_apart(self.name, said, self.describe, threads),
            defaults=self.defaults,
        )
        return replace(made, refusal=lambda args: made.check(dict(args)))


def read(found: Any) -> Declared:
    """The tool that this object is; raises `Unusable` if it is none."""
    if _is_langchain(found):
        return _langchain(found)
    found = journalled.original(found)
    if not (inspect.isfunction(found) or inspect.ismethod(found)):
        raise Unusable(f"is {_kind(found)}, not a function", "name a function, or a tool of LangChain")
    if inspect.isgeneratorfunction(found) or inspect.isasyncgenfunction(found):
        remedy = "return the whole result; Context.progress shows what happens meanwhile"
        raise Unusable("yields pieces", remedy, line_of(found))
    name = _checked_name(found.__name__, line_of(found))
    doc = docstrings.of(found)
    read = parameters.read(found, doc.parameters)
    schema, description = parameters_of(read.arguments), doc.text or name.replace("_", " ")

    def make(threads: OwnThreads) -> Action:
        call = OwnCall(found, read, threads)
        return Action(call, description, schema, read.arguments, partial(threads.check, name))

    mark = mark_of(found)
    describe = _describer(found, name, mark, tuple(read.names.values()))
    return Declared(name, mark, describe, make, parameters.defaults(read), bool(doc.text), found.__module__)


def _describer(found: Any, name: str, mark: Mark, names: tuple[str, ...]) -> Describe:
    try:
        return describer(name, mark, names)
    except Unusable as error:
        raise Unusable(error.message, error.remedy, line_of(found)) from error


def _checked_name(name: str, line: int = 0) -> str:
    if not _NAME.fullmatch(name):
        remedy = "use at most 64 letters a-z, digits, _ and -"
        raise Unusable(f"the name {name} is refused by providers", remedy, line)
    return name


def _is_langchain(found: Any) -> bool:
    """Whether this is a tool of LangChain, without importing LangChain."""
    kinds = type(found).__mro__
    return any(
        kind.__name__ == "BaseTool" and kind.__module__.startswith("langchain_core.") for kind in kinds
    )


def _langchain(found: Any) -> Declared:
    from caesura.agents.tools import langchain  # only where an operator has such a tool

    name, mark = _checked_name(found.name), mark_of(found)
    # Only here, where a fault is told: what is read of the tool runs the operator's code.
    read = langchain.read(found)
    describe = describer(name, mark, tuple(read.parameters.get("properties", {})))
    code = getattr(found, "func", None) or getattr(found, "coroutine", None) or type(found)
    return Declared(
        name,
        mark,
        describe,
        lambda threads: langchain.action(read, threads),
        module=str(getattr(code, "__module__", "")),
    )


def _kind(found: Any) -> str:
    return "a class" if isinstance(found, type) else f"a value of type {type(found).__name__}"
