"""Grants, listed and revoked from the command line."""

import pytest

from tests.api.server import Served
from tests.cli.conftest import Run


@pytest.fixture
def granted(run: Run, server: Served, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line of a person whose newest conversation always allows `write_file`."""
    monkeypatch.setenv("CAESURA_URL", server.url)
    monkeypatch.setenv("CAESURA_TOKEN", server.token("granter"))
    assert run("chat", stdin="write a.py: print(1)\na\n").code == 0
    return run


def test_a_grant_is_listed_and_revoked(granted: Run) -> None:
    assert granted("grants", "list").out.split()[0] == "write_file"
    assert granted("grants", "revoke", "write_file").out == "write_file is asked for again\n"
    ran = granted("grants", "list")
    assert ran == (0, "", "no tool is always allowed in this conversation\n")
    ran = granted("grants", "revoke", "write_file")
    assert (ran.code, ran.err) == (1, "caesura: write_file is not always allowed in this conversation\n")
    assert "(it waits for an answer)" in granted("chat", "--continue", stdin="write b.py: print(2)\n").out


def test_a_conversation_may_be_named(granted: Run, server: Served) -> None:
    with server.client("granter") as client:
        newest = client.get("/api/v2/conversations").json()["conversations"][0]["id"]
    granted("chat", "echo another conversation")
    assert granted("grants", "list").out == ""
    assert granted("grants", "list", "--conversation", newest).out.startswith("write_file")
    assert granted("grants", "list", "--conversation", "nonsense").err == "caesura: conversation not found\n"
    told = granted("grants", "list", "--conversation", "no id").err
    assert told == "caesura: conversation_id: this does not have the expected form\n"


def test_without_a_conversation_there_is_nothing_to_list(
    run: Run, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_TOKEN", server.token("newcomer"))
    ran = run("grants", "list", "--url", server.url)
    assert (ran.code, ran.err) == (1, "caesura: there is no conversation yet\n")


def test_a_grant_is_listed_and_revoked_in_the_chat(granted: Run) -> None:
    lines = ["/grants", "/revoke write_file", "/revoke write_file", "/grants", "write b.py: print(2)", "n"]
    out = granted("chat", "--continue", stdin="\n".join([*lines, "/new", "/grants", "/revoke x", ""])).out
    told = [line.strip() for line in out.splitlines()]
    listed = next(place for place, line in enumerate(told) if line.startswith("write_file  "))
    assert told[listed + 1 : listed + 4] == [
        "write_file is asked for again.",
        "write_file is not always allowed in this conversation",
        "No tool is always allowed here.",
    ]
    assert any(line.startswith("✗ write_file") for line in told)
    assert told[-3:] == ["No tool is always allowed here.", "Nothing was said yet.", ""]
