"""An operator's own LangGraph graph: importing it, and what keeps it from working as an agent."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from caesura.agents import imports
from caesura.agents.artifact_manager import ArtifactManager
from caesura.agents.imports import ImportFault

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

_WANTED = "name a compiled graph, or a function that returns one"
_NO_ARGUMENTS = "it gets artifact_manager and checkpointer alone: give each other one a default"
_REDUCER = "write messages: Annotated[list, add_messages], as MessagesState has it"
_INPUT = "add messages to the schema of its input"
#: The members of the context that every graph gets.
_CONTEXT = {"user_id", "conversation_id", "turn_id", "agent"}
_QUESTION = "leave it out, and call interrupt() in a graph's node where a person has to decide"


def load(target: str, folder: Path | None) -> Pregel[Any, Any, Any, Any]:
    """The compiled graph that `target` names, or that the factory function `target` returns."""
    imports.check_version("langgraph")
    try:
        from langgraph.pregel import Pregel  # takes half a second to load, and few need it
    except ModuleNotFoundError as error:
        raise ImportFault(*imports.needs("a graph", "langgraph")) from error

    found = imports.load(target, folder)
    made = callable(found) and not isinstance(found, Pregel)
    if made:
        found = _made(found, target, folder)
    if isinstance(found, Pregel):
        return found
    said = f"{target} {'returned' if made else 'is'}"
    if hasattr(found, "compile"):
        raise ImportFault(f"{said} a graph that is not compiled", "call .compile() on it")
    raise ImportFault(f"{said} not a compiled graph, but of the type {type(found).__name__}", _WANTED)


def _made(factory: Callable[..., Any], target: str, folder: Path | None) -> Any:
    """What the factory returns."""
    path = imports.module_file(target, folder)
    line = _line(factory, path)
    parameters = _parameters(factory)
    given = {name: make() for name, make in _gifts().items() if name in parameters}
    needed = [name for name, item in parameters.items() if item.default is item.empty and name not in given]
    if needed:
        raise ImportFault(f"{target} needs arguments: {', '.join(needed)}", _NO_ARGUMENTS, line)

    def make() -> Any:
        found = factory(**given)
        return asyncio.run(found) if inspect.iscoroutine(found) else found

    return imports.run(make, f"{target}()", path)


def _gifts() -> dict[str, Callable[[], Any]]:
    """What a factory gets if it has a parameter of this name."""
    from langgraph.checkpoint.memory import InMemorySaver

    return {"artifact_manager": ArtifactManager, "checkpointer": InMemorySaver}


def _parameters(factory: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of the factory, without those that take any number of arguments."""
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return {}  # only a call tells
    any_number = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: item for name, item in parameters.items() if item.kind not in any_number}


def _line(factory: Callable[..., Any], path: Path | None) -> int:
    """The line where the factory is defined, if that is in this file."""
    code = getattr(inspect.unwrap(factory), "__code__", None)
    here = code is not None and path is not None and code.co_filename == str(path)
    return code.co_firstlineno if here and code is not None else 0


def misfits(graph: Pregel[Any, Any, Any, Any]) -> Iterator[tuple[str, str]]:
    """What keeps the graph from working as an agent: messages and remedies."""
    yield from _state_misfits(graph)
    for name, item in (("", graph), *graph.get_subgraphs(recurse=True)):
        for option in ("interrupt_before", "interrupt_after"):
            if stops := getattr(item, f"{option}_nodes", ()):
                where = f" in its subgraph {name}" if name else ""
                nodes = "every graph's node" if isinstance(stops, str) else ", ".join(stops)
                yield (
                    f"the graph is compiled with {option}{where}, which would end a turn at {nodes}",
                    _QUESTION,
                )


def _state_misfits(graph: Pregel[Any, Any, Any, Any]) -> Iterator[tuple[str, str]]:
    """The graph begins with messages, and its replies are messages. A graph without a state, such as a
    function with `entrypoint`, decides about its input by itself."""
    builder = getattr(graph, "builder", None)
    if builder is None:
        return
    channel = graph.channels.get("messages")
    if channel is None:
        yield "the state of the graph has no messages", _REDUCER
    elif not _adds(channel):
        yield (
            "messages in the state of the graph has no reducer that appends: each one replaces the others",
            _REDUCER,
        )
    elif "messages" not in builder.schemas.get(builder.input_schema, {"messages": channel}):
        yield "the input of the graph has no messages", _INPUT


def _adds(channel: Any) -> bool:
    """Whether a channel adds what it is given to what it has."""
    from langgraph.channels import BinaryOperatorAggregate, DeltaChannel, Topic

    if isinstance(channel, Topic):
        return channel.accumulate
    return isinstance(channel, BinaryOperatorAggregate | DeltaChannel)


def unknown_context(graph: Pregel[Any, Any, Any, Any]) -> list[str]:
    """The members that the graph's `context_schema` requires and that no graph gets. If there are any, the
    graph has no context, which it may not need."""
    return sorted(context_members(graph.context_schema)[1] - _CONTEXT)


def context_members(schema: Any) -> tuple[set[str], set[str]]:
    """The names of the members of a `context_schema`, and of those that it requires."""
    if schema is None:
        return set(), set()
    if inspect.isclass(schema) and issubclass(schema, BaseModel):
        infos = schema.model_fields.items()
        return {info.alias or name for name, info in infos}, {
            info.alias or name for name, info in infos if info.is_required()
        }
    if is_dataclass(schema):
        made = [item for item in fields(schema) if item.init]
        needed = {i.name for i in made if i.default is MISSING and i.default_factory is MISSING}
        return {item.name for item in made}, needed
    return set(inspect.get_annotations(schema)), set(getattr(schema, "__required_keys__", ()))
