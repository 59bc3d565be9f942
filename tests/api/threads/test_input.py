"""Invalid input: a clear 400 that names the field, and nothing changes."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.server import Served
from tests.api.threads.thread import Thread, said

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def quiet(server: Served) -> Iterator[Thread]:
    """A thread that no request changes."""
    with server.client("quiet") as client:
        yield Thread.new(client)


def unchanged(thread: Thread) -> bool:
    return thread.history() == [] and thread.listed()["title"] is None


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, "message"),
        ({"message": None}, "message"),
        ({"message": 1}, "message"),
        ({"message": ["a"]}, "message"),
        ({"message": {"text": "a"}}, "message"),
        ({"text": "a"}, "message"),
        ({"message": "a", "supersede": "yes"}, "supersede"),
        ({"message": "a", "supersede": 1}, "supersede"),
        ({"message": "a", "on_disconnect": "later"}, "on_disconnect"),
        ({"message": "a", "on_disconnect": True}, "on_disconnect"),
    ],
)
def test_the_error_for_a_malformed_body_names_the_field(
    quiet: Thread, body: dict[str, Any], names: str
) -> None:
    response = quiet.client.post(f"/api/chat/{quiet.id}", json=body)
    assert response.status_code == 400
    assert set(response.json()) == {"detail"}
    assert response.json()["detail"].startswith(f"{names}: ")
    assert unchanged(quiet)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'"echo x"', b"\xff\xfe", b'{"message": "a"', b"message=a"]
)
@pytest.mark.parametrize("route", ["chat", "resume"])
def test_a_body_that_is_not_an_object_is_refused(quiet: Thread, route: str, content: bytes) -> None:
    response = quiet.client.post(f"/api/{route}/{quiet.id}", content=content, headers=JSON)
    assert response.status_code == 400
    assert response.json()["detail"]
    assert unchanged(quiet)


@pytest.mark.parametrize("message", ["", " ", "\n\t \u3000"])
def test_an_empty_message_is_refused(quiet: Thread, message: str) -> None:
    response = quiet.send(message)
    assert response.status_code == 400
    assert response.json() == {"detail": "message must not be empty"}
    assert unchanged(quiet)


@pytest.mark.parametrize("letter", ["x", "很"])
def test_a_message_may_have_256_kib_and_no_byte_more(alice: httpx.Client, letter: str) -> None:
    size = len(letter.encode())
    message = letter * (256 * 1024 // size) + "y" * (256 * 1024 % size)
    thread = Thread.new(alice)
    refused = thread.send(f"{message}x")
    assert refused.status_code == 400
    assert refused.json() == {"detail": "message must not be longer than 262144 bytes"}
    assert thread.history() == []
    answer = said(thread.chat(message))
    assert thread.history() == [("user", message), ("assistant", answer)]


def test_a_body_over_one_mebibyte_is_too_large(quiet: Thread) -> None:
    response = quiet.send("x" * 1024 * 1024)
    assert response.status_code == 413
    assert response.json() == {"detail": "The body is too large"}

    def pieces() -> Iterator[bytes]:
        yield b'{"message": "'
        for _ in range(20):
            yield b"x" * 65536

    unannounced = quiet.client.post(f"/api/chat/{quiet.id}", content=pieces(), headers=JSON)
    assert unannounced.status_code == 413
    assert unchanged(quiet)


def test_unknown_members_of_a_body_are_ignored(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    assert said(thread.chat("echo x", user_id="bob", stream=True)) == "x"


@pytest.mark.parametrize("text", ["\x00 nul", "\ud800 half", "\u202e turned", "😀" * 50, "</script>"])
def test_any_text_is_accepted_and_returned(alice: httpx.Client, text: str) -> None:
    thread = Thread.new(alice)
    body = json.dumps({"message": f"echo {text}"})
    response = alice.post(f"/api/chat/{thread.id}", content=body, headers=JSON)
    assert response.status_code == 200
    # A lone surrogate is not valid text.
    assert thread.history()[0] == ("user", f"echo {text}".replace("\ud800", "?"))


@pytest.mark.parametrize(
    "thread_id",
    ["x", "alice", "alice-", "../alice", "%00", "alice-%F0%9F%98%80", "x" * 2000, "alice-" + "x" * 2000],
)
def test_an_invalid_id_is_refused_and_never_a_server_error(alice: httpx.Client, thread_id: str) -> None:
    for response in (
        alice.get(f"/api/status/{thread_id}"),
        alice.get(f"/api/history/{thread_id}"),
        alice.get(f"/api/chat/{thread_id}/stream"),
        alice.post(f"/api/chat/{thread_id}", json={"message": "echo x"}),
        alice.post(f"/api/resume/{thread_id}", json={"action": "continue"}),
        alice.delete(f"/api/sessions/{thread_id}"),
    ):
        assert response.status_code in (400, 403, 404, 405)
        assert set(response.json()) == {"detail"}


def test_the_error_for_a_wrong_method_has_the_same_form(alice: httpx.Client) -> None:
    for response in (alice.put("/api/sessions"), alice.get("/api/chat/x"), alice.delete("/api/status/x")):
        assert response.status_code == 405
        assert set(response.json()) == {"detail"}
