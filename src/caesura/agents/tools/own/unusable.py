"""A Python object that cannot be a tool: what is wrong, where, and what to do about it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from textwrap import dedent
from typing import Any


class Unusable(Exception):
    """`line` is a line of the Python file, and 0 if it is not known."""

    def __init__(self, message: str, remedy: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.message, self.remedy, self.line = message, remedy, line


def line_of(function: Callable[..., Any], parameter: str | None = None) -> int:
    """The line of the function's `def`, or of one of its parameters."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return 0
    try:
        tree = ast.parse(dedent(inspect.getsource(code)))
    except (OSError, SyntaxError, ValueError):
        return int(code.co_firstlineno)
    found = next((item for item in ast.walk(tree) if isinstance(item, _FUNCTIONS)), None)
    if found is None:
        return int(code.co_firstlineno)
    arguments = found.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    named = next((item for item in every if item is not None and item.arg == parameter), None)
    line = found.lineno if named is None else named.lineno
    return int(code.co_firstlineno) + line - 1


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
