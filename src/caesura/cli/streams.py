"""The standard streams, which may be closed, full, or unable to encode every text."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from caesura.core.errors import CaesuraError


class Unreadable(CaesuraError):
    """What was given is not text"""

    code = "unreadable"


def prepare() -> None:
    """Escape characters that cannot be shown, and report input that cannot be decoded. Output to a closed
    stream is discarded."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    how = ((sys.stdin, "strict"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace"))
    for stream, errors in how:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def human() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def line(prompt: str = "") -> str:
    """A line of standard input, without its line break. Raises `EOFError` at the end."""
    if sys.stdin is None:
        raise Unreadable("standard input is closed: nobody can be asked")
    try:
        return input(prompt).rstrip("\r")
    except UnicodeDecodeError as error:
        raise Unreadable(f"standard input is not {error.encoding}") from error


def legible(text: str, what: str) -> str:
    """An argument or a variable. Python accepts these even if their bytes are not text."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Unreadable(f"{what} is not UTF-8") from error
    return text


def discard_output() -> None:
    """Discard what standard output does not accept: Python would report it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere() -> TextIO:
    return open(os.devnull, "w")
