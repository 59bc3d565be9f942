"""The parameters of an operator's function: the model that checks its arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from contextlib import suppress
from inspect import Parameter
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from caesura.agents.tools.own.context import is_context
from caesura.agents.tools.own.unusable import Unusable, line_of
from caesura.agents.tools.signature import parameters_of

_REMEDIES = {
    Parameter.VAR_POSITIONAL: (
        "takes any number of arguments",
        "name each parameter: a model must know them",
    ),
    Parameter.VAR_KEYWORD: ("takes any arguments", "name each parameter: a model must know them"),
    Parameter.POSITIONAL_ONLY: ("is positional only", "remove the / from the parameters"),
}


#: What people call the parameter that gets the context.
_CONTEXTS = ("context", "ctx")


class Parameters(NamedTuple):
    """`names` are the parameters by the field of the model that holds each. The fields have names of their
    own, because a model's attributes, such as `copy`, cannot be fields. `contexts` are the parameters that
    get the context."""

    arguments: type[BaseModel]
    names: dict[str, str]
    contexts: tuple[str, ...]


def read(function: Callable[..., Any], described: dict[str, str]) -> Parameters:
    """`described` is what the docstring says about the parameters."""
    hints = _hints(function)
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    contexts: list[str] = []
    for name, parameter in _signature(function).parameters.items():
        if parameter.kind in _REMEDIES:
            message, remedy = _REMEDIES[parameter.kind]
            raise Unusable(f"the parameter {name} {message}", remedy, line_of(function, name))
        if name not in hints:
            kind = "caesura.Context" if name in _CONTEXTS else "str"
            remedy = f"write its type, for example {name}: {kind}"
            raise Unusable(f"the parameter {name} has no type", remedy, line_of(function, name))
        if is_context(hints[name]):
            contexts.append(name)
            continue
        field = f"p{len(fields)}"
        fields[field] = _field(function, parameter, hints[name], described.get(name, ""))
        names[field] = name
    return Parameters(_model(function, fields), names, tuple(contexts))


def defaults(found: Parameters) -> dict[str, Any]:
    """What parameters are if they are left out, as JSON. Only values that come out the same when they are
    given: one that is made for each call, or is not of its own type, is not among them."""
    told = {}
    for name, info in found.arguments.model_fields.items():
        if info.is_required() or info.default_factory is not None:
            continue
        with suppress(ValueError, TypeError):  # also those of pydantic
            value = to_jsonable_python(info.default)
            if TypeAdapter(info.rebuild_annotation()).validate_python(value) == info.default:
                told[found.names[name]] = value
    return told


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (ValueError, TypeError) as error:
        raise Unusable(
            f"its parameters cannot be read: {error}", "write a function with typed parameters"
        ) from error


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        remedy = "import or define it in this file, not only under TYPE_CHECKING"
        raise Unusable(f"a type cannot be found: {error}", remedy, line_of(function)) from error


def _field(function: Callable[..., Any], parameter: Parameter, hint: Any, described: str) -> tuple[Any, Any]:
    told = _told(parameter.name, hint, parameter.default, described)
    default = ... if parameter.default is Parameter.empty else parameter.default
    try:
        parameters_of(create_model(parameter.name, p0=(told, default)))
    except (PydanticUserError, TypeError, ValueError) as error:
        written = inspect.formatannotation(hint)
        if getattr(error, "code", None) == "typed-dict-version":
            message = f"the parameter {parameter.name} has a TypedDict of typing, which cannot be read"
            remedy = "write: from typing_extensions import TypedDict"
            raise Unusable(message, remedy, line_of(function, parameter.name)) from error
        raise Unusable(
            f"the parameter {parameter.name} has the type {written}, which no JSON schema can say",
            "use text, numbers, lists, Literal, enums, dataclasses or pydantic models",
            line_of(function, parameter.name),
        ) from error
    return told, default


def _told(name: str, hint: Any, default: Any, described: str) -> Any:
    """The type with its name in the schema, and its description: a text in `Annotated`, or what the docstring
    says."""
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    told = [Field(description=note) if isinstance(note, str) else note for note in notes]
    infos = [item for item in (*told, default) if isinstance(item, FieldInfo)]
    if described and not any(item.description for item in infos):
        told.append(Field(description=described))
    return Annotated[(kind, Field(alias=name), *told)]


def _model(function: Callable[..., Any], fields: dict[str, Any]) -> type[BaseModel]:
    try:
        return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    except (PydanticUserError, TypeError, ValueError) as error:
        raise Unusable(f"its parameters make no schema: {error}", "", line_of(function)) from error
