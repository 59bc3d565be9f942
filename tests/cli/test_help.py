"""Help is quick and complete."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from caesura.cli import commands, flags
from caesura.settings import Settings
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
COMMANDS = [
    *("serve", "chat", "events", "token", "doctor"),
    *("user add", "user list", "user passwd", "agents check", "agents schema", "agents list"),
    *("grants list", "grants revoke", "user disable", "user enable"),
]
HEAVY = ["langgraph", "langchain", "langchain_core", "fastapi", "sqlalchemy", "httpx", "rich"]


def cpu(*command: str) -> float:
    """Seconds of CPU of a process, the best of several runs."""
    return min(_cpu(command) for _ in range(5))


def _cpu(command: tuple[str, ...]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


def test_help_takes_less_than_a_third_of_a_second_of_cpu() -> None:
    assert cpu(sys.executable, "-m", "caesura", "--help") < 0.3


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_imports_nothing_heavy(command: str) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['caesura', *{command.split()!r}, '--help']\n"
        "from caesura.cli import main\n"
        "try:\n    main()\n"
        f"except SystemExit:\n    print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.startswith("Usage: caesura")
    assert ran.stdout.endswith("heavy: []\n")


def test_every_setting_but_the_secret_is_a_flag_of_serve() -> None:
    assert set(inspect.signature(commands.serve).parameters) == set(Settings.model_fields) - flags.SECRET


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], {}),
        (["--port", "0", "--data-dir=a=b", "--port", "1"], {"port": "1", "data_dir": "a=b"}),
        (["--host", ""], {"host": ""}),
        (["--help"], None),
        (["--port"], None),
        (["--port", "--host"], None),
        (["--port", "-1"], None),
        (["--secret", "x"], None),
        (["--no-such-flag", "x"], None),
        (["port", "1"], None),
    ],
)
def test_flags_of_serve_are_read_without_the_library(
    arguments: list[str], found: dict[str, str] | None
) -> None:
    assert flags.read(arguments) == found


def test_serve_does_not_import_the_library_of_the_other_commands() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['caesura', 'serve', '--port', 'x']\n"
        "from caesura.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print('typer' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr[:9]) == ("False\n", "caesura: ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert f"`caesura {command}" in (ROOT / "docs/cli.md").read_text()


def test_the_version_is_printed(run: Run) -> None:
    from caesura import __version__

    assert run("--version").out == f"caesura {__version__}\n"


def test_an_unknown_command_is_refused(run: Run) -> None:
    ran = run("sreve")
    assert ran.code == 2
    assert "serve" in ran.err
