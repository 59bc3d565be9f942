"""The command line. What a command needs is imported when it runs: `--help` must not wait for all of it."""

from __future__ import annotations

import sys

from caesura.core.errors import CaesuraError, StartupError


def main() -> None:
    """Faults end in one line: exit code 2 for what is wrong with settings, 1 for everything else."""
    from caesura.cli.commands import app

    try:
        app(prog_name="caesura")
    except CaesuraError as error:
        print(f"caesura: {error.message}", file=sys.stderr)
        sys.exit(2 if isinstance(error, StartupError) else 1)
