"""Whether the options that an agent's file gives fit the operator's own model class."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from inspect import Parameter
from typing import Any

from caesura.agents import imports
from caesura.agents.faults import did_you_mean

_BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def misfits(model_class: type[Any], given: Iterable[str]) -> Iterator[tuple[str | None, str, str]]:
    """Each option that does not fit, with what is wrong and the remedy; None stands for one that is missing.
    Nothing where only a call can tell, as with the classes of LangChain, which have checks of their own."""
    if imports.is_langchain(model_class):
        return
    try:
        parameters = inspect.signature(model_class).parameters
    except (TypeError, ValueError):
        return
    named = {name: item for name, item in parameters.items() if item.kind in _BY_NAME}
    names = set(given)
    if not any(item.kind is Parameter.VAR_KEYWORD for item in parameters.values()):
        for name in sorted(names - named.keys()):
            known = did_you_mean(name, named) or f"it takes {', '.join(named) or 'none'}"
            yield name, f"{model_class.__name__} takes no option {name}", known
    for name, item in named.items():
        if item.default is Parameter.empty and name not in names:
            yield None, f"{model_class.__name__} needs the option {name}", f"write options: {{{name}: …}}"
