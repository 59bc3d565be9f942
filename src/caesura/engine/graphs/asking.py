"""LangGraph gives an answer to the `interrupt` that comes at its place in a node, whatever that asks now.
Here an answer has with it what it answers, and another question is asked instead of getting it.

A question that differs although the code that asks is the same, as one with the time, gets its answer.
"""

from __future__ import annotations

import hashlib
import re
import reprlib
import sys
from collections.abc import Mapping
from itertools import islice
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Annotated, Any
from uuid import uuid4

from langgraph._internal._constants import CONFIG_KEY_SCRATCHPAD, CONFIG_KEY_SEND
from langgraph.checkpoint.serde.types import RESUME
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt, interrupt
from pydantic import BeforeValidator

from caesura.core import json_data
from caesura.engine.graphs.reviews import CODE

#: The member of an answer that has its question with it.
_ANSWER = "caesura_answer"
#: A process loads code once, so in it the code that asks stays the same.
_PROCESS = uuid4().hex
#: How many functions of the code that asks are compared.
_FUNCTIONS = 200
_LIBRARIES = sys.stdlib_module_names | {"caesura", "langchain", "langchain_core", "langgraph"}
_DATA = (str, int, float, bool, bytes, tuple, list, dict, set, frozenset)
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 3, 10_000, 1000
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxfrozenset = 50


class _OtherQuestionError(Exception):
    pass


def answered(item: Interrupt, value: Any) -> dict[str, Any]:
    """The answer with this value, together with its question."""
    schema = item.response_schema
    code = schema.get(CODE) if isinstance(schema, Mapping) else None
    return {_ANSWER: [value, _question(item.value), code]}


def asked(value: Any, schema: Any) -> Any:
    """What LangGraph's `interrupt(value, response_schema=schema)` does, which calls this."""
    frame = sys._getframe(2)

    def opened(answer: Any) -> Any:
        if not isinstance(answer, dict) or answer.keys() != {_ANSWER}:
            return answer
        found, question, code = answer[_ANSWER]
        if question != _question(value) and not _is_same(code, frame):
            raise _OtherQuestionError(answer)
        return found

    typed = Any if schema is None or isinstance(schema, dict) else schema
    checked: Any = Annotated[typed, BeforeValidator(opened)]
    try:
        try:
            return _interrupt(value, response_schema=checked)
        except _OtherQuestionError as error:
            known = get_config()["configurable"]
            resume = known[CONFIG_KEY_SCRATCHPAD].resume
            del resume[next(place for place, item in enumerate(resume) if item is error.args[0]) :]
            known[CONFIG_KEY_SEND]([(RESUME, [*resume])])
            return _interrupt(value, response_schema=checked)
    except GraphInterrupt as error:
        [item] = error.args[0]
        about = schema if typed is Any else item.response_schema
        item.response_schema = {**(about or {}), CODE: [_PROCESS, _code(frame)]}
        raise


def _question(value: Any) -> str:
    return hashlib.sha256(json_data.dumps(json_data.clean(value))).hexdigest()


def _is_same(code: Any, frame: FrameType) -> bool:
    return code is not None and (code[0] == _PROCESS or code[1] == _code(frame))


def _code(frame: FrameType | None) -> str:
    """A digest of the functions that ask, of those that they name, and of the data that they name."""
    functions: list[tuple[CodeType, list[Mapping[str, Any]]]] = []
    while frame is not None and not (name := frame.f_globals.get("__name__", "")).startswith("langgraph."):
        if not _is_library(name):
            free = {name: frame.f_locals.get(name) for name in frame.f_code.co_freevars}
            functions.append((frame.f_code, [free, frame.f_globals]))
        frame = frame.f_back
    found, seen = list[str](), {code for code, _ in functions}
    for code, spaces in islice(functions, _FUNCTIONS):  # grows meanwhile
        for name in _plain(code, found):
            item = next((space[name] for space in spaces if name in space), None)
            if isinstance(item, ModuleType):
                spaces.append(vars(item))
            elif isinstance(item, FunctionType) and item.__code__ not in seen:
                seen.add(item.__code__)
                if not _is_library(item.__module__):
                    functions.append((item.__code__, [item.__globals__]))
            elif isinstance(item, _DATA):
                found.append(re.sub(" at 0x[0-9a-f]+", "", _SHORT.repr(item)))
    return hashlib.sha256("\n".join(found).encode(errors="replace")).hexdigest()


def _is_library(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _LIBRARIES


def _plain(code: CodeType, found: list[str]) -> list[str]:
    """Add what the function does. Returns the names that it uses."""
    found.append(code.co_code.hex())
    names = [*code.co_freevars, *code.co_names]
    found.append(repr(names))
    for item in code.co_consts:
        if isinstance(item, CodeType):
            names += _plain(item, found)
        else:
            found.append(repr(sorted(map(repr, item)) if isinstance(item, frozenset) else item))
    return names


def _replaced(value: Any, *, response_schema: Any = None) -> Any:
    """The code of `interrupt`. Modules may have imported that function already, so its code is replaced."""
    from caesura.engine.graphs.asking import asked

    return asked(value, response_schema)


_interrupt: Any = FunctionType(interrupt.__code__, interrupt.__globals__)
_interrupt.__kwdefaults__ = interrupt.__kwdefaults__
interrupt.__code__ = _replaced.__code__
