"""Removing people while a server runs: what becomes of their conversations, files and runs."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from caesura.core.permits import Permit
from caesura.store import conversations, grants, turns
from tests.api.feeds import Feed
from tests.api.reading import conversation, finished, follow, send
from tests.api.server import PASSWORD, SECRET, Served
from tests.cli.conftest import Run
from tests.cli.terminals import Terminals


@pytest.fixture(params=["sqlite", "postgresql"])
def server(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Served]:
    monkeypatch.setenv("CAESURA_SECRET", SECRET)
    if request.param == "postgresql":
        monkeypatch.setenv("CAESURA_DATABASE_URL", request.getfixturevalue("postgres_url"))
    with Served(tmp_path, lease=1.0, delay=0.05) as server:
        yield server


def until(holds: Callable[[], bool]) -> None:
    latest = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < latest
        time.sleep(0.05)


def test_a_removed_person_leaves_nothing_and_the_name_is_a_new_persons(
    server: Served, run: Run, tmp_path: Path
) -> None:
    with server.client("bob") as bob, server.client(None) as nobody:
        asked = finished(bob, "write hello.py: print(1)")
        folder = tmp_path / "data/workspaces" / asked["conversation_id"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kept.txt").write_text("x")
        going = send(bob, conversation(bob), "count to 500")
        next(follow(bob, going["id"]))
        ran = run("user", "remove", "bob", "--conversations", "delete", "--yes")
        assert (ran.code, ran.out) == (0, "bob was removed\n")
        assert "bob has 2 conversations: they will be deleted for good" in ran.err
        assert "2 turns under way will be stopped." in ran.err
        assert not folder.exists()
        assert bob.get("/api/v2/me").status_code == 401
        until(lambda: server.context.service.running == 0)
        assert run("user", "list").out == ""
        new = {"username": "bob", "password": PASSWORD}
        assert nobody.post("/api/auth/register", json=new).status_code == 201
        assert bob.get("/api/v2/me").status_code == 401
    with server.client("bob") as newcomer:
        assert newcomer.get("/api/v2/conversations").json() == {"conversations": [], "total": 0, "next": None}
        assert newcomer.get("/api/v2/interrupts").json()["interrupts"] == []
        assert newcomer.get(f"/api/v2/turns/{going['id']}").status_code == 404
        assert newcomer.get(f"/api/v2/conversations/{asked['conversation_id']}").status_code == 404


def test_an_open_feed_of_a_removed_person_tells_nothing_of_who_gets_the_name(
    server: Served, run: Run
) -> None:
    with server.client(None) as nobody, Feed(lambda: server.client("bob")) as feed:
        assert run("user", "remove", "bob", "--yes").code == 0
        new = {"username": "bob", "password": PASSWORD}
        assert nobody.post("/api/auth/register", json=new).status_code == 201
        with server.client("bob") as newcomer:
            conversation(newcomer)
            until(lambda: feed.ended)
    assert feed.names() == ["ready"]


def test_conversations_can_be_given_to_somebody_else(server: Served, run: Run, tmp_path: Path) -> None:
    session = {"agent_id": "assistant", "session_id": "same"}
    with server.client("bob") as bob, server.client("alice") as alice:
        for client in (bob, alice):
            client.post("/api/v1/chat/stream", json={**session, "message": "echo in a session"})
        said = finished(bob, "echo kept words")
        num = server.call(server.database.read(turns.get, said["id"])).num
        server.call(
            server.database.write(grants.add, num, str(Permit("assistant", "built-in", "write_file")))
        )
        asked = finished(bob, "write hello.py: print(1)")
        folder = tmp_path / "data/workspaces" / said["conversation_id"]
        folder.mkdir(parents=True, exist_ok=True)
        going = send(bob, conversation(bob), "count to 500")
        next(follow(bob, going["id"]))
        ran = run("user", "remove", "bob", "--conversations", "give=alice", "--yes")
        assert "bob has 4 conversations: they will be given to alice." in ran.err
        assert ran.code == 0
        until(lambda: alice.get(f"/api/v2/turns/{going['id']}").json()["status"] == "stopped")
        until(lambda: alice.get(f"/api/v2/turns/{asked['id']}").json()["status"] == "stopped")
        until(lambda: server.context.service.running == 0)
        assert alice.get("/api/v2/interrupts").json()["interrupts"] == []
        assert alice.get("/api/v2/conversations").json()["total"] == 5
        kept = alice.get(f"/api/v2/conversations/{said['conversation_id']}")
        assert "kept words" in kept.text
        assert folder.exists()
        again = send(alice, said["conversation_id"], "echo more")
        assert list(follow(alice, again["id"]))[-1].name == "segment_ended"
        assert alice.get(f"/api/v2/conversations/{said['conversation_id']}/grants").json() == {"grants": []}
        assert alice.delete(f"/api/v2/conversations/{going['conversation_id']}").status_code == 204
    assert server.call(server.database.read(conversations.of_person, "bob")) == []


def test_nothing_is_removed_that_was_not_chosen(server: Served, run: Run) -> None:
    with server.client("bob") as bob:
        conversation(bob)
        server.token("empty")
        for flags, told in {
            (): "bob has 1 conversation: say --conversations delete, or --conversations give=NAME",
            ("--conversations", "keep"): "--conversations must be delete or give=NAME, not keep",
            ("--conversations", "give="): "--conversations must be delete or give=NAME",
            ("--conversations", "give=nobody", "--yes"): "user not found: nobody",
            ("--conversations", "give=bob", "--yes"): "bob cannot get their own conversations",
        }.items():
            ran = run("user", "remove", "bob", *flags)
            assert ran.code == 1
            assert ran.err.startswith(f"caesura: {told}")  # and nothing was announced
        ran = run("user", "remove", "bob", "--conversations", "delete")
        assert (ran.code, ran.err.splitlines()) == (
            1,
            [
                "bob has 1 conversation: it will be deleted for good, with documents and files.",
                "caesura: nothing was changed, because nobody can be asked here: say --yes",
            ],
        )
        assert bob.get("/api/v2/conversations").json()["total"] == 1
    assert run("user", "remove", "empty", "--yes") == (
        0,
        "empty was removed\n",
        "empty has 0 conversations.\n",
    )
    assert run("user", "remove", "empty", "--yes").err == "caesura: user not found: empty\n"
    assert "cannot be removed" in run("user", "remove", "local", "--yes").err


def test_nothing_is_given_to_somebody_who_is_disabled(server: Served, run: Run) -> None:
    """They may be about to be removed."""
    for name in ("giver", "heir"):
        with server.client(name) as client:
            kept = conversation(client) if name == "giver" else ""
    run("user", "disable", "heir")
    ran = run("user", "remove", "giver", "--conversations", "give=heir", "--yes")
    assert (ran.code, "heir is disabled" in ran.err) == (1, True)
    with server.client("giver") as client:
        assert kept in client.get("/api/v2/conversations").text


def test_at_a_terminal_the_operator_is_asked(tmp_path: Path) -> None:
    arguments = ["user", "remove", "bob", "--conversations", "delete"]
    with Terminals() as terminals, Served(tmp_path) as server, server.client("bob") as bob:
        conversation(bob)
        for answer, status in (("n", 200), ("y", 401)):
            child = terminals.open(arguments, dict(os.environ), tmp_path)
            child.expect_exact(
                "bob has 1 conversation: it will be deleted for good, with documents and files."
            )
            child.expect_exact("remove bob? [y/N] ")
            child.sendline(answer)
            child.expect_exact("nothing was changed" if answer == "n" else "bob was removed")
            child.close()
            assert bob.get("/api/v2/me").status_code == status


def test_roles_are_given_and_taken(server: Served, run: Run) -> None:
    with server.client("alice") as alice:
        assert alice.get("/api/v2/people").status_code == 403
        assert run("user", "role", "alice", "admin").out == "alice may list people and their usage\n"
        assert alice.get("/api/v2/people").status_code == 200
        assert run("user", "list").out.split()[-1] == "admin"
        assert run("user", "role", "alice", "member").code == 0
        assert alice.get("/api/v2/people").status_code == 403
    assert run("user", "role", "alice", "king").code == 2
    assert run("user", "role", "nobody", "admin").err == "caesura: user not found: nobody\n"
