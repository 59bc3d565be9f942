"""Type-ahead: keys that were pressed before a question was shown. They must not answer it."""

from __future__ import annotations

import os
import select
import sys
import termios
from typing import Any

from caesura.cli import streams

#: Nobody reads and answers a question within this many seconds. Pasted text has no gaps of this length.
_QUIET = 0.3
_DROPPED = "(what you typed before this question was dropped: answer now)"
#: The positions, in the result of `tcgetattr`, of the local flags and of the special characters.
_FLAGS, _CHARACTERS = 3, 6


def drop() -> None:
    """Wait until nothing was typed for a moment, drop what was typed until then, and tell the person if
    anything was. A pipe is left alone: it holds the answers to all questions from the beginning."""
    if streams.human() and _dropped(sys.stdin.fileno()):
        print(_DROPPED, flush=True)


def _dropped(terminal: int) -> int:
    """How many bytes were dropped. An unfinished line is visible only while each key is delivered at once."""
    try:
        before = termios.tcgetattr(terminal)
        try:
            termios.tcsetattr(terminal, termios.TCSANOW, _each_key(before))
            return _drain(terminal)
        finally:
            termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
    except (OSError, termios.error) as error:
        raise EOFError("the terminal is gone") from error


def _each_key(mode: list[Any]) -> list[Any]:
    """No echo, no line buffering, and reads do not wait. Ctrl-C still works."""
    changed = [*mode]
    changed[_FLAGS] &= ~(termios.ICANON | termios.ECHO)
    changed[_CHARACTERS] = [*mode[_CHARACTERS]]
    changed[_CHARACTERS][termios.VMIN] = changed[_CHARACTERS][termios.VTIME] = 0
    return changed


def _drain(terminal: int) -> int:
    count = 0
    while select.select([terminal], [], [], _QUIET)[0] and (typed := os.read(terminal, 65_536)):
        count += len(typed)
    return count
