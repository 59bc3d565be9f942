"""In one-person mode no other web page may use the server."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from caesura.http.errors import Errors
from caesura.http.guard import Guard


@pytest.fixture(scope="module")
def client() -> TestClient:
    routes = [Route("/{path:path}", lambda request: PlainTextResponse("served"))]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, errors=Errors([]), local=True)])
    return TestClient(app, base_url="http://127.0.0.1:8000")


@pytest.mark.parametrize(
    ("path", "origin", "status"),
    [
        ("/", None, 200),
        ("/api/v2/me", "http://127.0.0.1:8000", 200),
        ("/api/v2/me", "https://elsewhere.example", 403),
        ("/api/v2/me", "null", 403),
        ("/assets/index-abc.js", "null", 403),
        ("/assets/index-abc.js", "https://elsewhere.example", 403),
        ("/frames/diagram.html", "null", 403),
        ("/frames/files/diagram-abc.js", "null", 200),
        ("/frames/files/diagram-abc.js", "https://elsewhere.example", 403),
    ],
)
def test_a_frame_without_an_origin_may_load_its_own_files_and_nothing_else(
    client: TestClient, path: str, origin: str | None, status: int
) -> None:
    headers = {} if origin is None else {"Origin": origin}
    assert client.get(path, headers=headers).status_code == status


def test_a_frame_file_is_not_given_under_another_host_name(client: TestClient) -> None:
    headers = {"Origin": "null", "Host": "elsewhere.example"}
    assert client.get("/frames/files/diagram-abc.js", headers=headers).status_code == 403
