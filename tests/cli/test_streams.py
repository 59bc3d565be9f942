"""Commands in their own processes, with unusual standard streams and variables."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api.server import Served

Done = subprocess.CompletedProcess[bytes]
#: Runs a command with these redirections, this standard input and these variables.
Shell = Callable[..., Done]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}

    def shell(*arguments: str | bytes, streams: str = "", stdin: bytes = b"", **variables: Any) -> Done:
        return subprocess.run(
            ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-m", "caesura", *arguments],
            env=clean | {"XDG_CONFIG_HOME": str(tmp_path / "config"), **variables},
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            timeout=60,
        )

    return shell


@pytest.fixture
def chat(shell: Shell, server: Served) -> Shell:
    def chat(*arguments: str | bytes, **given: Any) -> Done:
        return shell("chat", "--url", server.url, *arguments, **{"CAESURA_TOKEN": server.token()} | given)

    return chat


def says(done: Done, text: bytes) -> bool:
    """Whether the command succeeded and printed this text. A title may follow."""
    return done.returncode == 0 and done.stdout.startswith(text)


def fault(done: Done, code: int = 1) -> str:
    """The one line that says what is wrong."""
    told = done.stderr.decode()
    assert done.returncode == code, told
    assert told.startswith("caesura: "), told
    assert told.count("\n") == 1, told
    return told


# --- input


def test_a_closed_input_is_reported(chat: Shell) -> None:
    assert "standard input is closed" in fault(chat(streams="<&-"))
    assert says(chat("echo good day", streams="<&-"), b"good day\n")
    assert "standard input is closed" in fault(chat("write a.py: print(1)", streams="<&-"))


def test_a_log_in_with_a_closed_input_says_what_to_set(chat: Shell) -> None:
    assert "say who you are with --user" in fault(chat(streams="<&-", CAESURA_TOKEN=""))
    told = fault(chat("--user", "alice", streams="<&-", CAESURA_TOKEN=""))
    assert "set CAESURA_TOKEN or CAESURA_PASSWORD" in told


@pytest.mark.parametrize("encoding", ["utf-8:strict", "utf-8:surrogateescape", ""])
def test_input_that_is_not_text_is_reported(chat: Shell, encoding: str) -> None:
    done = chat(stdin=b"caf\xe9\n", PYTHONIOENCODING=encoding)
    assert "standard input is not utf-8" in fault(done)


def test_a_message_that_is_not_text_is_reported(chat: Shell) -> None:
    assert "the message is not UTF-8" in fault(chat(b"echo caf\xe9"))


def test_lines_may_end_as_on_other_systems(chat: Shell) -> None:
    assert says(chat(stdin=b"echo good \\\r\nday\r\n"), b"good \nday\n")


# --- output


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_characters_that_cannot_be_shown_are_escaped(chat: Shell, encoding: str) -> None:
    done = chat("list files", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "→ list_files".encode(encoding, "backslashreplace") in done.stdout


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [(("chat", "echo x"), ""), (("chat", "echo x"), "1"), (("--version",), ""), (("--help",), "1")],
    ids=str,
)
def test_a_full_output_is_reported(
    shell: Shell, server: Served, arguments: tuple[str, ...], unbuffered: str
) -> None:
    variables = {"CAESURA_URL": server.url, "CAESURA_TOKEN": server.token(), "PYTHONUNBUFFERED": unbuffered}
    done = shell(*arguments, streams="> /dev/full", **variables)
    assert "standard output: No space left on device" in fault(done)


def test_a_closed_output_is_not_a_fault(chat: Shell, shell: Shell) -> None:
    assert chat("echo x", streams=">&-").returncode == 0
    assert shell("agents", "schema", streams=">&- 2>&-").returncode == 0
    done = shell("serve", "--port", "x", streams="2>&-")
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_reader_that_closes_the_pipe_is_not_an_error(shell: Shell) -> None:
    done = shell("agents", "schema", streams="| head -n 1")
    assert (done.stdout, done.stderr) == (b"{\n", b"")


# --- passwords


def test_a_new_password_that_is_not_text_is_reported_and_not_shown(shell: Shell) -> None:
    for encoding in ("", "utf-8:surrogateescape"):
        done = shell("user", "add", "bob", stdin=b"geheim12\xe9\n", PYTHONIOENCODING=encoding)
        assert "standard input is not utf-8" in fault(done)
        assert b"geheim" not in done.stderr
    assert "CAESURA_PASSWORD is not UTF-8" in fault(
        shell("user", "add", "bob", CAESURA_PASSWORD=b"geheim\xe9")
    )
    assert "standard input is closed" in fault(shell("user", "add", "bob", streams="<&-"))
