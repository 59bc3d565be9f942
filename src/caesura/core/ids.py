"""Ids: opaque, unguessable, ordered by time so that indexes grow at one end."""

from __future__ import annotations

import re
import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_VALUES = {sign: value for value, sign in enumerate(_ALPHABET)}
_LENGTH = 24
_USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,49}")
_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_TOOL = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,127}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def token() -> str:
    """48 bits of milliseconds and 72 random bits, in 24 characters."""
    number = (time.time_ns() // 1_000_000) << 72 | secrets.randbits(72)
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(115, -1, -5))


def made_at(id: str) -> int | None:
    """When this id was made, in milliseconds; None if its form is another one."""
    _, _, made = id.rpartition("-")
    if len(made) != _LENGTH or not _VALUES.keys() >= set(made):
        return None
    number = 0
    for sign in made:
        number = number << 5 | _VALUES[sign]
    return number >> 72


def conversation() -> str:
    return f"conv-{token()}"


def turn() -> str:
    return f"turn-{token()}"


def interrupt() -> str:
    return f"int-{token()}"


def owner() -> str:
    return f"node-{token()}"


def invite() -> str:
    """160 random bits in 32 characters. The first eight are no secret: they name the invite."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(32))


def error() -> str:
    """Shown to a client in place of an internal error, and written to the log beside it."""
    return f"err-{token()}"


def is_username(name: str) -> bool:
    return _USERNAME.fullmatch(name) is not None


def is_agent_name(name: str) -> bool:
    return _AGENT.fullmatch(name) is not None


def is_tool_name(text: str) -> bool:
    """Whether it looks like the name of a tool, as models take them, and fits into a path."""
    return _TOOL.fullmatch(text) is not None


def is_file_name(text: str) -> bool:
    """Whether it can name a folder: it is no path, and it is not hidden."""
    return _FILE_NAME.fullmatch(text) is not None
