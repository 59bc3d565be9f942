"""One agent file on its own: reading it, checking it, and importing the Python objects that it names."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from caesura.agents import document, graphs, imports, model_names
from caesura.agents.document import Document, Malformed
from caesura.agents.faults import Fault, did_you_mean, dotted, explain
from caesura.agents.faults import Path as FieldPath
from caesura.agents.own import OwnTools, renamed
from caesura.agents.own_options import misfits
from caesura.agents.spec import TARGET, AgentFile, Metadata, Spec
from caesura.agents.tools.own.declared import Declared
from caesura.core import json_data

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

T = TypeVar("T")
Stamp = tuple[tuple[int, int, int, int], ...]

_OWN_TOOLS = "a graph brings its own tools: give them to it in its code"
_OWN_QUESTIONS = "a graph asks by itself: use HumanInTheLoopMiddleware of LangChain, or interrupt()"
#: What a graph makes no use of, and what does the same.
_NOT_FOR_GRAPHS = {
    "system_prompt": "give it to the model in the graph's code",
    "tools": _OWN_TOOLS,
    "permissions": _OWN_QUESTIONS,
    "interrupt_on": _OWN_QUESTIONS,
    "sub_agents": "use another agent, which names this one in its sub_agents",
    "mcp_servers": _OWN_TOOLS,
    "model.context": "shorten the messages in the graph's code",
}


@dataclass(frozen=True, slots=True)
class Definition:
    """An agent file without faults of its own. `digest` covers what it says, not the code that it names."""

    path: Path
    metadata: Metadata
    spec: Spec
    digest: str
    model_class: type[Any] | None
    graph: Pregel[Any, Any, Any, Any] | None
    #: The operator's own tools, as `spec.tools` names them.
    own: Mapping[str, Declared] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.metadata.name


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of a sub-agent in a file, and where it is written."""

    name: str
    line: int
    field: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a file, and the files that must change before it is worth reading again. `name`
    and `references` are known even if something else in the file is wrong."""

    path: Path
    stamp: Stamp
    sources: tuple[Path, ...]
    definition: Definition | None
    faults: tuple[Fault, ...]
    name: str | None = None
    references: tuple[Reference, ...] = ()

    @property
    def called(self) -> str:
        """The agent's name, or the name that is most likely meant."""
        return self.name or self.path.stem


def stamp_of(paths: Iterable[Path]) -> Stamp:
    return tuple(_stamp(path) for path in paths)


def _stamp(path: Path) -> tuple[int, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0, 0)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def read(
    path: Path,
    folder: Path,
    tools: Collection[str],
    environ: Mapping[str, str] | None = None,
) -> Reading:
    """The variables that a file names have to be in `environ`, if it is given."""
    stamp = stamp_of([path])
    try:
        data = _bytes(path, folder)
        found = document.parse(data)
    except Malformed as error:
        problem = error.problem
        fault = Fault(path.name, problem.line, dotted(problem.path), problem.message, problem.remedy)
        return Reading(path, stamp, (path,), None, (fault,))
    return _Check(path, folder, tools, found, environ).reading(stamp)


def _bytes(path: Path, folder: Path) -> bytes:
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise Malformed(
                document.Problem(0, (), "is a link that leaves the agents folder", "copy the file")
            )
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Malformed(document.Problem(0, (), "is not a regular file"))
            return file.read(document.LARGEST + 1)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Malformed(document.Problem(0, (), f"cannot be read: {reason}")) from error


class _Check:
    """The checks of one document: its form, the names in it, the code that it names. The checks are
    independent of one another, so that all faults are reported at once."""

    def __init__(
        self,
        path: Path,
        folder: Path,
        tools: Collection[str],
        found: Document,
        environ: Mapping[str, str] | None,
    ) -> None:
        self._path, self._folder, self._tools, self._document = path, folder, tools, found
        self._environ = environ
        self._sources = [path]
        self._faults: list[Fault] = []

    def reading(self, stamp: Stamp) -> Reading:
        file = self._file()
        references = tuple(self._references())
        sub_agents = {reference.name for reference in references}
        own = self._own_tools(sub_agents)
        self._faults += self._name_faults({*sub_agents, *own.usable})
        self._faults += self._server_faults()
        model_class = self._imported(("spec", "model", "class"), imports.chat_model_class)
        if model_class is not None:
            self._faults += self._option_faults(model_class)
        graph = self._imported(("spec", "graph"), graphs.load)
        self._faults += self._graph_faults(graph)
        definition = None
        if file is not None and not self._faults:
            spec = renamed(file.spec, own.found)
            definition = Definition(
                self._path,
                file.metadata,
                spec,
                _digest(file.metadata, spec),
                model_class,
                graph,
                own.found,
            )
        return Reading(
            self._path,
            stamp + stamp_of(self._sources[1:]),
            tuple(self._sources),
            definition,
            tuple(sorted(self._faults, key=lambda fault: fault.line)),
            self._written(("metadata", "name"), str),
            references,
        )

    def _file(self) -> AgentFile | None:
        try:
            return AgentFile.model_validate(self._document.value)
        except ValidationError as error:
            self._faults += self._form_faults(error)
            return None

    def _form_faults(self, error: ValidationError) -> Iterator[Fault]:
        reported: set[FieldPath] = set()
        for detail in error.errors(include_url=False):
            path = self._known_path(detail["loc"])
            if path in reported and detail["type"] != "extra_forbidden":
                continue
            reported.add(path)
            yield self._fault(path, *explain(detail, AgentFile))

    def _known_path(self, location: FieldPath) -> FieldPath:
        """The part of the location that exists in the YAML: pydantic also adds the names of union members."""
        value, path = self._document.value, list[str | int]()
        for part in location:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                if isinstance(part, str) and "[" in part:
                    continue
                value = None
            path.append(part)
        return tuple(path)

    def _written(self, path: FieldPath, kind: type[T]) -> T | None:
        """The value at this path, if it has the given type."""
        value = self._document.value
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value if isinstance(value, kind) else None

    def _texts(self, *path: str) -> Iterator[tuple[FieldPath, str]]:
        """The texts of a list, or the keys of a mapping, with the place of each."""
        for index, text in enumerate(self._written(path, list) or ()):
            if isinstance(text, str):
                yield (*path, index), text
        for key in self._written(path, dict) or ():
            yield (*path, key), key

    def _references(self) -> Iterator[Reference]:
        for index in range(len(self._written(("spec", "sub_agents"), list) or ())):
            path = ("spec", "sub_agents", index, "ref")
            if (name := self._written(path, str)) is not None:
                yield Reference(name, self._document.line(path), dotted(path))

    def _own_tools(self, sub_agents: Collection[str]) -> OwnTools:
        """The operator's own tools that the file names."""
        taken = {*self._tools, *sub_agents}
        own = OwnTools(self._folder, taken, tuple(self._mcp_servers()))
        for path, target in self._texts("spec", "tools"):
            if ":" in target:
                self._faults += own.add(target, self._fault(path, ""))
        self._sources += [source for source in own.sources if source not in self._sources]
        return own

    def _name_faults(self, besides: Collection[str]) -> Iterator[Fault]:
        """`besides` are the names of what is no built-in tool."""
        usable = {*self._tools, *besides}
        servers = tuple(f"{name}__" for name in self._mcp_servers())
        for place, known in (("tools", self._tools), ("permissions", usable), ("interrupt_on", usable)):
            for path, name in self._texts("spec", place) if not self._is_graph else ():
                outside = ":" in name if place == "tools" else name.startswith(servers)
                if name not in known and not outside:
                    yield self._unknown_tool(path, name, known)
        primary: FieldPath = ("spec", "model", "primary")
        named = [(primary, self._written(primary, str)), *self._texts("spec", "model", "fallbacks")]
        for path, model in named:
            if model and (wrong := model_names.wrong_name(model.strip())):
                yield self._fault(path, *wrong)

    def _server_faults(self) -> Iterator[Fault]:
        for index in range(len(self._mcp_servers())):
            headers = self._written(("spec", "mcp_servers", index, "headers_env"), dict) or {}
            for header, variable in headers.items():
                if (
                    self._environ is not None
                    and isinstance(variable, str)
                    and not self._environ.get(variable)
                ):
                    at: FieldPath = ("spec", "mcp_servers", index, "headers_env", header)
                    yield self._fault(at, f"the environment variable {variable} is not set", "set it")

    @property
    def _is_graph(self) -> bool:
        return self._written(("spec", "type"), str) == "langgraph"

    def _graph_faults(self, graph: Pregel[Any, Any, Any, Any] | None) -> Iterator[Fault]:
        """What the file says to no effect, because a graph makes no use of it, and what is wrong with the
        graph itself."""
        for name, remedy in _NOT_FOR_GRAPHS.items() if self._is_graph else ():
            path: FieldPath = ("spec", *name.split("."))
            if self._written(path, object):
                yield self._fault(path, "has no effect on a graph", remedy)
        for message, remedy in graphs.misfits(graph) if graph is not None else ():
            yield self._fault(("spec", "graph"), message, remedy)

    def _mcp_servers(self) -> list[str]:
        """The names of the MCP servers, also of those that have a fault."""
        count = len(self._written(("spec", "mcp_servers"), list) or ())
        places = (("spec", "mcp_servers", index, "name") for index in range(count))
        return [self._written(place, str) or "" for place in places]

    def _imported(self, path: FieldPath, load: Callable[[str, Path], T]) -> T | None:
        target = self._written(path, str)
        if target is None or not re.fullmatch(TARGET, target):
            return None
        try:
            if (file := imports.module_file(target, self._folder)) is not None:
                self._sources.append(file)
            return load(target, self._folder)
        except imports.ImportFault as error:
            self._faults.append(self._import_fault(path, target, error))
            return None

    def _import_fault(self, path: FieldPath, target: str, error: imports.ImportFault) -> Fault:
        """In the Python file, if the line is known, or where this file names it."""
        file = imports.module_file(target, self._folder) if error.line else None
        if file is None:
            return self._fault(path, str(error), error.remedy)
        remedy = imports.CORRECT_LINE if error.remedy == imports.WHERE else error.remedy
        return Fault(str(file.relative_to(self._folder)), error.line, "", str(error), remedy)

    def _option_faults(self, model_class: type[Any]) -> Iterator[Fault]:
        """`options` and `temperature` are the arguments of the class."""
        model: FieldPath = ("spec", "model")
        options = self._written((*model, "options"), dict) or {}
        given = {name: (*model, "options", name) for name in options if isinstance(name, str)}
        if self._written((*model, "temperature"), object) is not None:
            given.setdefault("temperature", (*model, "temperature"))
        for name, message, remedy in misfits(model_class, given):
            yield self._fault((*model, "class") if name is None else given[name], message, remedy)

    def _unknown_tool(self, path: FieldPath, name: str, known: Collection[str]) -> Fault:
        module, dot, function = name.rpartition(".")
        if dot and imports.module_file(f"{module}:{function}", self._folder) is not None:
            return self._fault(path, f"unknown tool: {name}", f"did you mean {module}:{function}?")
        remedy = did_you_mean(name, known) or f"known: {', '.join(sorted(known))}"
        return self._fault(path, f"unknown tool: {name}", remedy)

    def _fault(self, path: FieldPath, message: str, remedy: str = "") -> Fault:
        return Fault(self._path.name, self._document.line(path), dotted(path), message, remedy)


def _digest(metadata: Metadata, spec: Spec) -> str:
    said = [part.model_dump(mode="json", exclude_unset=True) for part in (metadata, spec)]
    return hashlib.sha256(json_data.dumps(said)).hexdigest()[:16]
