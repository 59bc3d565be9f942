"""Sessions: made, listed, counted, deleted; what a page costs."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, event, func, insert, select, text

from caesura.store import schema
from tests.api.reading import until
from tests.api.server import Served
from tests.api.threads.thread import Thread, one, read
from tests.waiting import milliseconds

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def test_a_new_session_is_idle_and_empty(alice: httpx.Client) -> None:
    response = alice.post("/api/sessions")
    assert response.status_code == 201
    made = response.json()
    assert made == {
        "thread_id": made["thread_id"],
        "title": None,
        "created_at": made["created_at"],
        "message_count": 0,
        "status": "idle",
    }
    assert re.fullmatch(r"alice-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made["thread_id"])
    thread = Thread(alice, made["thread_id"])
    assert thread.history() == []
    assert thread.status() == {
        "thread_id": thread.id,
        "status": "idle",
        "has_pending_tasks": False,
        "interrupt_info": None,
        "message_count": 0,
        "running": False,
    }


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b'{"agent": null}', b'{"agent": "recorder"}'])
def test_a_session_needs_no_body(alice: httpx.Client, body: bytes) -> None:
    response = alice.post("/api/sessions", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 201, response.text


def test_a_session_with_an_unknown_agent_is_not_made(alice: httpx.Client) -> None:
    before = alice.get("/api/sessions").json()["total"]
    response = alice.post("/api/sessions", json={"agent": "nobody"})
    assert response.status_code == 404
    assert response.json() == {"detail": "agent not found: nobody"}
    assert alice.get("/api/sessions").json()["total"] == before


def test_times_are_utc_without_a_zone(alice: httpx.Client) -> None:
    made = alice.post("/api/sessions").json()["created_at"]
    assert TIME.fullmatch(made)
    age = datetime.now(UTC) - datetime.fromisoformat(made).replace(tzinfo=UTC)
    assert timedelta(minutes=-5) < age < timedelta(minutes=5)


def test_pages_are_contiguous_and_newest_first(server: Served) -> None:
    with server.client("pager") as client:
        made = [Thread.new(client).id for _ in milliseconds(25)]
        first = client.get("/api/sessions").json()
        assert [item["thread_id"] for item in first["threads"]] == made[:4:-1]
        assert first["total"] == 25
        seen = []
        for page in range(1, 5):
            found = client.get("/api/sessions", params={"page": page, "page_size": 7}).json()
            assert found["total"] == 25
            seen += [item["thread_id"] for item in found["threads"]]
        assert seen == made[::-1]
        beyond = client.get("/api/sessions", params={"page": 5, "page_size": 7}).json()
        assert beyond == {"threads": [], "total": 25}


def test_a_page_is_never_larger_than_the_largest(crowd: httpx.Client) -> None:
    for size in (100, 101, 5000, 10**9):
        assert len(crowd.get("/api/sessions", params={"page_size": size}).json()["threads"]) == 100


@pytest.mark.parametrize("name", ["page", "page_size"])
@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5", "", "1e3", "9" * 30])
def test_the_error_for_an_invalid_page_names_the_parameter(
    alice: httpx.Client, name: str, value: str
) -> None:
    response = alice.get("/api/sessions", params={name: value})
    assert response.status_code == 400
    assert response.json()["detail"].startswith(f"{name}: ")


# --- counting


def test_the_count_is_that_of_the_history_at_every_moment(server: Served) -> None:
    with server.client("counter") as client, server.client("counter") as other:
        thread = Thread.new(client)
        assert counts(thread) == 0
        with thread.chatting("wait 1 seconds") as found:
            assert counts(thread.at(other)) == 1
            read(found, 1)
            list(found)
        assert counts(thread) == 2
        with thread.chatting("count to 5000 delay=0.01") as found:
            read(found, 2)
            assert counts(thread.at(other)) == 4
            thread.at(other).stop()
        assert counts(thread) == 4
        thread.chat("two approvals")
        assert counts(thread) == 6
        thread.resume("continue")
        assert counts(thread) == 9
        thread.chat("ask me 3 questions then write c.txt")
        assert counts(thread) == 11
        thread.resume("answer", ["red", "dog", "now"])
        assert counts(thread) == 13
        thread.resume("cancel")
        assert counts(thread) == 15
        thread.chat("write hello.py delay=0.03")
        assert counts(thread) == 17
        url, body = f"/api/resume/{thread.id}", {"action": "continue"}
        with client.stream("POST", url, json=body):
            until(lambda: counts(thread.at(other)) == 19)
            assert thread.at(other).status()["running"]


def counts(thread: Thread) -> int:
    """The message count, when the status, the history and the list agree on it. What a turn has just
    committed may be in one of them a moment before it is in the others."""
    seen: list[tuple[int, ...]] = []
    for _ in range(20):
        before, found = thread.status()["message_count"], len(thread.history())
        listed, after = thread.listed()["message_count"], thread.status()["message_count"]
        if before == found == listed == after:
            return found
        seen.append((before, found, listed, after))
    raise AssertionError(f"they never agreed: {seen}")


def test_nothing_but_a_question_makes_a_thread_interrupted(server: Served) -> None:
    with server.client("watcher") as client, server.client("watcher") as other:
        thread = Thread.new(client)
        with thread.chatting("write hello.py delay=0.05") as found:
            read(found, 1)
            assert stands(thread.at(other)) == ("idle", True)
            one(list(found), "interrupt")
        assert stands(thread) == ("interrupted", False)
        with client.stream("POST", f"/api/resume/{thread.id}", json={"action": "continue"}):
            assert stands(thread.at(other)) == ("idle", True)
            thread.at(other).stop()
        assert stands(thread) == ("idle", False)
        thread.chat("fail midway")
        assert stands(thread) == ("idle", False)


def stands(thread: Thread) -> tuple[str, bool]:
    status = thread.status()
    assert (status["interrupt_info"] is not None) == (status["status"] == "interrupted")
    assert status["has_pending_tasks"] == (status["status"] == "interrupted")
    assert thread.listed()["status"] == status["status"]
    return status["status"], status["running"]


# --- deleting


def test_a_deleted_session_leaves_nothing_in_any_table(server: Served) -> None:
    with server.client("eraser") as client:
        kept = Thread.new(client)
        kept.chat("echo kept")
        until(lambda: rows(server) == rows(server))
        before = rows(server)
        thread = Thread.new(client)
        thread.chat("ask me one question then write a.txt")
        thread.resume("answer", ["red"])
        thread.resume("continue")
        with thread.chatting("count to 5000 delay=0.005") as found:
            read(found, 5)
            with server.client("eraser") as other:
                assert other.delete(f"/api/sessions/{thread.id}").status_code == 204
        assert rows(server) == before
        assert not (server.settings.data_dir / "workspaces" / thread.id).exists()
        assert client.get("/api/sessions").json()["total"] == 1
        assert kept.history() == [("user", "echo kept"), ("assistant", "kept")]


def test_a_deleted_session_is_gone_for_every_call(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("write hello.py")
    gone = alice.delete(f"/api/sessions/{thread.id}")
    assert (gone.status_code, gone.content) == (204, b"")
    answers = [
        alice.delete(f"/api/sessions/{thread.id}"),
        alice.get(f"/api/status/{thread.id}"),
        alice.get(f"/api/history/{thread.id}"),
        alice.get(f"/api/chat/{thread.id}/stream"),
        alice.post(f"/api/chat/{thread.id}/stop"),
        thread.send("echo x"),
        thread.decide(action="continue"),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert all(answer.json() == {"detail": "thread not found"} for answer in answers)


def rows(server: Served) -> dict[str, int]:
    """How many rows each table has, and the number of events, because their rows are packed later."""
    held = func.coalesce(func.sum(schema.events.c.last - schema.events.c.first + 1), 0)

    def count(connection: Connection) -> dict[str, int]:
        return {
            table.name: connection.execute(
                select(held if table is schema.events else func.count()).select_from(table)
            ).scalar_one()
            for table in schema.metadata.sorted_tables
            if table is not schema.changes  # the feed tells that it was deleted
        }

    return server.call(server.database.read(count))


# --- what a page costs


@pytest.fixture(scope="module")
def crowd(server: Served) -> Iterator[httpx.Client]:
    """Somebody with 10,000 sessions."""
    with server.client("crowd") as client:
        server.call(server.database.write(_fill, "crowd", 10_000))
        yield client


def _fill(connection: Connection, user_id: str, count: int) -> None:
    person = schema.users.c.id == user_id
    connection.execute(schema.users.update().where(person).values(conversation_count=count))
    made = [
        {"id": f"{user_id}-{number}", "user_id": user_id, "agent": "assistant"}
        | {"created_at": 1_700_000_000_000 + number, "updated_at": 1_700_000_000_000 + number}
        for number in range(count)
    ]
    connection.execute(insert(schema.conversations), made)
    connection.execute(text("ANALYZE"))


@contextmanager
def statements(server: Served) -> Iterator[list[str]]:
    """The SQL statements that are executed meanwhile."""
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement != "BEGIN":
            found.append(statement)

    reading = server.database.engines[-1]
    event.listen(reading, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(reading, "before_cursor_execute", note)


def asked_for(server: Served, client: httpx.Client) -> list[str]:
    """The statements of one page, and perhaps some of background work."""
    with statements(server) as found:
        page = client.get("/api/sessions").json()
    assert len(page["threads"]) == min(page["total"], 20)
    return found


def test_a_page_is_one_query_that_touches_no_checkpoint(server: Served, crowd: httpx.Client) -> None:
    with server.client("few") as few:
        Thread.new(few).chat("echo one")
        Thread.new(few).chat("write hello.py")
        asked = set[str]()
        for client in (few, crowd):
            (statement,) = min((asked_for(server, client) for _ in range(5)), key=len)
            asked.add(statement)
    (statement,) = asked
    for table in schema.metadata.tables:
        assert (re.search(rf"\b{table}\b", statement) is not None) == (
            table in ("users", "conversations", "turns")
        )


def test_the_status_and_the_history_touch_no_checkpoint(server: Served, alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("write hello.py")
    with statements(server) as found:
        thread.status()
        thread.history()
    assert not [statement for statement in found if "checkpoint" in statement]
