"""People and their usage, as an admin sees them."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from caesura.client import Client, ClientError
from tests.api.reading import events, finished, outcome
from tests.api.server import Served


@pytest.fixture
def admin(server: Served) -> Iterator[httpx.Client]:
    with server.client("root") as client:
        server.call(server.context.service.people.set_role("root", "admin"))
        yield client


def seen(client: httpx.Client, name: str) -> dict[str, Any]:
    people = client.get("/api/v2/people", params={"limit": 100}).json()["people"]
    return next(item for item in people if item["id"] == name)


def test_an_admin_sees_what_people_use_and_nothing_that_they_say(
    server: Served, admin: httpx.Client, alice: httpx.Client
) -> None:
    turn = finished(alice, "echo a secret word")
    gone = finished(alice, "echo another")
    found = seen(admin, "alice")
    assert found["conversations"] == 2
    assert found["turns"] == 2
    assert found["stored_bytes"] > 100
    assert found["role"] == "member"
    assert found["disabled"] is False
    assert isinstance(found["active_at"], int)
    assert "secret" not in admin.get("/api/v2/people").text
    place = turn["conversation_id"]
    for path in (f"/api/v2/conversations/{place}", f"/api/v2/turns/{turn['id']}", f"/api/v1/chat/{place}"):
        assert admin.get(path).status_code == 404
    assert alice.delete(f"/api/v2/conversations/{gone['conversation_id']}").status_code == 204
    later = seen(admin, "alice")
    assert (later["conversations"], later["turns"]) == (1, 2)


def test_only_an_admin_may(server: Served, admin: httpx.Client, bob: httpx.Client) -> None:
    refused = bob.get("/api/v2/people")
    assert (refused.status_code, refused.headers["x-error-code"]) == (403, "forbidden")
    people = server.context.service.people
    server.call(people.set_role("bob", "admin"))
    assert bob.get("/api/v2/people").status_code == 200
    server.call(people.set_role("bob", "member"))
    assert bob.get("/api/v2/people").status_code == 403


def test_pages_hold_everybody_once(server: Served, admin: httpx.Client) -> None:
    for name in ("p1", "p2", "p3", "p4"):
        server.token(name)
    names: list[str] = []
    cursor: str | None = None
    while True:
        page = admin.get(
            "/api/v2/people", params={"limit": 2} | ({"cursor": cursor} if cursor else {})
        ).json()
        names += [item["id"] for item in page["people"]]
        if (cursor := page["next"]) is None:
            break
        assert len(page["people"]) == 2
    assert names == sorted(set(names))
    assert {"p1", "p2", "p3", "p4", "root"} <= set(names)
    assert admin.get("/api/v2/people", params={"limit": 0}).status_code == 422
    assert admin.get("/api/v2/people", params={"cursor": "x"}).status_code == 400
    assert admin.get("/api/v2/people", params={"limit": 10**6}).status_code == 200


async def test_the_client_lists_them(server: Served, admin: httpx.Client) -> None:
    async with Client(server.url, server.token("root")) as client:
        found = [person.id async for person in client.people()]
        assert "root" in found
    async with Client(server.url, server.token("bob")) as client:
        with pytest.raises(ClientError, match="only an admin"):
            await anext(client.people())


async def test_a_disabled_person_is_listed_as_such(server: Served, admin: httpx.Client) -> None:
    server.token("dis")
    server.call(server.context.service.people.disable("dis"))
    assert seen(admin, "dis")["disabled"] is True


def test_the_tokens_of_a_turn_are_counted_once_however_many_segments_it_has(
    server: Served, admin: httpx.Client
) -> None:
    with server.client("tok") as client:
        turn = finished(client, "write hello.py: print(1)")
        (asked,) = client.get("/api/v2/interrupts").json()["interrupts"]
        before = seen(admin, "tok")
        assert before["input_tokens"] == used(client, turn)["input_tokens"] > 0
        client.post(f"/api/v2/interrupts/{asked['id']}/answer", json={"decision": "approve"})
        assert outcome(events(client, turn["id"])).name == "finished"
        total = used(client, turn)
        after = seen(admin, "tok")
        for name in ("input_tokens", "output_tokens"):
            assert after[name] == total[name]
        assert after["input_tokens"] != before["input_tokens"]
        client.delete(f"/api/v2/conversations/{turn['conversation_id']}")
        left = seen(admin, "tok")
        assert left["input_tokens"] == total["input_tokens"]
        assert (left["turns"], left["conversations"], left["stored_bytes"]) == (1, 0, 0)


def used(client: httpx.Client, turn: dict[str, str]) -> dict[str, int]:
    (shown,) = client.get(f"/api/v2/conversations/{turn['conversation_id']}").json()["turns"]
    found: dict[str, int] = shown["usage"]
    return found
