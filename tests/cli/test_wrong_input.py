"""Commands whose variables, stored tokens or arguments are wrong."""

import os
from pathlib import Path

import pytest

from tests.api.server import PASSWORD, Served
from tests.cli.conftest import Ran, Run


@pytest.fixture
def command(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command with these arguments and variables. The bytes in them need not be text."""

    def command(*arguments: str | bytes, **variables: str | bytes) -> Ran:
        for name, value in variables.items():
            monkeypatch.setenv(name, os.fsdecode(value))
        return run(*map(os.fsdecode, arguments))

    return command


@pytest.fixture
def chat(command: Run, server: Served) -> Run:
    return lambda *arguments, **variables: command(
        "chat", "--url", server.url, *arguments, **{"CAESURA_TOKEN": server.token()} | variables
    )


def says(ran: Ran, text: str) -> bool:
    """Whether the command succeeded and printed this text. A title may follow."""
    return ran.code == 0 and ran.out.startswith(text)


def fault(ran: Ran) -> str:
    """The one line that says what is wrong."""
    assert ran.code == 1, ran.err
    assert ran.err.startswith("caesura: "), ran.err
    assert ran.err.count("\n") == 1, ran.err
    return ran.err


# --- credentials


@pytest.mark.parametrize("token", ["geheimé", "geheim\n2", b"geheim\xe9", "geheim 2"], ids=repr)
def test_an_invalid_token_is_reported_and_not_shown(chat: Run, token: str | bytes) -> None:
    told = fault(chat("echo x", CAESURA_TOKEN=token))
    assert "CAESURA_TOKEN: this cannot be a token" in told
    assert "geheim" not in told


def test_white_space_around_a_token_does_not_matter(chat: Run, server: Served) -> None:
    assert says(chat("echo x", CAESURA_TOKEN=f" {server.token()}\n"), "x\n")


def test_a_password_that_is_not_text_is_reported_and_not_shown(chat: Run) -> None:
    told = fault(chat("--user", "alice", "echo x", CAESURA_TOKEN="", CAESURA_PASSWORD=b"geheim\xe9"))
    assert "CAESURA_PASSWORD is not UTF-8" in told
    assert "geheim" not in told


def test_a_person_whose_token_cannot_be_stored_is_logged_in(chat: Run) -> None:
    variables = {"CAESURA_TOKEN": "", "CAESURA_PASSWORD": PASSWORD, "XDG_CONFIG_HOME": "/dev/null"}
    ran = chat("--user", "alice", "echo x", **variables)
    assert says(ran, "x\n")
    assert ran.err == "caesura: the token could not be kept: /dev/null/caesura: Not a directory\n"


@pytest.mark.parametrize("content", ['{"%s": []}', '{"%s": {"last": [], "tokens": []}}'])
def test_invalid_stored_tokens_count_as_absent(
    chat: Run, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    path = tmp_path / "config/caesura/tokens.json"
    path.parent.mkdir(parents=True)
    path.write_text(content % server.url)
    told = fault(chat("--user", "alice", "echo x", CAESURA_TOKEN=""))
    assert "a log-in is needed" in told
    assert says(chat("--user", "alice", "echo x", CAESURA_TOKEN="", CAESURA_PASSWORD=PASSWORD), "x\n")
    monkeypatch.delenv("CAESURA_PASSWORD")
    assert says(chat("echo x", CAESURA_TOKEN=""), "x\n")


# --- arguments


@pytest.mark.parametrize(
    ("words", "url"),
    [
        (("chat",), "http://127.0.0.1:99999"),
        (("chat",), "127.0.0.1:8000"),
        (("chat",), "http://["),
        (("events", "turn-x"), "http://"),
        (("events", "turn-x"), "http://a\nb"),
    ],
    ids=str,
)
def test_an_invalid_address_is_reported(command: Run, words: tuple[str, ...], url: str) -> None:
    told = fault(command(*words, "--url", url))
    assert told.endswith(" is not an address such as http://127.0.0.1:8000\n")


def test_a_password_in_an_address_is_not_shown(command: Run) -> None:
    for place in ("127.0.0.1:9", "127.0.0.1:99999"):
        told = fault(command("chat", "--url", f"http://me:ge@heim@{place}"))
        assert "heim" not in told
        assert f"http://***@{place}" in told


@pytest.mark.parametrize("turn", ["a\nb", b"\xe9", "x?y", "../me"], ids=repr)
def test_an_impossible_turn_id_is_reported(command: Run, server: Served, turn: str | bytes) -> None:
    fault(command("events", turn, "--url", server.url, CAESURA_TOKEN=server.token()))
