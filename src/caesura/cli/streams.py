"""The standard streams as a command finds them: closed, full, or of an encoding that cannot say all."""

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
    """What cannot be shown is escaped, what cannot be read is told, and what is for a closed stream is for
    nobody."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    how = ((sys.stdin, "strict"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace"))
    for stream, errors in how:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def human() -> bool:
    """Whether somebody sits at standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def line(prompt: str = "") -> str:
    """A line of standard input, without its end; `EOFError` when there is none."""
    if sys.stdin is None:
        raise Unreadable("standard input is closed: nobody can be asked")
    try:
        return input(prompt).rstrip("\r")
    except UnicodeDecodeError as error:
        raise Unreadable(f"standard input is not {error.encoding}") from error


def legible(text: str, what: str) -> str:
    """An argument or a variable, which Python takes even where its bytes are no text."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Unreadable(f"{what} is not UTF-8") from error
    return text


def let_go() -> None:
    """Drop what standard output does not take: Python would complain of it once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere() -> TextIO:
    return open(os.devnull, "w")
