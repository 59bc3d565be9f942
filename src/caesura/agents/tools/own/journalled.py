"""A marked function or tool inside an operator's own graph: a call that LangChain makes goes through the
journal.

LangChain is not imported here: most operators who mark a function have none.
"""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from inspect import Parameter
from types import MethodType
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from caesura.agents import context
from caesura.agents.tools.own.context import Context, is_context

if TYPE_CHECKING:
    from caesura.agents.tools.tool import Tool
    from caesura.core.messages import Message

T = TypeVar("T")
_ATTRIBUTE = "__caesura_original__"


class Calls(Protocol):
    """The tool calls of a graph that runs."""

    def begun(self) -> Any | None:
        """The tool call that LangChain makes here; None if this code is called in another way."""

    async def make(self, begun: Any, target: Any, given: Mapping[str, Any]) -> Any:
        """Make this call of a marked function or tool through the journal. `given` is what LangChain passes
        to it."""

    def make_in_thread(self, begun: Any, target: Any, given: Mapping[str, Any]) -> Any:
        """The same for code that is not async."""

    async def call(self, tool: Tool, args: Mapping[str, Any]) -> Message:
        """Make a call of one of our own tools through the journal, for code of a graph's node."""

    async def read(self, work: Callable[..., T], *args: Any) -> T:
        """What this work reads of the conversation, whose id is its second argument."""

    @property
    def conversation_id(self) -> str: ...


#: The calls of the graph that runs here, and the tool call in which it runs itself: that of a sub-agent.
_CALLS: ContextVar[tuple[Calls, context.RunContext | None]] = ContextVar("caesura_graph_calls")


@contextmanager
def active(calls: Calls) -> Iterator[None]:
    """While this lasts, the calls that this code makes are those of a graph."""
    token = _CALLS.set((calls, context.found()))
    try:
        yield
    finally:
        _CALLS.reset(token)


def current() -> Calls:
    if (found := _CALLS.get(None)) is None:
        raise RuntimeError("the artifacts of a conversation are there only while a graph works in it")
    return found[0]


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for people as for LangChain. Only where LangChain calls it as a tool of a graph, the
    journal does."""
    made = _around(function, function)
    setattr(made, _ATTRIBUTE, (made, function))
    _hide_context(made, function)
    return made


def wrap_tool(tool: Any) -> None:
    """The same for a tool of LangChain, which stays the same object."""
    # A tool of LangChain is a pydantic model, which takes no other attribute in the usual way.
    for name in filter(partial(hasattr, tool), ("_run", "_arun")):
        object.__setattr__(tool, name, _around(getattr(tool, name), tool))


def original(found: Any) -> Any:
    """The function that was marked, or the object itself."""
    if inspect.ismethod(found):
        return MethodType(original(found.__func__), found.__self__)
    made, function = getattr(found, _ATTRIBUTE, (None, None))
    return function if made is found else found


def _around(function: Callable[..., Any], target: Any) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call(*args: Any, **kwargs: Any) -> Any:
            if (found := _found()) is None:
                return await function(*args, **kwargs)
            calls, begun = found
            return await calls.make(begun, _bound(target, args), kwargs)

        return call

    @functools.wraps(function)
    def call_here(*args: Any, **kwargs: Any) -> Any:
        if (found := _found()) is None:
            return function(*args, **kwargs)
        calls, begun = found
        return calls.make_in_thread(begun, _bound(target, args), kwargs)

    return call_here


def _bound(target: Any, args: tuple[Any, ...]) -> Any:
    """The method of the object that it is called on, if the function is one. LangChain gives everything else
    by its name."""
    is_method = (
        args and inspect.isfunction(target) and next(iter(inspect.signature(target).parameters)) == "self"
    )
    return MethodType(target, args[0]) if is_method else target


def _found() -> tuple[Calls, Any] | None:
    """The calls of the graph, and the one that is made here. None if there is no graph, and within a call
    that the journal has already."""
    calls, within = _CALLS.get((None, None))
    if calls is None or context.found() is not within:
        return None
    begun = calls.begun()
    return None if begun is None else (calls, begun)


class _Injected:
    """Tells LangChain that a parameter is none of the model's. It is what LangChain takes for that, as soon
    as LangChain is there."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        found = getattr(sys.modules.get("langchain_core.tools"), "InjectedToolArg", None)
        return found if isinstance(found, type) else _Injected


def _hide_context(made: Callable[..., Any], function: Callable[..., Any]) -> None:
    """Let nobody but the journal fill in the parameters that get the context."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        signature = inspect.signature(function)
    except Exception:  # noqa: BLE001 - whoever reads the function is told what is wrong with it
        return
    names = [name for name in signature.parameters if is_context(hints.get(name))]
    if not names:
        return
    hint = Annotated[Context | None, _Injected()]
    rest = [item for name, item in signature.parameters.items() if name not in names]
    hidden = [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=hint) for name in names]
    made.__annotations__ = {**hints, **dict.fromkeys(names, hint)}
    ordered = sorted([*rest, *hidden], key=lambda item: item.kind)
    vars(made)["__signature__"] = signature.replace(parameters=ordered)
