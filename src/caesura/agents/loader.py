"""The catalog of agents: the built-in ones, and those in the operator's folder, reloaded when they change."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caesura.agents import definition, references
from caesura.agents.attempt import Attempt
from caesura.agents.definition import Definition, Reading
from caesura.agents.faults import Fault
from caesura.agents.spec import AgentFile, Metadata, Spec
from caesura.agents.tools.own.declared import Declared
from caesura.core.errors import NotFound

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

logger = logging.getLogger(__name__)

BUILTIN = Path(__file__).parent / "builtin"
#: Seconds that reading a file and importing its code may take, and those after which the next file is begun.
LIMIT, _PATIENCE = 20.0, 0.5
#: The most files whose code runs at once.
_MOST_RUNNING = 64
_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that can be used. `version` changes with what its file, or that of a sub-agent, says."""

    name: str
    version: str
    metadata: Metadata
    spec: Spec
    path: Path
    model_class: type[Any] | None = None
    graph: Pregel[Any, Any, Any, Any] | None = None
    sub_agents: tuple[Link, ...] = ()
    #: The operator's own tools, as `spec.tools` names them.
    own: Mapping[str, Declared] = field(default_factory=dict)

    @property
    def description(self) -> str:
        return self.spec.description or self.metadata.description

    @property
    def uses_graphs(self) -> bool:
        """Whether a sub-agent of it, or one of theirs, is an operator's own graph."""
        return any(link.agent.graph is not None or link.agent.uses_graphs for link in self.sub_agents)

    @property
    def mirrored(self) -> bool:
        """Whether its questions are also shown in Redis."""
        return self.spec.interrupt.checkpoint_backend == "redis"


@dataclass(frozen=True, slots=True)
class Link:
    agent: Agent
    description: str


class Catalog:
    """Agents by name. An agent stays available until its file is deleted or a valid version replaces it. An
    operator's file replaces the built-in agent of the same name even if the file has faults: the built-in
    agent might do what the operator wanted to forbid. `report` is called with each new fault.

    The catalog looks for changes when it is used. After `watch` it does so in a separate thread, because
    reading a large file, or importing the code that it names, would block the event loop for too long.
    Otherwise the catalog is not thread-safe. An import that takes longer than `limit` seconds is a fault of
    its file. The other files are read meanwhile, and what comes in the end is used.
    """

    def __init__(
        self,
        directory: Path | None,
        tools: Collection[str],
        *,
        builtin: Path | None = BUILTIN,
        clock: Callable[[], float] = time.monotonic,
        interval: float = 1.0,
        report: Callable[[Fault], None] = lambda fault: None,
        environ: Mapping[str, str] | None = None,
        loaded: Callable[[Agent], None] = lambda agent: None,
        limit: float = LIMIT,
    ) -> None:
        """`loaded` is called with each agent that is new, has changed, or had a fault before. An agent
        that needs a variable which is not in `environ`, if that is given, is at fault."""
        self._folders = [folder for folder in (builtin, directory) if folder is not None]
        self._directory, self._environ = directory, environ
        self._tools, self._clock, self._interval = tools, clock, interval
        self._report, self._loaded = report, loaded
        self._limit = limit
        self._attempts: dict[Path, Attempt] = {}
        #: Also those whose file has changed since.
        self._running: list[Attempt] = []
        self._readings: dict[Path, Reading] = {}
        self._good: dict[Path, Definition] = {}
        self._serving: dict[str, Agent] = {}
        self._faults: tuple[Fault, ...] = ()
        self._absent: tuple[Fault, ...] = ()
        #: The files that had faults of their own at the last look.
        self._faulty: set[Path] = set()
        self._looked = clock()
        self._watcher: threading.Thread | None = None
        self._over = threading.Event()
        self.refresh()

    def watch(self) -> None:
        """Look for changes in a separate thread, until `close`."""
        self._watcher = threading.Thread(target=self._keep_watching, name="caesura-agents", daemon=True)
        self._watcher.start()

    def close(self) -> None:
        self._over.set()
        if self._watcher is not None:
            self._watcher.join()

    def get(self, name: str) -> Agent:
        self._look()
        if name not in self._serving:
            raise NotFound(f"agent not found: {name}")
        return self._serving[name]

    def agents(self) -> list[Agent]:
        self._look()
        return [self._serving[name] for name in sorted(self._serving)]

    @property
    def names(self) -> Collection[str]:
        self._look()
        return self._serving.keys()

    @property
    def faults(self) -> tuple[Fault, ...]:
        self._look()
        return self._faults

    def refresh(self, wait: bool = True) -> bool:
        """Read the files that changed since the last look; returns whether anything new is known. Without
        `wait`, a file that takes long is looked at again the next time."""
        self._looked = self._clock()
        paths = [path for folder in self._folders for path in _files(folder)]
        gone = (self._readings.keys() | self._attempts.keys()) - set(paths)
        for path in gone:
            self._attempts.pop(path, None)
            self._readings.pop(path, None)
            self._good.pop(path, None)
        for path in paths:
            if self._changed(path):
                self._begin(path)
        changed = self._collect(wait)
        missing = self._missing()
        if not (changed or gone) and missing == self._absent:
            return False
        readings = [self._readings[path] for path in paths if path in self._readings]
        before, self._serving = self._serving, _Linker(self._good, self._serving).link(readings)
        own = [fault for reading in readings for fault in reading.faults]
        holders = {name: agent.path for name, agent in self._serving.items()}
        self._absent = missing
        found = (*missing, *own, *references.faults(readings, holders, BUILTIN))
        # Agents that share a Python file share its faults.
        known, self._faults = self._faults, tuple(dict.fromkeys(found))
        for fault in self._faults:
            if fault not in known:
                self._report(fault)
        faulty = {reading.path for reading in readings if reading.faults}
        mended, self._faulty = self._faulty - faulty, faulty
        for name, agent in self._serving.items():
            if name not in before or before[name].version != agent.version or agent.path in mended:
                self._loaded(agent)
        return True

    def _look(self) -> None:
        if self._watcher is None and self._clock() - self._looked >= self._interval:
            self.refresh()

    def _keep_watching(self) -> None:
        while not self._over.wait(self._interval):
            try:
                self.refresh(wait=False)
            except BaseException:  # an operator's code may raise anything, and this thread goes on for ever
                logger.exception("the agents folder could not be looked at")

    def _changed(self, path: Path) -> bool:
        if (attempt := self._attempts.get(path)) is not None:
            return attempt.is_outdated
        known = self._readings.get(path)
        return known is None or known.stamp != definition.stamp_of(known.sources)

    def _begin(self, path: Path) -> None:
        self._running = [attempt for attempt in self._running if attempt.is_running]
        if len(self._running) >= _MOST_RUNNING:
            return  # until the next look
        attempt = self._attempts[path] = Attempt(path, self._read)
        self._running.append(attempt)
        # One after the other, unless a file takes long.
        attempt.wait(min(_PATIENCE, self._limit))

    def _read(self, path: Path) -> Reading:
        return definition.read(path, path.parent, self._tools, self._environ)

    def _collect(self, wait: bool) -> bool:
        """Take what was read. Returns whether there was something."""
        found = False
        for path, attempt in list(self._attempts.items()):
            if wait and not attempt.told:
                attempt.wait(self._limit)
            if (reading := attempt.result()) is not None:
                self._attempts.pop(path, None)  # another thread may look, too
                self._keep(path, reading)
            elif attempt.is_late(self._limit) and not attempt.told:
                attempt.told = True
                self._keep(path, attempt.unfinished(self._limit))
            elif path not in self._readings:
                self._keep(path, attempt.unfinished())
            else:
                continue
            found = True
        return found

    def _keep(self, path: Path, reading: Reading) -> None:
        self._readings[path] = reading
        if reading.definition is not None:
            self._good[path] = reading.definition

    def _missing(self) -> tuple[Fault, ...]:
        if self._directory is None or self._directory.is_dir():
            return ()
        if self._directory.exists():
            return (Fault(str(self._directory), 0, "", "this is a file", "name its folder"),)
        return (Fault(str(self._directory), 0, "", "the agents folder does not exist", "create it"),)


class _Linker:
    """Links definitions: one file for each name, sub-agents resolved, no cycles."""

    def __init__(self, good: dict[Path, Definition], serving: dict[str, Agent]) -> None:
        self._good, self._before = good, serving
        self._chosen: dict[str, Definition] = {}
        self._linked: dict[str, Agent | None] = {}

    def link(self, readings: list[Reading]) -> dict[str, Agent]:
        found = [self._good[reading.path] for reading in readings if reading.path in self._good]
        spoken_for = {r.called for r in readings if r.path not in self._good and r.path.parent != BUILTIN}
        for item in sorted(found, key=self._incumbents_first):
            if item.path.parent != BUILTIN or item.name not in spoken_for:
                self._choose(item)
        agents = {name: self._agent(name, ()) for name in self._chosen}
        return {name: agent for name, agent in agents.items() if agent}

    def _incumbents_first(self, item: Definition) -> bool:
        before = self._before.get(item.name)
        return before is None or before.path != item.path

    def _choose(self, item: Definition) -> None:
        other = self._chosen.get(item.name)
        if other is None or other.path.parent == BUILTIN != item.path.parent:
            self._chosen[item.name] = item

    def _agent(self, name: str, trail: tuple[str, ...]) -> Agent | None:
        if name not in self._linked:
            item = self._chosen[name]
            links = tuple(self._links(item, (*trail, name)))
            complete = len(links) == len(item.spec.sub_agents)
            self._linked[name] = _agent(item, links) if complete else self._kept(item)
        return self._linked[name]

    def _links(self, item: Definition, trail: tuple[str, ...]) -> Iterator[Link]:
        for sub in item.spec.sub_agents:
            known = self._chosen.get(sub.ref)
            if known is None or sub.ref in trail:
                continue
            if agent := self._agent(sub.ref, trail):
                yield Link(agent, sub.description or agent.description)

    def _kept(self, item: Definition) -> Agent | None:
        before = self._before.get(item.name)
        return before if before is not None and before.path == item.path else None


def check(directory: Path, tools: Collection[str], environ: Mapping[str, str] | None = None) -> list[Fault]:
    """Every fault of the files in a folder."""
    return list(Catalog(directory, tools, environ=environ).faults)


def schema() -> dict[str, Any]:
    """The JSON schema of an agent file, for editors. `check` also finds what a schema cannot say, such as a
    tool that does not exist."""
    return {"$schema": _SCHEMA, **AgentFile.model_json_schema(by_alias=True)}


def _agent(item: Definition, links: tuple[Link, ...]) -> Agent:
    parts = [item.digest, *(link.agent.version for link in links)]
    version = item.digest if not links else hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]
    return Agent(
        item.name,
        version,
        item.metadata,
        item.spec,
        item.path,
        item.model_class,
        item.graph,
        links,
        item.own,
    )


def _files(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return [path for path in entries if path.suffix in (".yaml", ".yml") and _is_candidate(path)]


def _is_candidate(path: Path) -> bool:
    # Keep a path that cannot be examined: reading it reports the reason.
    try:
        return not path.name.startswith(".") and not path.is_dir()
    except OSError:
        return True
