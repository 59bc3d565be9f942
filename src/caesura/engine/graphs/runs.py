"""What LangChain runs in an operator's own graph: its chains and tools, heard from callbacks. They tell where
a tool call is made."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables.config import ensure_config

from caesura.core import json_data
from caesura.engine.graphs.seen import Seen
from caesura.engine.graphs.tasks import path_of


class Begun(NamedTuple):
    """A tool call that LangChain makes. `id` is None if it was not given a model's call, but arguments."""

    id: str | None
    args: dict[str, Any] | None
    parent: UUID | None = None


@dataclass(slots=True)
class NodeRun:
    """One run of a graph's node, and what it has called so far. `where` names the node from the graph
    inwards. It is the same when the node runs again, whether LangGraph retries it, a person has answered, or
    a crash cut it off. It is another one when the graph comes back to the node later."""

    where: tuple[Any, ...]
    #: The tasks in which it runs.
    path: tuple[str, ...]
    #: How often it has made each call that has no id.
    numbers: Counter[str] = field(default_factory=Counter)
    #: The ids of the calls that it has made.
    called: set[str] = field(default_factory=set)
    _place: str = ""

    @property
    def place(self) -> str:
        """What `where` says, in a form that fits into the journal."""
        if not self._place:
            self._place = hashlib.sha256(json_data.dumps(self.where)).hexdigest()
        return self._place


@dataclass(slots=True)
class _Chain:
    """`index` counts the chains that the one around it runs. `node` is set for the run of a graph's node."""

    parent: UUID | None
    ns: str
    index: int
    about: dict[str, Any]
    node: NodeRun | None = None
    children: int = 0


class Runs(BaseCallbackHandler):
    run_inline = True
    raise_error = True

    def __init__(self, attempt: int, check: Callable[[str, Any], None], seen: Seen) -> None:
        """`attempt` counts how often the turn was retried: then all calls are others. `check` raises an error
        if a graph's node must not run, by its name and its input."""
        self._attempt, self._check, self._seen = attempt, check, seen
        self.calls: dict[UUID, Begun] = {}
        self._chains: dict[UUID, _Chain] = {}
        self._elsewhere: dict[str, NodeRun] = {}
        #: The tasks in which the tasks of graphs run that remember: their namespaces do not tell.
        self._around: dict[str, tuple[str, ...]] = {}

    @property
    def ignore_llm(self) -> bool:
        return True

    @property
    def ignore_chat_model(self) -> bool:
        return True

    def begun(self) -> Begun | None:
        """The tool call that LangChain makes here."""
        run_id = _run_id()
        return self.calls.get(run_id) if run_id is not None else None

    def here(self) -> NodeRun:
        """The run of a graph's node in which this code runs."""
        return self.node(self.begun() or Begun(None, None, _run_id()))

    def node(self, begun: Begun) -> NodeRun:
        """The run of a graph's node that makes this call."""
        if (found := self._node_around(begun.parent)) is not None:
            return found
        ns = str(ensure_config().get("configurable", {}).get("checkpoint_ns", ""))
        return self._elsewhere.setdefault(ns, NodeRun((self._attempt, ns), self.path(ns.split("|"))))

    def _node_around(self, run_id: UUID | None) -> NodeRun | None:
        """The run of a graph's node in which this happens."""
        while run_id is not None and (chain := self._chains.get(run_id)) is not None:
            if chain.node is not None:
                return chain.node
            run_id = chain.parent
        return None

    def path(self, ns: Sequence[str]) -> tuple[str, ...]:
        """The ids of the tasks in a namespace that ends with a task."""
        return path_of(ns, self._around)

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        tool_call_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.calls[run_id] = Begun(tool_call_id, inputs, parent_run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.calls.pop(run_id, None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.calls.pop(run_id, None)

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        about = metadata or {}
        around = self._chains.get(parent_run_id) if parent_run_id else None
        index = 0 if around is None else around.children
        if around is not None:
            around.children += 1
        chain = _Chain(parent_run_id, str(about.get("langgraph_checkpoint_ns") or ""), index, about)
        if chain.ns and chain.ns != (around.ns if around is not None else ""):
            self._check(str(about["langgraph_node"]), inputs)
            names, outer = chain.ns.split("|"), self._node_around(parent_run_id)
            if outer is not None and ":" not in names[0]:
                self._around.setdefault(names[-1].partition(":")[2], outer.path)
            chain.node = NodeRun(self._where(chain), self.path(names))
            self._seen.run(chain.node.path[-1])
        self._chains[run_id] = chain

    def on_chain_end(self, outputs: dict[str, Any], *, run_id: UUID, **kwargs: Any) -> None:
        self._chains.pop(run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._chains.pop(run_id, None)

    def _where(self, node: _Chain) -> tuple[Any, ...]:
        """A graph's node has a step and a path in its graph, which stay. A graph has no more than its index
        among what the node around it runs: LangGraph counts on when it retries that node."""
        about = node.about
        found: list[Any] = [(about["langgraph_node"], about["langgraph_step"], about["langgraph_path"])]
        chain = self._chains.get(node.parent) if node.parent else None
        while chain is not None:
            if chain.node is not None:
                return (*chain.node.where, *reversed(found))
            if chain.parent is not None:
                found.append(chain.index)
            chain = self._chains.get(chain.parent) if chain.parent else None
        return (self._attempt, *reversed(found))


def _run_id() -> UUID | None:
    """What LangChain runs here."""
    found: UUID | None = getattr(ensure_config().get("callbacks"), "parent_run_id", None)
    return found
