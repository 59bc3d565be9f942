"""The owner of a thread is not derived from its id: a person whose name begins like another's gets no
access."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from caesura.dialects.threads import thread_ids
from tests.api.openapi import document
from tests.api.server import Served
from tests.api.threads.thread import Thread

ROUTES = [
    (method, path)
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
    if operation["tags"] == ["threads"] and "{thread_id}" in path
]
BODIES: dict[str, dict[str, Any]] = {
    "/api/chat/{thread_id}": {"message": "echo x", "supersede": True},
    "/api/resume/{thread_id}": {"action": "continue"},
}


@pytest.fixture(scope="module")
def threads(server: Served) -> Iterator[dict[str, Thread]]:
    """A thread of each of the two people, with a waiting interrupt."""
    with server.client("twin") as short, server.client("twin-b") as long:
        made = {"twin": Thread.new(short), "twin-b": Thread.new(long)}
        for thread in made.values():
            thread.chat("write hello.py")
        yield made


def ask(client: httpx.Client, route: tuple[str, str], thread_id: str) -> httpx.Response:
    method, path = route
    return client.request(method, path.format(thread_id=thread_id), json=BODIES.get(path))


def test_every_route_with_a_thread_is_tested() -> None:
    assert len(ROUTES) == 7


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
@pytest.mark.parametrize(
    ("who", "whose", "status", "detail"),
    [
        ("twin", "twin-b", 404, "thread not found"),
        ("twin-b", "twin", 403, "this thread is not yours"),
        ("stranger", "twin", 403, "this thread is not yours"),
    ],
)
def test_somebody_elses_thread_looks_like_a_missing_one(
    server: Served,
    threads: dict[str, Thread],
    route: tuple[str, str],
    who: str,
    whose: str,
    status: int,
    detail: str,
) -> None:
    with server.client(who) as client:
        theirs = ask(client, route, threads[whose].id)
        missing = ask(client, route, thread_ids.make(whose))
    for response in (theirs, missing):
        assert response.status_code == status
        assert response.json() == {"detail": detail}


def test_threads_of_others_are_not_listed(server: Served, threads: dict[str, Thread]) -> None:
    for name, thread in threads.items():
        with server.client(name) as client:
            page = client.get("/api/sessions").json()
        assert [item["thread_id"] for item in page["threads"]] == [thread.id]
        assert page["total"] == 1


def test_after_all_refusals_both_threads_still_wait(threads: dict[str, Thread]) -> None:
    for thread in threads.values():
        assert thread.status()["status"] == "interrupted"
        assert len(thread.history()) == 2
