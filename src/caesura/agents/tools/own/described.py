"""How a call of an operator's function is described to the person who approves it."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from string import Formatter
from typing import Any

from caesura.agents.tools.own.marks import Mark
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.own.unusable import Unusable
from caesura.agents.tools.tool import Describe, DescribeApart, Description, ToolError, describe_any
from caesura.core.described import NOTE, words
from caesura.core.language import Language

logger = logging.getLogger(__name__)
Sentence = Callable[[Mapping[str, Any], Language], object]

#: Seconds for a description, with the wait for a thread.
_PATIENCE = 5.0


def describer(name: str, mark: Mark, parameters: Iterable[str]) -> Describe:
    """The operator's own description. A call that it cannot describe gets the usual one: the person must see
    what they approve."""
    usual = describe_any(name)
    sentence = _sentence(mark, tuple(parameters))

    def describe(args: Mapping[str, Any], language: Language) -> Description:
        label, description, _ = usual(args, language)
        label = mark.label or label
        if sentence is None:
            return Description(label, description)
        try:
            told = sentence(args, language)
            # The operator's code may return a kind of text with methods of its own.
            own = str.__str__(told) if isinstance(told, str) else ""
        except BaseException:  # nothing is awaited here, so this is no cancellation and no end of the server
            logger.exception("the description of a call of %s failed", name)
            return Description(label, description)
        if not own.strip():
            return Description(label, description)
        return Description(label, words(own, language), words(own, language, NOTE))

    return describe


def describer_apart(name: str, mark: Mark, describe: Describe, threads: OwnThreads) -> DescribeApart | None:
    """`describe` in a thread, if it runs a function of the operator's: that may take any time. A call that is
    not described soon gets the usual description. None if nothing of the operator's runs."""
    if mark.describe is None or isinstance(mark.describe, str):
        return None
    usual = describer(name, replace(mark, describe=None), ())

    async def described(args: Mapping[str, Any], language: Language) -> Description:
        try:
            async with asyncio.timeout(_PATIENCE):
                return await threads.check(f"describe {name}", lambda: describe(deepcopy(args), language))
        except (TimeoutError, ToolError):
            logger.warning("a call of %s was not described within %g s", name, _PATIENCE)
        return await threads.write(lambda: usual(args, language))

    return described


def _sentence(mark: Mark, parameters: tuple[str, ...]) -> Sentence | None:
    given = mark.describe
    if given is None:
        return None
    if isinstance(given, str):
        _check(given, parameters)
        return lambda args, language: _filled(given, parameters, args)
    own = given  # a name of its own, for the type checker
    if named := _named(own, parameters):
        return lambda args, language: own(**{name: args.get(name) for name in named})
    if _takes_two(own):
        return lambda args, language: own(dict(args), language)
    return lambda args, language: own(dict(args))


def _check(text: str, parameters: tuple[str, ...]) -> None:
    try:
        named = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
    except ValueError as error:
        raise Unusable(
            f"describe is no text with names in braces: {error}", "write {{ for a brace"
        ) from error
    for field in named:
        if field not in parameters:
            remedy = f"known: {', '.join(parameters) or 'none'}"
            raise Unusable(f"describe names {{{field}}}, which is no parameter", remedy)


def _filled(text: str, parameters: tuple[str, ...], args: Mapping[str, Any]) -> str:
    """The text with the arguments in it. One that the model left out is shown as a dash."""
    return text.format_map({name: args.get(name, "–") for name in parameters})


def _named(function: Callable[..., Any], parameters: tuple[str, ...]) -> tuple[str, ...]:
    """The parameters of the tool that the function takes by name; none if it takes anything else."""
    try:
        wanted = tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()
    return wanted if all(name in parameters for name in wanted) else ()


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind({}, "en")
    except (TypeError, ValueError):
        return False
    return True
