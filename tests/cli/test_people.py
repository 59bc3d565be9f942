"""People, changed directly in the database."""

import asyncio
import os
import sqlite3
from pathlib import Path

import httpx
import pytest

from caesura.store.sqlite import Sqlite
from tests.api.server import SECRET, Served
from tests.cli.conftest import Run

PASSWORD = "correct horse"


def test_people_are_added_and_listed(run: Run) -> None:
    assert run("user", "add", "alice", stdin=f"{PASSWORD}\n").out == "alice was added\n"
    assert run("user", "add", "bob", stdin=PASSWORD).code == 0
    listed = run("user", "list").out.splitlines()
    assert [line.split()[:2] for line in listed] == [["alice", "0"], ["bob", "0"]]
    assert os.stat("data").st_mode & 0o777


def test_a_password_comes_from_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_PASSWORD", PASSWORD)
    assert run("user", "add", "alice").code == 0


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r\nmore\r\n"])
def test_a_password_ends_with_its_line(run: Run, tmp_path: Path, end: str) -> None:
    with Served(tmp_path) as server, server.client(None) as client:
        assert run("user", "add", "alice", stdin=f"{PASSWORD}{end}").code == 0
        assert logs_in(client, PASSWORD)


@pytest.mark.parametrize(
    ("name", "password", "told"),
    [
        ("Alice", PASSWORD, "username must begin with"),
        ("alice", "short", "password must have 8 to 1024 characters"),
        ("alice", "", "password must have"),
        ("taken", PASSWORD, "Username already registered"),
        ("local", PASSWORD, "username must not be 'local'"),
    ],
)
def test_a_person_who_cannot_be_added_is_reported_in_one_line(
    run: Run, name: str, password: str, told: str
) -> None:
    run("user", "add", "taken", stdin=PASSWORD)
    ran = run("user", "add", name, stdin=password)
    assert ran.code == 1
    assert ran.err.startswith(f"caesura: {told}")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        "user list",
        "user passwd alice",
        "user disable alice",
        "user enable alice",
        "user invite",
        "user invites",
        "user revoke x",
        "token alice",
    ],
)
def test_no_database_is_created_where_there_is_none(run: Run, tmp_path: Path, command: str) -> None:
    ran = run(*command.split(), stdin=PASSWORD)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"caesura: there is no database {tmp_path}/data/caesura.db: ")
    assert "--data-dir" in ran.err
    assert "--database-url" in ran.err
    elsewhere = f"sqlite:///{tmp_path}/elsewhere.db"
    told = f"there is no database {tmp_path}/elsewhere.db"
    assert told in run(*command.split(), "--database-url", elsewhere).err
    assert list(tmp_path.iterdir()) == []


def test_no_secret_is_created_for_the_database_of_another_folder(run: Run, tmp_path: Path) -> None:
    elsewhere = ("--database-url", f"sqlite:///{tmp_path}/elsewhere/caesura.db")
    assert run("user", "add", "alice", *elsewhere, stdin=PASSWORD).code == 0
    ran = run("token", "alice", *elsewhere)
    assert ran.code == 2
    assert "there is no secret data/secret: name the server's --data-dir" in ran.err
    assert not (tmp_path / "data").exists()


def test_a_missing_person_gets_neither_a_token_nor_a_password(run: Run) -> None:
    run("user", "add", "alice", stdin=PASSWORD)
    assert run("token", "nobody").err == "caesura: user not found: nobody\n"
    assert run("user", "passwd", "nobody", stdin=PASSWORD).err == "caesura: user not found: nobody\n"


def test_people_can_be_changed_while_a_server_runs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_SECRET", SECRET)
    with Served(tmp_path) as server, server.client(None) as client:
        assert run("user", "add", "alice", stdin=PASSWORD).code == 0
        token = run("token", "alice").out.strip()
        assert me(client, token) == 200
        assert run("user", "passwd", "alice", stdin="another password").code == 0
        assert me(client, token) == 401
        assert logs_in(client, "another password")
        assert not logs_in(client, PASSWORD)
        assert me(client, run("token", "alice").out.strip()) == 200
        assert run("user", "list").out.split()[0] == "alice"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nobody_gets_in_as_a_disabled_person(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("CAESURA_SECRET", SECRET)
    if kind == "postgresql":
        monkeypatch.setenv("CAESURA_DATABASE_URL", request.getfixturevalue("postgres_url"))
    with Served(tmp_path) as server, server.client(None) as client:
        run("user", "add", "alice", stdin=PASSWORD)
        token = run("token", "alice").out.strip()
        told = {"Authorization": f"Bearer {token}"}
        made = client.post("/api/v2/conversations", json={}, headers=told).json()["id"]
        assert "their conversations are kept" in run("user", "disable", "alice").out
        assert me(client, token) == 401
        assert not logs_in(client, PASSWORD)
        assert run("user", "disable", "alice").out == "alice was disabled already\n"
        assert run("user", "list").out.split()[-1] == "disabled"
        assert run("token", "alice").err.startswith("caesura: alice is disabled: ")
        run("user", "passwd", "alice", stdin="another password")
        assert not logs_in(client, "another password")
        assert "can come in as before" in run("user", "enable", "alice").out
        assert run("user", "enable", "alice").out == "alice was not disabled\n"
        assert me(client, token) == 401
        assert logs_in(client, "another password")
        told = {"Authorization": f"Bearer {run('token', 'alice').out.strip()}"}
        assert client.get(f"/api/v2/conversations/{made}", headers=told).status_code == 200
    assert run("user", "disable", "nobody").err == "caesura: user not found: nobody\n"
    assert run("user", "enable", "nobody").err == "caesura: user not found: nobody\n"
    assert "without log-in" in run("user", "disable", "local").err


def test_an_enabled_person_needs_a_new_token(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same password: its hash is the same as before."""
    monkeypatch.setenv("CAESURA_SECRET", SECRET)
    with Served(tmp_path) as server, server.client(None) as client:
        run("user", "add", "alice", stdin=PASSWORD)
        token = run("token", "alice").out.strip()
        assert me(client, token) == 200
        run("user", "disable", "alice")
        run("user", "enable", "alice")
        assert me(client, token) == 401
        assert logs_in(client, PASSWORD)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_people_can_be_invited_while_a_server_runs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("CAESURA_SECRET", SECRET)
    if kind == "postgresql":
        monkeypatch.setenv("CAESURA_DATABASE_URL", request.getfixturevalue("postgres_url"))
    with Served(tmp_path, registration="invite") as server, server.client(None) as client:
        codes = [run("user", "invite", *days).out.strip() for days in ((), ("--days", "1"))]
        listed = run("user", "invites").out.splitlines()
        assert {line.split()[0] for line in listed} == {code[:8] for code in codes}
        assert run("user", "revoke", codes[0]).code == 0
        assert run("user", "revoke", codes[0]).err == f"caesura: invite not found: {codes[0][:8]}\n"
        body = {"username": "alice", "password": PASSWORD}
        made = [client.post("/api/auth/register", json={**body, "invite": code}) for code in codes]
        assert [response.status_code for response in made] == [403, 201]
        assert run("user", "invites").out == ""
        assert run("user", "add", "bob", stdin=PASSWORD).code == 0


def test_an_invite_is_for_a_year_at_most(run: Run) -> None:
    run("user", "add", "alice", stdin=PASSWORD)
    for days in ("0", "366", "x"):
        assert run("user", "invite", "--days", days).code == 2


def test_the_database_of_another_version_is_not_changed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "data/caesura.db"
    owner = Sqlite(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    connection.close()
    ran = run("user", "list")
    asyncio.run(owner.close())
    assert ran.code == 2
    assert "another schema than this Caesura: stop its server first" in ran.err


def me(client: httpx.Client, token: str) -> int:
    return client.get("/api/v2/me", headers={"Authorization": f"Bearer {token}"}).status_code


def logs_in(client: httpx.Client, password: str) -> bool:
    body = {"username": "alice", "password": password}
    return client.post("/api/auth/login", json=body).status_code == 200
