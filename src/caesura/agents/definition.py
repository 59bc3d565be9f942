"""One agent file on its own: read, checked, and what it names imported."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from caesura.agents import document, imports, models
from caesura.agents.document import Document, Malformed
from caesura.agents.faults import Fault, did_you_mean, dotted, explain
from caesura.agents.faults import Path as FieldPath
from caesura.agents.spec import AgentFile, Metadata, Spec

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

T = TypeVar("T")
Stamp = tuple[tuple[int, int, int, int], ...]

_WHERE = "name a module next to this file, or an installed package"


@dataclass(frozen=True, slots=True)
class Definition:
    """A file without faults of its own. `digest` is of all it is made of, `lines` of its sub-agents."""

    path: Path
    metadata: Metadata
    spec: Spec
    digest: str
    model_class: type[BaseChatModel] | None
    graph: Pregel[Any, Any, Any, Any] | None
    sub_agent_lines: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.metadata.name


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a file, and the files that must change before reading it again makes sense."""

    stamp: Stamp
    sources: tuple[Path, ...]
    definition: Definition | None
    faults: tuple[Fault, ...]


def stamp_of(paths: Iterable[Path]) -> Stamp:
    return tuple(_stamp(path) for path in paths)


def _stamp(path: Path) -> tuple[int, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0, 0)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def read(path: Path, folder: Path, tools: Collection[str]) -> Reading:
    stamp = stamp_of([path])
    try:
        data = _bytes(path, folder)
        found = document.parse(data)
    except Malformed as error:
        problem = error.problem
        fault = Fault(path.name, problem.line, dotted(problem.path), problem.message, problem.remedy)
        return Reading(stamp, (path,), None, (fault,))
    return _Check(path, folder, tools, found).reading(data, stamp)


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
    """The checks of one document, in order: its form, the names in it, the code it names."""

    def __init__(self, path: Path, folder: Path, tools: Collection[str], found: Document) -> None:
        self._path, self._folder, self._tools, self._document = path, folder, tools, found
        self._sources = [path]

    def reading(self, data: bytes, stamp: Stamp) -> Reading:
        try:
            file = AgentFile.model_validate(self._document.value)
        except ValidationError as error:
            faults = sorted(self._form_faults(error), key=lambda fault: fault.line)
            return Reading(stamp, (self._path,), None, tuple(faults))
        found = list(self._name_faults(file.spec))
        definition = None
        try:
            model_class, graph = self._model_class(file.spec), self._graph(file.spec)
            definition = self._definition(file, data, model_class, graph)
        except _Unusable as error:
            found.append(error.fault)
        stamp += stamp_of(self._sources[1:])
        return Reading(stamp, tuple(self._sources), None if found else definition, tuple(found))

    def _form_faults(self, error: ValidationError) -> Iterator[Fault]:
        told: set[FieldPath] = set()
        for detail in error.errors(include_url=False):
            path = self._known_path(detail["loc"])
            if path in told and detail["type"] != "extra_forbidden":
                continue
            told.add(path)
            yield self._fault(path, *explain(detail, AgentFile))

    def _known_path(self, location: FieldPath) -> FieldPath:
        """Only what stands in the YAML: pydantic also puts the names of union members into a location."""
        value, path = self._document.value, list[str | int]()
        for part in location:
            if isinstance(part, str) and "[" in part:
                break
            path.append(part)
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                break
        return tuple(path)

    def _name_faults(self, spec: Spec) -> Iterator[Fault]:
        usable = {*self._tools, *(sub.ref for sub in spec.sub_agents)}
        for index, name in enumerate(spec.tools or ()):
            if name not in self._tools:
                yield self._unknown_tool(("spec", "tools", index), name, self._tools)
        for field in ("permissions", "interrupt_on"):
            for index, name in enumerate(getattr(spec, field)):
                if name not in usable:
                    key = index if isinstance(getattr(spec, field), list) else name
                    yield self._unknown_tool(("spec", field, key), name, usable)
        yield from self._model_faults(spec)

    def _model_faults(self, spec: Spec) -> Iterator[Fault]:
        names: list[tuple[FieldPath, str]] = [(("spec", "model", "primary"), spec.model.primary)]
        names += [(("spec", "model", "fallbacks", i), name) for i, name in enumerate(spec.model.fallbacks)]
        for path, name in names:
            if wrong := models.wrong_name(name):
                yield self._fault(path, *wrong)

    def _model_class(self, spec: Spec) -> type[BaseChatModel] | None:
        path: FieldPath = ("spec", "model", "class")
        return self._imported(path, spec.model.class_, imports.chat_model_class)

    def _graph(self, spec: Spec) -> Pregel[Any, Any, Any, Any] | None:
        return self._imported(("spec", "graph"), spec.graph, imports.graph)

    def _imported(self, path: FieldPath, target: str | None, load: Callable[[str, Path], T]) -> T | None:
        if target is None:
            return None
        try:
            if (file := imports.module_file(target, self._folder)) is not None:
                self._sources.append(file)
            return load(target, self._folder)
        except imports.ImportFault as error:
            raise _Unusable(self._fault(path, str(error), _WHERE)) from error

    def _definition(
        self,
        file: AgentFile,
        data: bytes,
        model_class: type[BaseChatModel] | None,
        graph: Pregel[Any, Any, Any, Any] | None,
    ) -> Definition:
        count = len(file.spec.sub_agents)
        lines = tuple(self._document.line(("spec", "sub_agents", i, "ref")) for i in range(count))
        parts = [data, *(source.read_bytes() for source in self._sources[1:])]
        digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
        return Definition(self._path, file.metadata, file.spec, digest, model_class, graph, lines)

    def _unknown_tool(self, path: FieldPath, name: str, known: Collection[str]) -> Fault:
        remedy = did_you_mean(name, known) or f"known: {', '.join(sorted(known))}"
        return self._fault(path, f"unknown tool: {name}", remedy)

    def _fault(self, path: FieldPath, message: str, remedy: str = "") -> Fault:
        return Fault(self._path.name, self._document.line(path), dotted(path), message, remedy)


class _Unusable(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault
