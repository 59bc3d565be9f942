"""Help is quick and complete."""

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from caesura.cli import commands, flags
from caesura.settings import Settings
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/cli.md").read_text()
TABLE = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `caesura "))
HEAVY = ["langgraph", "langchain", "langchain_core", "fastapi", "sqlalchemy", "httpx", "rich"]


def names(group: typer.Typer, before: str = "") -> Iterator[str]:
    """The commands, also hidden ones, with the names of their groups."""
    for command in group.registered_commands:
        called = command.name or getattr(command.callback, "__name__", "")
        yield f"{before}{called}"
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from names(inner.typer_instance, f"{before}{inner.name} ")


COMMANDS = sorted(names(commands.app))


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


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from caesura.cli import main\n"
        f"for command in {['', *COMMANDS]!r}:\n"
        "    sys.argv = ['caesura', *command.split(), '--help']\n"
        "    try:\n        main()\n"
        "    except SystemExit:\n"
        f"        print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    helped = [line for line in ran.stdout.splitlines() if line.startswith(("Usage: caesura", "heavy:"))]
    assert len(helped) == 2 * len(["", *COMMANDS])
    assert set(helped[1::2]) == {"heavy: []"}


def test_every_setting_but_the_secret_is_a_flag_of_serve() -> None:
    known = set(inspect.signature(commands.serve).parameters)
    assert known - {"reload"} == set(Settings.model_fields) - flags.SECRET


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
def test_every_command_is_in_the_table_of_the_page(command: str) -> None:
    assert re.search(rf"`caesura {command}[ `]", TABLE)


def test_every_command_in_the_table_of_the_page_exists() -> None:
    for told in re.findall(r"`caesura ([a-z ]+)", TABLE):
        assert told.strip() in COMMANDS


def test_the_version_is_printed(run: Run) -> None:
    from caesura import __version__

    assert run("--version").out == f"caesura {__version__}\n"


def test_an_unknown_command_is_refused(run: Run) -> None:
    ran = run("sreve")
    assert ran.code == 2
    assert "serve" in ran.err
