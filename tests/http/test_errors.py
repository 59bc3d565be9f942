"""Errors in the form of the API they are for."""

import asyncio

import httpx
import orjson
import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from caesura.core.errors import Fenced, NotFound, TooManyRequests, Unauthenticated, Unavailable
from caesura.http.errors import Errors, Faults, Form

SHORT = Form(("/api/v1/chat",), lambda problem: {"short": problem.message})
LONG = Form(("/api/v1/chat/stream",), lambda problem: {"long": problem.message}, invalid=400)
ERRORS = Errors([SHORT, LONG])


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/api/v1/chat", "short"),
        ("/api/v1/chat/", "short"),
        ("/api/v1/chat/conv-1", "short"),
        ("/api/v1/chat/streams", "short"),
        ("/api/v1/chat/stream", "long"),
        ("/api/v1/chat/stream/x", "long"),
        ("/api/v1/chats", "detail"),
        ("/", "detail"),
        ("/api", "detail"),
        ("*", "detail"),
        ("", "detail"),
    ],
)
def test_a_path_belongs_to_the_longest_prefix_of_whole_segments(path: str, key: str) -> None:
    assert list(orjson.loads(ERRORS.response(path, NotFound()).body)) == [key]


def test_a_malformed_request_gets_the_status_of_its_api() -> None:
    fault = {"type": "missing", "loc": ("body", "answers", 0), "msg": "Field required", "input": {}}
    error = RequestValidationError([fault])
    assert ERRORS.response("/api/v1/chat", error).status_code == 422
    response = ERRORS.response("/api/v1/chat/stream", error)
    assert response.status_code == 400
    assert orjson.loads(response.body) == {"long": "answers.0: Field required"}


def test_an_error_is_small_however_much_is_wrong() -> None:
    faults = [
        {
            "type": "extra_forbidden",
            "loc": ("body", f"{'k' * 10_000}{number}"),
            "msg": "Not permitted",
            "input": 1,
        }
        for number in range(1000)
    ]
    assert len(ERRORS.response("/api/v1/chat", RequestValidationError(faults)).body) < 2000
    assert len(ERRORS.response("/x", NotFound(f"agent not found: {'x' * 100_000}")).body) < 3000


@pytest.mark.parametrize(
    ("error", "header", "value"),
    [
        (Unauthenticated(), "www-authenticate", "Bearer"),
        (TooManyRequests(7), "retry-after", "7"),
        (Unavailable(), "retry-after", "1"),
        (HTTPException(405, headers={"Allow": "GET"}), "allow", "GET"),
    ],
)
def test_details_that_a_client_needs_are_in_a_header(error: Exception, header: str, value: str) -> None:
    assert ERRORS.response("/x", error).headers[header] == value


@pytest.mark.parametrize("error", [Fenced(), ValueError("secret"), KeyError("secret")])
def test_an_internal_error_reveals_only_its_id(error: Exception) -> None:
    form = Form(("/x",), lambda problem: {"id": problem.error_id, "message": problem.message})
    response = Errors([form]).response("/x", error)
    assert response.status_code == 500
    body = orjson.loads(response.body)
    assert body == {"id": body["id"], "message": f"something went wrong ({body['id']})"}


async def test_a_request_cancelled_by_a_shutdown_gets_a_response_that_allows_a_retry() -> None:
    begun = asyncio.Event()

    async def stuck(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await asyncio.Event().wait()

    transport = httpx.ASGITransport(Faults(stuck, ERRORS))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        asking = asyncio.ensure_future(client.post("/api/v1/chat"))
        await begun.wait()
        asking.cancel()
        response = await asking
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert response.json() == {"short": "the server is shutting down"}
