"""The fixed paths of this API and the ids of API B below `/api/v1/chat`, in any order of the APIs."""

from collections.abc import Iterator

import httpx
import pytest

from caesura import app
from tests.api.artifactflow.message import Message
from tests.api.artifactflow.message import said as said_in_b
from tests.api.server import Served
from tests.api.superagent.session import Session, said

FIXED = {
    "/api/v1/chat/stream": ("GET", "POST"),
    "/api/v1/chat/resume": ("POST",),
    "/api/v1/chat/interrupt_state": ("GET",),
    "/api/v1/chat/abort": ("POST",),
    "/api/v1/agents": ("GET",),
}


@pytest.fixture(scope="module", params=[False, True], ids=["as listed", "the other way round"])
def ordered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    dialects = tuple(reversed(app.DIALECTS)) if request.param else app.DIALECTS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "DIALECTS", dialects)
        server = Served(tmp_path_factory.mktemp("ordered")).start()
    yield server
    server.stop()


def test_each_api_has_its_paths(ordered: Served) -> None:
    with ordered.client() as client:
        session = Session.new(client)
        assert said(session.chat("echo over C")) == "over C"
        message = Message.send(client, "echo over B")
        assert said_in_b(message.read()) == "over B"
        assert message.detail()["id"] == message.conversation_id
        assert session.waiting() == {"interrupted": False}
        for name in ("stream", "resume", "interrupt_state", "abort"):
            detail = client.get(f"/api/v1/chat/conv-{name}")
            assert (detail.status_code, detail.json()) == (404, {"detail": "conversation not found"})


def test_each_api_has_its_own_form_of_errors(ordered: Served) -> None:
    with ordered.client() as client:
        for path, methods in FIXED.items():
            for method in {"GET", "POST", "DELETE", "PUT"} - set(methods):
                answer = client.request(method, path)
                assert (answer.status_code, set(answer.json())) == (405, {"error"}), (method, path)
            below = client.get(f"{path}/x")
            assert (below.status_code, set(below.json())) == (404, {"error"}), path
            beside = client.get(f"{path}x")
            assert (beside.status_code, set(beside.json())) == (404, {"detail"}), path
        assert set(client.post("/api/v1/chat/conv-x/resume", json={}).json()) == {"detail"}
        assert client.post("/api/v1/chat/resume", json={}).status_code == 400
        assert client.post("/api/v1/chat", json={}).status_code == 422


def test_a_page_of_another_origin_may_ask_for_the_a2ui_form(tmp_path_factory: pytest.TempPathFactory) -> None:
    origin = "https://page.example"
    folder = tmp_path_factory.mktemp("origins")
    with Served(folder, cors_origins=[origin]) as server, server.client(None) as nobody:
        headers = {
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-a2ui, authorization, content-type",
        }
        answer: httpx.Response = nobody.options("/api/v1/chat/stream", headers=headers)
        assert answer.status_code == 200
        assert "X-A2UI" in answer.headers["access-control-allow-headers"]
