"""Fixed paths below `/api/v1/chat` that belong to another API are never taken for ids of conversations."""

from collections.abc import Iterator
from itertools import product

import httpx
import pytest
from fastapi import APIRouter

from caesura import app
from caesura.app import create_app
from caesura.http.dialect import Dialect
from caesura.http.errors import Form, detail
from caesura.settings import Settings
from tests.api.artifactflow.message import Message, said
from tests.api.server import Served

FIXED = [
    ("POST", "/api/v1/chat/stream"),
    ("POST", "/api/v1/chat/resume"),
    ("GET", "/api/v1/chat/interrupt_state"),
    ("POST", "/api/v1/chat/abort"),
]


def other() -> Dialect:
    """Another API with routes at these paths."""
    router = APIRouter(tags=["other"])
    for method, path in FIXED:

        async def answer(method: str = method, path: str = path) -> str:
            return f"{method} {path}"

        router.add_api_route(path, answer, methods=[method], operation_id=f"other{path}")
    return Dialect(Form(tuple(path for _, path in FIXED), detail), router)


@pytest.fixture(scope="module", params=["before", "after"])
def mounted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that has the other API too, before or after all others."""
    dialects = (other(), *app.DIALECTS) if request.param == "before" else (*app.DIALECTS, other())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "DIALECTS", dialects)
        server = Served(tmp_path_factory.mktemp("mounted")).start()
    yield server  # the servers of other tests have no such API
    server.stop()


def test_fixed_paths_reach_the_api_they_belong_to(mounted: Served) -> None:
    with mounted.client() as client:
        for method, path in FIXED:
            answer = client.request(method, path)
            assert (answer.status_code, answer.json()) == (200, f"{method} {path}")
        message = Message.send(client, "echo a")
        assert said(message.read()) == "a"
        assert message.detail()["id"] == message.conversation_id


def test_without_that_api_there_is_nothing_at_these_paths(alice: httpx.Client) -> None:
    before = alice.get("/api/v1/chat").json()["total"]
    for method, (_, path) in product(("GET", "POST", "DELETE"), FIXED):
        answer = alice.request(method, path, json={"content": "x"})
        assert answer.status_code == 404, (method, path)
    assert alice.get("/api/v1/chat").json()["total"] == before


@pytest.mark.parametrize("name", ["stream", "resume", "abort"])
def test_a_conversation_may_have_such_a_name_behind_its_prefix(alice: httpx.Client, name: str) -> None:
    answer = alice.get(f"/api/v1/chat/conv-{name}")
    assert (answer.status_code, answer.json()) == (404, {"detail": "conversation not found"})


def test_the_default_agent_is_the_lead_agent_unless_the_operator_chose_one() -> None:
    unset = Settings.load(data_dir="unused")
    assert app._lead_agent(unset) == "lead_agent"
    assert app._lead_agent(Settings.load(data_dir="unused", default_agent="assistant")) == "assistant"
    assert create_app(unset).openapi()["paths"]["/api/v1/chat"].keys() == {"get", "post"}
