"""The decorator `caesura.tool`: what an operator says about a function of theirs beside its signature."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, TypeVar, cast, get_args, overload

from caesura.agents.tools.own import journalled

Permission = Literal["auto", "confirm"]
#: A text with the names of parameters in braces; a function of parameters, by name; or a function of all
#: arguments as a dict and, if it takes two, of the language of the conversation.
Describe = str | Callable[..., str]
F = TypeVar("F")

_ATTRIBUTE = "__caesura_tool__"
_LONGEST_LABEL = 200
_LONGEST_TIMEOUT = 86_400.0


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said about a tool. The defaults are the safe choice: a person approves each call, and none is
    made twice."""

    permission: Permission = "confirm"
    repeatable: bool = False
    timeout: float | None = None
    label: str | None = None
    describe: Describe | None = None


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    permission: Permission = "confirm",
    repeatable: bool = False,
    timeout: float | None = None,
    label: str | None = None,
    describe: Describe | None = None,
) -> Callable[[F], F]: ...


def tool(
    function: Any = None,
    /,
    *,
    permission: Permission = "confirm",
    repeatable: bool = False,
    timeout: float | None = None,
    label: str | None = None,
    describe: Describe | None = None,
) -> Any:
    """Says how a function is used as a tool. The function can be called as before, and tested.

    `permission` is `auto` if it runs at once, or `confirm` if a person approves each call. `repeatable`: it
    may run again after a crash that left its outcome unknown. `timeout` are the seconds that a call may take.
    `label` (`Refund`) and `describe` (`"Refund {amount} for {order}"`, or a function of the arguments) are
    what a person reads who approves it.
    """
    mark = Mark(permission, repeatable, timeout, label, describe)
    _check(mark)

    def marked(found: F) -> F:
        if not callable(found) and not hasattr(found, "ainvoke"):
            raise TypeError(f"@caesura.tool marks a function, not {type(found).__name__}")
        # A tool of LangChain is a pydantic model, which takes no other attribute in the usual way.
        object.__setattr__(found, _ATTRIBUTE, mark)
        if hasattr(found, "ainvoke"):
            journalled.wrap_tool(found)
        return cast(F, journalled.wrapped(found)) if _is_function(found) else found

    return marked if function is None else marked(function)


def _is_function(found: Any) -> TypeGuard[Callable[..., Any]]:
    """Whether this is a function that returns its result at once."""
    yields = inspect.isgeneratorfunction(found) or inspect.isasyncgenfunction(found)
    return inspect.isfunction(found) and not yields


def mark_of(function: Any) -> Mark:
    found = getattr(function, _ATTRIBUTE, None)
    return found if isinstance(found, Mark) else Mark()


def _check(mark: Mark) -> None:
    if mark.permission not in get_args(Permission):
        raise ValueError(f"permission must be 'auto' or 'confirm', not {mark.permission!r}")
    if not isinstance(mark.repeatable, bool):
        raise TypeError("repeatable must be True or False")
    if mark.timeout is not None and not _is_time(mark.timeout):
        raise ValueError(f"timeout must be seconds, above 0 and at most {_LONGEST_TIMEOUT:g}")
    if mark.label is not None and not _fits(mark.label):
        raise ValueError(f"label must be a text of 1 to {_LONGEST_LABEL} characters")
    if mark.describe is not None and not (isinstance(mark.describe, str) or callable(mark.describe)):
        raise TypeError("describe must be a text such as 'Refund {amount}', or a function of the arguments")


def _is_time(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return math.isfinite(value) and 0 < value <= _LONGEST_TIMEOUT


def _fits(label: object) -> bool:
    return isinstance(label, str) and bool(label.strip()) and len(label) <= _LONGEST_LABEL
