"""Routes that are built when they are first needed."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient

from caesura.app import DIALECTS
from caesura.http import late
from caesura.http.late import LateRoute, LateText, PlainRoute


class Sum(BaseModel):
    value: int


class Refusal(BaseModel):
    reason: str


def application(route_class: type[APIRoute]) -> FastAPI:
    router = APIRouter(
        prefix="/x", tags=["sums"], responses={409: {"model": Refusal}}, route_class=route_class
    )

    @router.post("/{name}/sum", status_code=201)
    async def add(name: str, terms: list[int], more: Annotated[int, Query(ge=1)] = 1) -> Sum:
        """Adds."""
        return Sum(value=sum(terms) + more + len(name))

    app = FastAPI()
    app.router.routes.extend(router.routes)
    return app


def route_of(app: FastAPI) -> LateRoute:
    return next(route for route in app.routes if isinstance(route, LateRoute))


def test_a_route_is_built_for_its_first_request_and_not_for_others() -> None:
    app = application(LateRoute)
    route = route_of(app)
    with TestClient(app) as client:
        assert client.get("/y").status_code == 404
        assert client.get("/x/abc/sum").status_code == 405
        assert "dependant" not in vars(route)
        assert client.post("/x/abc/sum?more=2", json=[1, 2]).json() == {"value": 8}
        assert "dependant" in vars(route)
        assert client.post("/x/abc/sum", json=["one"]).status_code == 422
        assert client.post("/x/abc/sum?more=0", json=[1]).status_code == 422


def test_the_document_is_that_of_usual_routes() -> None:
    assert application(LateRoute).openapi() == application(APIRoute).openapi()


def test_the_routes_of_all_dialects_are_built_late() -> None:
    routes = [route for dialect in DIALECTS for route in dialect.router.routes]
    assert len(routes) > 50
    assert [route for route in routes if not isinstance(route, LateRoute)] == []


def test_two_threads_build_a_route_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    together = threading.Barrier(2)
    usual = APIRoute.__init__

    def counted(self: APIRoute, path: str, *args: Any, **options: Any) -> None:
        built.append(path)
        usual(self, path, *args, **options)

    monkeypatch.setattr(APIRoute, "__init__", counted)
    route = route_of(application(LateRoute))
    found: list[Any] = []

    def ask() -> None:
        together.wait()
        found.append(route.dependant)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == ["/x/{name}/sum"]
    assert found[0] is found[1]


def test_an_unknown_attribute_is_an_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = route_of(application(LateRoute)).nothing_like_it


def test_a_route_below_another_application_is_found() -> None:
    outer = FastAPI()
    outer.mount("/below", application(LateRoute))
    with TestClient(outer) as client:
        assert client.post("/below/x/abc/sum", json=[1]).json() == {"value": 5}
        assert client.post("/x/abc/sum", json=[1]).status_code == 404


def test_a_plain_route_answers_without_being_built() -> None:
    router = APIRouter(route_class=PlainRoute)

    @router.get("/hello", response_model=Sum)
    async def hello(request: Request) -> Response:
        return PlainTextResponse(f"hello {request.query_params['name']}")

    app = FastAPI()
    app.router.routes.extend(router.routes)
    route = route_of(app)
    with TestClient(app) as client:
        assert client.get("/hello?name=you").text == "hello you"
        assert client.post("/hello").status_code == 405
        assert "dependant" not in vars(route)
        assert "Sum" in app.openapi()["components"]["schemas"]
        assert client.get("/hello?name=me").text == "hello me"


def test_a_late_text_is_written_with_the_document() -> None:
    written: list[str] = []

    def write() -> dict[str, Any]:
        written.append("the text")
        return {"description": "Too many"}

    router = APIRouter(route_class=LateRoute)

    @router.get("/one", responses={429: LateText(write)})
    async def one() -> Sum:
        return Sum(value=1)

    app = FastAPI()
    app.router.routes.extend(router.routes)
    with TestClient(app) as client:
        assert client.get("/one").json() == {"value": 1}
    assert written == []
    late.complete(app.routes)
    assert app.openapi()["paths"]["/one"]["get"]["responses"]["429"]["description"] == "Too many"
    assert written == ["the text"]
