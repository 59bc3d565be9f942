"""The command line. Each command imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Any, NoReturn

from caesura.cli import streams
from caesura.core import shown
from caesura.core.errors import CaesuraError, StartupError

#: Errors about a file carry its name, and the database has errors of its own. These are left for standard
#: output.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> None:
    """Faults end in one line: exit code 2 for wrong settings and wrong usage, 1 for everything else. An error
    of the operating system or of an encoding is a fault. Any other error is a bug of this program, and its
    traceback is shown."""
    streams.prepare()
    try:
        try:
            code = _run(sys.argv[1:])
        finally:
            sys.stdout.flush()  # write errors are reported here, not by Python at exit
        sys.exit(code or 0)
    except KeyboardInterrupt:
        sys.exit(130)
    except CaesuraError as error:
        _end(error.message, 2 if isinstance(error, StartupError) else 1)
    except OSError as error:
        _end(_reason(error))
    except UnicodeError as error:
        _end(f"this text cannot be read or written here: {error}")


def _run(arguments: list[str]) -> int | None:
    if arguments[:1] == ["serve"]:
        # Pydantic asks every installed package for plugins, which takes some of the start. A plugin may
        # send what is said to a third party.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from caesura.cli import flags, serving

        found = flags.read(arguments[1:])
        if found is not None:
            serving.serve(found)
            return None
    return _command()


def _command() -> int | None:
    from typer import Abort, TyperException

    from caesura.cli.commands import app

    try:
        code: int | None = app(prog_name="caesura", standalone_mode=False)
    except Abort:
        _end("the input ended too early")
    except TyperException as error:
        _refuse(error)
    return code


def _end(message: str, code: int = 1) -> NoReturn:
    """Print the message on one line, without anything that moves the cursor, and exit."""
    line = shown.line(" ".join(message.split()))
    if line:
        with suppress(OSError):
            print(f"caesura: {line}", file=sys.stderr)
    sys.exit(code)


def _refuse(error: Any) -> NoReturn:
    """Report wrong usage in one line. A command that is called without its arguments shows its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        sys.exit(error.exit_code)
    command = error.ctx.command_path if error.ctx is not None else "caesura"
    _end(f"{error.format_message().rstrip('.')}: see `{command} --help`", error.exit_code)


def _reason(error: OSError) -> str:
    """The reason of an error. Empty if a reader such as `head` has closed the pipe."""
    streams.discard_output()
    if isinstance(error, BrokenPipeError):
        return ""
    where = error.filename or (error.errno in _NO_ROOM and "standard output")
    reason = error.strerror or str(error) or type(error).__name__
    return f"{where}: {reason}" if where else reason
