"""A tool as the engine sees it: the function, whether it needs approval, and how it is described to
people."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ValidationError
from sqlalchemy import Connection

from caesura.agents.tools.signature import arguments_of, parameters_of
from caesura.core import described, shown
from caesura.core.events import Event
from caesura.core.interrupts import File
from caesura.core.language import Language
from caesura.models.model import Schema

#: At most this many faults are listed: a longer list would not help.
_MOST_FAULTS = 100


class ToolError(Exception):
    """A call that failed. The model gets the text as the result."""


class CheckFailed(Exception):
    """The code that checks the arguments has failed itself, which says nothing about the arguments"""


class Description(NamedTuple):
    """For people: what kind of thing is done (`执行命令`), and what exactly (`正在执行命令: npm install`).
    `note` is what of it the operator has written."""

    label: str
    description: str
    note: str = ""


Describe = Callable[[Mapping[str, Any], Language], Description]
#: The same where it delays nobody.
DescribeApart = Callable[[Mapping[str, Any], Language], Awaitable[Description]]


class Result(NamedTuple):
    """What a call came to. `rows` writes what belongs to the result, and `events` report it. Both are
    committed together with the result, in one transaction, or none of them is."""

    text: str
    status: Literal["ok", "error"] = "ok"
    rows: Callable[[Connection], None] | None = None
    events: tuple[Event, ...] = ()


Function = Callable[..., Awaitable[str | Result]]


#: Runs a check of arguments where it delays nobody, and gives what it came to.
Apart = Callable[[Callable[[], str | None]], Awaitable[str | None]]


class Action:
    """What a tool does, and what it needs for that. `parameters` is the JSON schema of the arguments.
    `arguments` checks them, and the function gets them by name. Without it the function gets them unchecked,
    as one dict. So it does with `apart`, because the check may take long: then the function checks them
    itself."""

    def __init__(
        self,
        function: Function,
        description: str,
        parameters: dict[str, Any],
        arguments: type[BaseModel] | None = None,
        apart: Apart | None = None,
    ) -> None:
        self.function, self.description, self.apart = function, description, apart
        self._parameters, self._arguments = parameters, arguments

    @property
    def parameters(self) -> dict[str, Any]:
        return self._parameters

    @property
    def arguments(self) -> type[BaseModel] | None:
        return self._arguments


class _Structured(Action):
    """Its model and its schema are made when they are first needed: few agents have all tools."""

    def __init__(self, function: Function, description: str, arguments: type[BaseModel] | None) -> None:
        super().__init__(function, description, {}, arguments)

    @cached_property
    def arguments(self) -> type[BaseModel]:
        return self._arguments or arguments_of(self.function)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        return parameters_of(self.arguments)


class Replaces(NamedTuple):
    """For a tool that replaces a file: `look` finds what the file holds before a call with these arguments,
    or None if that cannot be said. `unchanged` tells whether it still holds what a person was shown, or
    already what the call would write."""

    look: Callable[[Mapping[str, Any]], Awaitable[File | None]]
    unchanged: Callable[[Mapping[str, Any], File], Awaitable[bool]]


async def _no_refusal(args: Mapping[str, Any]) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Tool:
    """`repeatable` tools may run again after a crash that left the outcome unknown.

    A tool that `asks` may stop the turn while it works. It then runs again from its top. One that `only_asks`
    does nothing else.

    Of a tool that is `shown_live`, people see the arguments while the model still writes them.

    `refusal` tells why a call with these arguments can only be refused, if that is known without making it.
    Then no person is asked to approve it.

    `origin` says where it comes from, in what a person always allows: another tool of the same name is not
    allowed with it.

    `timeout` are the seconds that a call may take, in place of the server's limit.

    `describe_apart` is used in place of `describe` where that runs an operator's code.
    """

    name: str
    action: Action
    describe: Describe
    permission: Literal["auto", "confirm"] = "auto"
    repeatable: bool = False
    asks: bool = False
    only_asks: bool = False
    refusal: Callable[[Mapping[str, Any]], Awaitable[str | None]] = _no_refusal
    replaces: Replaces | None = None
    shown_live: bool = False
    origin: str = "built-in"
    timeout: float | None = None
    describe_apart: DescribeApart | None = None
    #: What arguments are if the model leaves them out, as far as that is known and JSON can say it.
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def filled(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with those that the model has left out: what a person approves."""
        return {**args, **{name: value for name, value in self.defaults.items() if name not in args}}

    @property
    def schema(self) -> Schema:
        """The tool as a model sees it."""
        return Schema(self.name, self.action.description, self.action.parameters)

    def fault(self, args: dict[str, Any]) -> str | None:
        """Why the tool refuses these arguments; None when it accepts them, or when only a call can tell.
        Raises `CheckFailed`, whatever an operator's validator raises."""
        if self.action.arguments is None:
            return None
        try:
            self.action.arguments.model_validate(args)
        except ValidationError as error:
            return wrong_arguments(error)
        except BaseException as error:  # nothing is awaited here: no cancellation and no end of the server
            raise CheckFailed(f"{type(error).__name__}: {CheckFailed.__doc__}") from error
        return None

    async def check(self, args: dict[str, Any]) -> str | None:
        """As `fault`, without holding up the event loop. Raises `ToolError` if there is no room for it."""
        apart = self.action.apart
        return self.fault(args) if apart is None else await apart(lambda: self.fault(args))

    async def run(self, args: dict[str, Any]) -> Result:
        """Call the tool. Faults of the arguments and errors for the model are returned as a result too."""
        try:
            found = await self._called(args)
        except ToolError as error:
            return Result(str(error), "error")
        return Result(found) if isinstance(found, str) else found

    def _called(self, args: dict[str, Any]) -> Awaitable[str | Result]:
        function, arguments = self.action.function, self.action.arguments
        if arguments is None or self.action.apart is not None:
            return function(args)
        try:
            checked = arguments.model_validate(args)
        except ValidationError as error:
            raise ToolError(wrong_arguments(error)) from error
        return function(**{name: getattr(checked, name) for name in arguments.model_fields})


def structured(function: Function, description: str, arguments: type[BaseModel] | None = None) -> Action:
    """An action whose arguments are checked: by this model, or by one of the function's signature."""
    return _Structured(function, description, arguments)


def wrong_arguments(error: ValidationError) -> str:
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
