"""The flags of `serve`, read without the library of the other commands: to import and prepare it takes a
tenth of the time of a start."""

from __future__ import annotations

from collections.abc import Sequence

from caesura.settings import Settings

#: What is told through the environment alone, where other people of the machine do not see it.
SECRET = {"secret", "search_key", "jwt_key"}


def read(arguments: Sequence[str]) -> dict[str, str] | None:
    """The settings among the arguments. None if there is anything besides flags with values: the library
    shows the help and tells what is wrong."""
    known = {f"--{name.replace('_', '-')}": name for name in Settings.model_fields if name not in SECRET}
    found: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        flag, joined, value = argument.partition("=")
        if not joined:
            value = next(rest, "-")
        if flag not in known or value.startswith("-"):
            return None
        found[known[flag]] = value
    return found
