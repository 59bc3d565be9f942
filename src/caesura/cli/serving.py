"""Serving: checks the settings before it imports anything heavy."""

from __future__ import annotations

import errno
import gc
import logging
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import caesura
from caesura.cli.late_models import built_late
from caesura.core.errors import StartupError
from caesura.settings import Settings, as_given

logger = logging.getLogger(__name__)
_USUAL = "http://127.0.0.1:8000"


def serve(flags: Mapping[str, Any]) -> None:
    given = [name for name, value in flags.items() if value is not None]
    settings = Settings.load(**flags)
    gc.disable()  # imported modules stay in memory: collecting garbage now would only cost time
    with built_late():
        from caesura import app

    try:
        app.serve(settings, partial(_greet, settings))
    except StartupError as error:
        raise StartupError(f"{as_given(error.message, given)}{_remedy(error)}") from error


def serve_anew(flags: Mapping[str, Any]) -> None:
    """Serve in a process that is replaced when a Python file in the agents folder changes. A restart loses
    nothing."""
    settings = Settings.load(**flags)
    if settings.agents_dir is None:
        raise StartupError("--reload watches the agents folder: name it with --agents-dir")
    from uvicorn import Config
    from uvicorn.supervisors.statreload import StatReload

    from caesura.http import logs

    logs.configure(settings.log_level, settings.log_format)
    watched = Config("caesura", reload=True, reload_dirs=str(settings.agents_dir), log_config=None)
    StatReload(watched, _serve_once, []).run()


def _serve_once(sockets: Any) -> None:
    """The same command in a new process."""
    from caesura.cli import main

    sys.argv.remove("--reload")
    main()


def _remedy(error: StartupError) -> str:
    """What to do when another program has the port or the database."""
    match getattr(error.__cause__, "errno", None):
        case errno.EADDRINUSE:
            return ": choose another --port"
        case errno.EWOULDBLOCK:
            return ": stop it, or use another --data-dir"
        case _:
            return ""


def _greet(settings: Settings, address: str) -> None:
    """Tell the address and the model: a person at a terminal with what to try, others in the log, whose
    lines programs read."""
    from caesura.agents.model_names import DEMO, default_model
    from caesura.cli.guesses import guess
    from caesura.cli.variables import unread

    found = default_model(os.environ, settings.model)
    doubt = guess(settings, found, _program())
    place = f"{address}{settings.root_path}"
    told = f"Caesura {caesura.__version__} is at {place}, model: {'demo (no AI)' if found == DEMO else found}"
    for line in unread(os.environ, settings.agents_dir):
        logger.warning("%s", line)
    if sys.stderr.isatty():
        return _print(settings, place, f"{told}\n  {doubt}" if doubt else told)
    logger.info("%s", told)
    if doubt:
        logger.warning("model: %s", doubt)
    if registration := _registration(settings):
        logger.info("%s", registration)
    return None


def _print(settings: Settings, address: str, told: str) -> None:
    from caesura.cli.address import reachable

    near = reachable(address)
    url = f" --url {near}" if near != _USUAL else ""
    who = _registration(settings)
    registration = f"{who}\n" if who else ""
    print(
        f"{told}\n"
        f"  {near}/docs\n"
        "      every route, to try out\n"
        f"  {_program()} chat{url}\n"
        "      in another terminal: say `count to 20`, `write hello.py` or `ask me 3 questions`\n"
        f"{registration}"
        "Ctrl-C ends it. Unfinished answers continue after the next start.",
        file=sys.stderr,
        flush=True,
    )


def _registration(settings: Settings) -> str:
    if settings.auth == "none":
        return ""
    where = _database(settings)
    sentences = {
        "open": "Whoever reaches this address may register.",
        "invite": f"To register, people need a code: `{_program()} user invite{where}` prints one.",
        "closed": f"Nobody can register: `{_program()} user add{where} NAME` adds a person.",
    }
    return sentences[settings.registers]


def _database(settings: Settings) -> str:
    """The flag that makes another command use this server's database. A URL may contain a password."""
    if settings.database_url:
        return " --database-url …"
    return f" --data-dir {shlex.quote(str(settings.data_dir))}" if str(settings.data_dir) != "data" else ""


def _program() -> str:
    """How to call this program from the current folder."""
    if shutil.which("caesura") is not None or not sys.argv[0].endswith("caesura"):
        return "caesura"
    # In a container the current folder is the root, and the person is elsewhere.
    return sys.argv[0] if os.getcwd() == "/" else os.path.relpath(sys.argv[0])
