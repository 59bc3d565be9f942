"""Authorization: every route of the OpenAPI document, requested by everyone who must be refused.

A new route fails here until the table says what to send to it.
"""

import time
from typing import Any, NamedTuple

import httpx
import jwt
import pytest

from caesura.core.permits import Permit
from caesura.dialects.artifactflow import names
from caesura.dialects.threads import thread_ids
from caesura.store import grants, turns, users
from tests.api.feeds import FEED
from tests.api.openapi import document
from tests.api.reading import conversation, finished
from tests.api.server import SECRET, Served

#: Routes that anyone may use.
PUBLIC = {
    ("post", "/api/auth/register"),
    ("post", "/api/auth/login"),
    ("get", "/api/auth/options"),
    ("post", "/api/auth/session"),
    ("get", "/health"),
    ("get", "/ready"),
    ("get", "/metrics"),
}
#: The session of API C in which a question waits for Alice.
SESSION = {"agent_id": "approval-agent", "session_id": "the session"}
#: Routes about the session of the cookie: a token is not accepted.
BY_COOKIE = {("get", "/api/auth/session"), ("delete", "/api/auth/session")}
#: Routes for admins: others are refused, whatever they ask for.
FOR_ADMINS = {("get", "/api/v2/people")}
#: A valid body for each route that takes one; names in braces are replaced as in a path.
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/api/v2/stream-ticket"): {"stream": "/api/v2/turns/x/events"},
    ("post", "/api/v2/conversations"): {},
    ("patch", "/api/v2/conversations/{conversation_id}"): {"title": "mine now"},
    ("post", "/api/v2/conversations/{conversation_id}/branch"): {"turn_id": "{turn_id}"},
    ("put", "/api/v2/conversations/{conversation_id}/read"): {"turn_id": "{turn_id}", "cursor": 1},
    ("post", "/api/v2/conversations/{conversation_id}/turns"): {"content": "echo x", "supersede": True},
    ("post", "/api/v2/conversations/{conversation_id}/artifacts"): {
        "id": "other",
        "title": "x",
        "content_type": "text",
        "content": "x",
    },
    ("post", "/api/v2/conversations/{conversation_id}/artifacts/{artifact_id}/versions"): {"content": "y"},
    ("put", "/api/v2/conversations/{conversation_id}/files/{path}"): {"any": "bytes"},
    ("post", "/api/v2/interrupts/{interrupt_id}/answer"): {"decision": "approve"},
    ("post", "/api/v2/turns/{turn_id}/answers"): {"answers": {"{interrupt_id}": {"decision": "approve"}}},
    ("post", "/api/sessions"): {},
    ("post", "/api/chat/{thread_id}"): {"message": "echo x", "supersede": True},
    ("post", "/api/resume/{thread_id}"): {"action": "continue"},
    ("post", "/api/v1/chat"): {"content": "echo x"},
    ("post", "/api/v1/chat/{conv_id}/resume"): {
        "thread_id": "{run_id}",
        "message_id": "{message_id}",
        "approved": True,
    },
    ("post", "/api/v1/chat/{conv_id}/cancel"): {"message_id": "{message_id}"},
    ("post", "/api/v1/chat/stream"): {**SESSION, "message": "echo x", "supersede": True},
    ("post", "/api/v1/chat/resume"): {**SESSION, "input": {"confirm": True}},
    ("post", "/api/v1/chat/abort"): SESSION,
}
#: The query of each route of API C that needs one.
QUERIES: dict[tuple[str, str], dict[str, str]] = {
    ("get", "/api/v1/chat/stream"): SESSION,
    ("get", "/api/v1/chat/interrupt_state"): SESSION,
}
#: In API C everybody has sessions of their own, whatever they are called.
NAMELESS = {("post", "/api/v1/chat/resume")}
ROUTES = [
    (method, path)
    for path, operations in document()["paths"].items()
    for method in operations
    if (method, path) not in PUBLIC
]
OWNED = [route for route in ROUTES if "{" in route[1]]
OTHERS = ["bob", "alice-b", "alice.b", "alic"]


class Owned(NamedTuple):
    """Alice's resources, by the name of the path parameter."""

    conversation_id: str
    turn_id: str
    interrupt_id: str
    thread_id: str
    #: In API B the conversation, and the run and the message of the turn.
    conv_id: str
    run_id: str
    message_id: str
    session_id: str
    tool: str = "write_file"
    artifact_id: str = "plan"
    path: str = "notes.txt"
    number: str = "1"

    @property
    def ids(self) -> tuple[str, ...]:
        return self[:-1]


@pytest.fixture(scope="module")
def owned(server: Served) -> Owned:
    with server.client("alice") as client:
        turn = finished(client, "write hello.py: print(1)")
        (asked,) = client.get("/api/v2/interrupts").json()["interrupts"]
        client.post("/api/v1/chat/stream", json={**SESSION, "message": "delete the old rows"})
        num = server.call(server.database.read(turns.get, turn["id"])).num
        server.call(
            server.database.write(grants.add, num, str(Permit("assistant", "built-in", "write_file")))
        )
        place, artifacts = turn["conversation_id"], server.context.service.artifacts
        server.call(artifacts.create("alice", place, "plan", "A plan", "text", "secret"))
        client.put(f"/api/v2/conversations/{place}/files/notes.txt", content=b"secret").raise_for_status()
        thread = server.call(
            server.context.service.conversations.create("alice", None, thread_ids.make("alice"))
        )
        return owned_by(turn["conversation_id"], turn["id"], asked["id"], thread.id)


def owned_by(conversation_id: str, turn_id: str, interrupt_id: str, thread_id: str) -> Owned:
    in_b = names.conversation(conversation_id), names.thread(turn_id), names.message(turn_id)
    session_id = names.session(conversation_id)
    return Owned(conversation_id, turn_id, interrupt_id, thread_id, *in_b, session_id)


@pytest.fixture(scope="module")
def deleted(server: Served) -> str:
    token = server.token("gone")
    server.call(server.database.write(users.remove, "gone"))
    time.sleep(1.1)
    return token


def ask(
    client: httpx.Client, route: tuple[str, str], owned: Owned, headers: dict[str, str]
) -> httpx.Response:
    method, path = route
    body = filled(BODIES[route], owned) if route in BODIES else None
    given = owned._asdict()
    if path.startswith("/api/v1/stream/"):  # here a thread is a run
        given["thread_id"] = owned.run_id
    if path == FEED:
        return _begun(client, headers)
    query = QUERIES.get(route)
    return client.request(method, path.format(**given), json=body, headers=headers, params=query)


def _begun(client: httpx.Client, headers: dict[str, str]) -> httpx.Response:
    """The beginning of the feed, which does not end."""
    with client.stream("GET", FEED, headers=headers) as response:
        content = next(response.iter_bytes()) if response.status_code == 200 else response.read()
        return httpx.Response(response.status_code, headers=response.headers, content=content)


def filled(value: Any, owned: Owned) -> Any:
    if isinstance(value, dict):
        return {filled(key, owned): filled(item, owned) for key, item in value.items()}
    return value.format(**owned._asdict()) if isinstance(value, str) else value


def forged(**changes: Any) -> dict[str, str]:
    now = int(time.time())
    claims = {
        "iss": "caesura",
        "aud": "caesura:access",
        "sub": "alice",
        "iat": now,
        "exp": now + 600,
        "stamp": "x",
    }
    key, algorithm = changes.pop("key", SECRET), changes.pop("algorithm", "HS256")
    given = {name: value for name, value in (claims | changes).items() if value is not None}
    return {"Authorization": f"Bearer {jwt.encode(given, key, algorithm)}"}


def test_every_route_is_in_the_table() -> None:
    with_body = {
        (method, path)
        for path, operations in document()["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }
    assert with_body - PUBLIC == set(BODIES)
    for _, path in ROUTES:
        path.format(**dict.fromkeys(Owned._fields, "x"))


def test_every_route_that_is_not_public_is_documented_as_locked() -> None:
    for method, path in ROUTES:
        operation = document()["paths"][path][method]
        assert operation["security"], path
        assert "401" in operation["responses"], path
    for method, path in PUBLIC:
        assert "security" not in document()["paths"][path][method]


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_nobody_gets_in_without_a_good_token(
    server: Served, nobody: httpx.Client, owned: Owned, deleted: str, route: tuple[str, str]
) -> None:
    stamp = jwt.decode(server.token("alice"), options={"verify_signature": False})["stamp"]
    past = int(time.time()) - 10
    tries = {
        "no token": {},
        "no scheme": {"Authorization": server.token("alice")},
        "basic": {"Authorization": "Basic YWxpY2U6eA=="},
        "garbage": {"Authorization": "Bearer x.y.z"},
        "expired": forged(stamp=stamp, exp=past),
        "no expiry": forged(stamp=stamp, exp=None),
        "no subject": forged(stamp=stamp, sub=None),
        "alg none": forged(stamp=stamp, key="", algorithm="none"),
        "another algorithm": forged(stamp=stamp, key=SECRET * 2, algorithm="HS512"),
        "wrong key": forged(stamp=stamp, key="another secret, also long enough to sign"),
        "wrong audience": forged(stamp=stamp, aud="somebody"),
        "wrong issuer": forged(stamp=stamp, iss="somebody"),
        "wrong stamp": forged(),
        "unknown person": forged(stamp=stamp, sub="nobody-knows"),
        "deleted person": {"Authorization": f"Bearer {deleted}"},
    }
    for name, headers in tries.items():
        response = ask(nobody, route, owned, headers)
        assert response.status_code == 401, name
        assert response.headers["www-authenticate"] == "Bearer", name


@pytest.mark.parametrize("route", OWNED, ids=" ".join)
def test_somebody_elses_resource_looks_like_a_missing_one(
    server: Served, nobody: httpx.Client, owned: Owned, route: tuple[str, str]
) -> None:
    missing = owned_by("conv-missing", "turn-missing", "int-missing", thread_ids.make("alice"))
    for other in OTHERS:
        headers = server.headers(other)
        theirs, none = ask(nobody, route, owned, headers), ask(nobody, route, missing, headers)
        assert theirs.status_code == none.status_code, other
        assert theirs.status_code in (403, 404), other
        assert theirs.json() == none.json()


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route not in (*OWNED, *BY_COOKIE)], ids=" ".join
)
def test_a_persons_own_resources_show_nothing_of_others(
    server: Served, nobody: httpx.Client, owned: Owned, route: tuple[str, str]
) -> None:
    for other in OTHERS:
        response = ask(nobody, route, owned, server.headers(other))
        if route in FOR_ADMINS:
            assert response.status_code == 403
        else:
            assert response.status_code == 409 if route in NAMELESS else response.status_code < 300
        assert not any(id in response.text for id in owned.ids)


def test_after_all_refusals_nothing_has_changed(alice: httpx.Client, owned: Owned) -> None:
    tree = alice.get(f"/api/v2/conversations/{owned.conversation_id}").json()
    assert tree["title"] != "mine now"
    assert [turn["status"] for turn in tree["turns"]] == ["waiting"]
    assert alice.get(f"/api/v2/interrupts/{owned.interrupt_id}").json()["status"] == "pending"
    assert alice.get(f"/api/v2/conversations/{owned.conversation_id}/files/notes.txt").content == b"secret"
    granted = alice.get(f"/api/v2/conversations/{owned.conversation_id}/grants").json()["grants"]
    assert [grant["tool"] for grant in granted] == ["write_file"]
    assert alice.get(f"/api/v2/conversations/{owned.thread_id}").json()["turns"] == []
    assert alice.get("/api/v1/chat").json()["total"] == 3
    assert alice.get("/api/v1/chat/interrupt_state", params=SESSION).json()["interrupted"] is True


def test_an_id_with_a_persons_name_does_not_belong_to_that_person(server: Served) -> None:
    twin = server.call(
        server.context.service.conversations.create(_made(server, "alice-b"), None, "alice-b-0000")
    )
    with server.client("alice") as client:
        assert client.get(f"/api/v2/conversations/{twin.id}").status_code == 404
    with server.client("alice-b") as client:
        assert client.get(f"/api/v2/conversations/{twin.id}").status_code == 200
        assert conversation(client)


def _made(server: Served, user_id: str) -> str:
    server.token(user_id)
    return user_id
