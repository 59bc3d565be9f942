"""The command line. What a command needs is imported when it runs: `--help` must not wait for all of it."""

from __future__ import annotations

import errno
import sys
from contextlib import suppress
from typing import NoReturn

from caesura.cli import streams
from caesura.core import shown
from caesura.core.errors import CaesuraError, StartupError

#: Files have names, and the database errors of its own: what is left is what was printed.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> None:
    """Faults end in one line: exit code 2 for what is wrong with settings, 1 for everything else. What the
    system or an encoding refuses is a fault. Any other error is one of this program, and stays visible."""
    streams.prepare()
    from caesura.cli.commands import app

    try:
        try:
            app(prog_name="caesura")
        finally:
            sys.stdout.flush()  # what cannot be written is told here, and not by Python at its end
    except CaesuraError as error:
        _end(error.message, 2 if isinstance(error, StartupError) else 1)
    except OSError as error:
        _end(_reason(error))
    except UnicodeError as error:
        _end(f"this text cannot be read or written here: {error}")


def _end(message: str, code: int = 1) -> NoReturn:
    """Nothing that a server or a file says makes more than a line of it, or moves the cursor."""
    line = shown.line(" ".join(message.split()))
    if line:
        with suppress(OSError):
            print(f"caesura: {line}", file=sys.stderr)
    sys.exit(code)


def _reason(error: OSError) -> str:
    """Nothing for a reader who has seen enough, such as `head`."""
    streams.let_go()
    if isinstance(error, BrokenPipeError):
        return ""
    where = error.filename or (error.errno in _NO_ROOM and "standard output")
    reason = error.strerror or str(error) or type(error).__name__
    return f"{where}: {reason}" if where else reason
