"""A tool as the engine sees it: the function, whether it needs approval, and how it is described to
people."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, NamedTuple

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ValidationError
from sqlalchemy import Connection

from caesura.core import described, shown
from caesura.core.events import Event
from caesura.core.interrupts import File
from caesura.core.language import Language

#: At most this many faults are listed: a longer list would not help.
_MOST_FAULTS = 100


class Description(NamedTuple):
    """For people: what kind of thing is done (`执行命令`), and what exactly (`正在执行命令: npm install`)."""

    label: str
    description: str


Describe = Callable[[Mapping[str, Any], Language], Description]


class Result(NamedTuple):
    """What a call came to. `rows` writes what belongs to the result, and `events` report it. Both are
    committed together with the result, in one transaction, or none of them is."""

    text: str
    status: Literal["ok", "error"] = "ok"
    rows: Callable[[Connection], None] | None = None
    events: tuple[Event, ...] = ()


Function = Callable[..., Awaitable[str | Result]]


class _Plain(StructuredTool):
    """Nothing but a function from checked arguments to a result, which comes as LangChain's artifact."""


class Replaces(NamedTuple):
    """For a tool that replaces a file: `look` finds what the file holds before a call with these arguments,
    or None if that cannot be said. `unchanged` tells whether it still holds what a person was shown, or
    already what the call would write."""

    look: Callable[[Mapping[str, Any]], Awaitable[File | None]]
    unchanged: Callable[[Mapping[str, Any], File], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Tool:
    """`repeatable` tools may run again after a crash that left the outcome unknown.

    A tool that `asks` may stop the turn while it works. It then runs again from its top. One that `only_asks`
    does nothing else.

    Of a tool that is `shown_live`, people see the arguments while the model still writes them.

    `refusal` tells why a call with these arguments can only be refused, if that is known without making it.
    Then no person is asked to approve it.
    """

    name: str
    tool: BaseTool
    describe: Describe
    permission: Literal["auto", "confirm"] = "auto"
    repeatable: bool = False
    asks: bool = False
    only_asks: bool = False
    refusal: Callable[[Mapping[str, Any]], str | None] = lambda args: None
    replaces: Replaces | None = None
    shown_live: bool = False

    def fault(self, args: dict[str, Any]) -> str | None:
        """Why the tool refuses these arguments; None when it accepts them, or when only a call can tell."""
        schema = self.tool.args_schema
        if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
            return None
        try:
            schema.model_validate(args)
        except ValidationError as error:
            return _wrong_arguments(error)
        return None

    async def run(self, args: dict[str, Any], call_id: str, config: RunnableConfig | None) -> Result:
        """Call the tool. Faults of the arguments and errors for the model are returned as a result too.
        `config` has the callbacks, if any. Without callbacks the function is called directly: LangChain's
        wrapper costs more than most tools."""
        tool = self.tool
        if config is not None or not isinstance(tool, _Plain) or tool.coroutine is None:
            call = ToolCall(name=self.name, args=args, id=call_id, type="tool_call")
            return _of_message(await tool.ainvoke(call, config))
        try:
            _, result = await tool.coroutine(**_checked(tool.args_schema, args))
        except ValidationError as error:
            return Result(_wrong_arguments(error), "error")
        except ToolException as error:
            return Result(str(error), "error")
        made: Result = result
        return made


def _of_message(message: ToolMessage) -> Result:
    if isinstance(message.artifact, Result):
        return message.artifact
    content = message.content
    parts = [content] if isinstance(content, str) else content
    texts = [part if isinstance(part, str) else str(part.get("text", "")) for part in parts]
    return Result("".join(texts), "error" if message.status == "error" else "ok")


def _checked(schema: Any, args: dict[str, Any]) -> dict[str, Any]:
    made = schema.model_validate(args)
    return {name: getattr(made, name) for name in type(made).model_fields}


def structured(
    function: Function,
    description: str,
    arguments: type[BaseModel] | None = None,
    name: str | None = None,
) -> StructuredTool:
    """A tool whose errors, and faults of its arguments, become texts for the model."""

    @wraps(function)
    async def both(*args: Any, **kwargs: Any) -> tuple[str, Result]:
        found = await function(*args, **kwargs)
        result = Result(found) if isinstance(found, str) else found
        return result.text, result

    return _Plain.from_function(
        coroutine=both,
        response_format="content_and_artifact",
        name=name,
        description=description,
        args_schema=arguments,
        handle_tool_error=True,
        handle_validation_error=_wrong_arguments,
    )


def _wrong_arguments(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "the arguments do not fit"
    if error.error_count() > _MOST_FAULTS:
        return f"the arguments do not fit in {error.error_count()} places"
    faults = [f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()]
    return f"the arguments do not fit: {'; '.join(faults)}"


def describer(
    labels: dict[Language, str], doing: dict[Language, str], argument: str, counted: str | None = None
) -> Describe:
    """Describes a call such as `Running command: npm install`: the kind of action, and the whole of the
    important argument. Of the `counted` argument only the size is given, unless it is a short line."""

    def describe(args: Mapping[str, Any], language: Language) -> Description:
        value = _value(args.get(argument, ""), language)
        rest = args.get(counted) if counted is not None else None
        size = described.size_apart(counted or "", _written(rest), language) if rest is not None else ""
        return Description(labels[language], described.sentence(doing[language], value, language, size))

    return describe


def describe_any(name: str) -> Describe:
    """Describes a call of a tool without its own description: its name and its arguments."""

    def describe(args: Mapping[str, Any], language: Language) -> Description:
        label, doing = ("使用工具", "正在使用工具") if language == "zh" else ("Use a tool", "Using tool")
        known = shown.text(name)
        if not args:
            return Description(label, f"{doing}: {known}")
        value = described.data(args, language)
        named = value._replace(text=f"{known} {value.text}")
        return Description(label, described.sentence(doing, named, language))

    return describe


def _value(value: object, language: Language) -> described.Value:
    return described.text(value, language) if isinstance(value, str) else described.data(value, language)


def _written(value: object) -> str:
    return value if isinstance(value, str) else shown.data(value)
