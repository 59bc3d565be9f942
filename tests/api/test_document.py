"""The OpenAPI document is true: every response conforms to it, whatever is sent, and is never a 5xx."""

import random
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from caesura.dialects.artifactflow import names
from caesura.dialects.threads import thread_ids
from tests.api.openapi import document
from tests.api.reading import conversation, finished
from tests.api.server import Served
from tests.effort import examples, sample

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# The server runs in this process, and may use randomness of its own while a case is made.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")
# Signing out everywhere would end the token with which all other requests are sent. The feed does not end;
# its own tests compare it with the document.
schema = schemathesis.pytest.from_fixture("described").exclude(path=["/api/auth/sessions", "/api/v2/feed"])


@pytest.fixture(scope="module")
def described() -> BaseSchema:
    """Its cases take seconds to make. Only the worker that runs these tests makes them.

    schemathesis tries every bound of every value: 30 requests for an operation. A usual run does so with some
    operations of each kind. All operations get random requests.
    """
    operations = [
        (f"{method.upper()} {path}", (method, "requestBody" in item))
        for path, methods in document()["paths"].items()
        for method, item in methods.items()
    ]
    bounded = sample([kind for _, kind in operations], 6)
    others = [name for place, (name, _) in enumerate(operations) if place not in bounded]
    without = {"include-name": others, "phases": {"coverage": {"enabled": False}}}
    config = SchemathesisConfig.from_dict({"operations": [without] if others else []})
    return schemathesis.openapi.from_dict(deepcopy(document()), config=config)


@pytest.fixture(scope="module")
def real(server: Served) -> Iterator[dict[str, str]]:
    """Ids of existing resources, by path parameter. No turn waits, so no stream stays open."""
    with server.client("tester") as client:
        turn = finished(client, "echo x")
        waiting = finished(client, "write hello.py: print(1)")
        (asked,) = client.get("/api/v2/interrupts").json()["interrupts"]
        client.post(f"/api/v2/turns/{waiting['id']}/stop")
        thread = server.call(
            server.context.service.conversations.create("tester", None, thread_ids.make("tester"))
        )
        place = conversation(client)
        server.call(server.context.service.artifacts.create("tester", place, "plan", "A plan", "text", "x"))
        yield {
            "conversation_id": place,
            "turn_id": turn["id"],
            "interrupt_id": asked["id"],
            "thread_id": thread.id,
            "conv_id": names.conversation(turn["conversation_id"]),
            "run_id": names.thread(turn["id"]),
            "tool": "write_file",
            "session_id": names.session(place),
            "artifact_id": "plan",
            "number": "1",
            "path": "a/b.txt",
        }


@pytest.fixture(scope="module")
def tester(server: Served) -> dict[str, str]:
    """The headers of the tester."""
    return server.headers("tester")


@pytest.mark.timeout(600)
@schema.parametrize()
@settings(
    max_examples=examples(3, 30),
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_the_document_is_true(
    case: Case[Any], server: Served, tester: dict[str, str], real: dict[str, str]
) -> None:
    chance = random.Random(repr(case.path_parameters))
    for name in case.path_parameters or {}:
        if chance.random() < 0.7 and case.method != "DELETE":
            # In API B a thread is a run.
            kind = "run_id" if case.path.startswith("/api/v1/stream/") else name
            case.path_parameters[name] = real[kind]
    case.call_and_validate(base_url=server.url, headers=tester, checks=CHECKS, timeout=20)


def test_every_operation_has_a_unique_name_and_a_tag(nobody: httpx.Client) -> None:
    document: dict[str, Any] = nobody.get("/openapi.json").json()
    operations = [item for path in document["paths"].values() for item in path.values()]
    names = [item["operationId"] for item in operations]
    assert len(set(names)) == len(names)
    assert all(item["tags"] for item in operations)


def test_no_operation_documents_an_error_that_it_never_returns(nobody: httpx.Client) -> None:
    text = nobody.get("/openapi.json").text
    assert "HTTPValidationError" not in text


def test_every_reference_leads_somewhere(nobody: httpx.Client) -> None:
    document = nobody.get("/openapi.json")
    wanted = set(re.findall(r"#/components/schemas/([^\"]+)", document.text))
    assert wanted == set(document.json()["components"]["schemas"])


def test_the_authorize_button_asks_the_login_route(nobody: httpx.Client) -> None:
    schemes = nobody.get("/openapi.json").json()["components"]["securitySchemes"]
    token, cookie = schemes.values()
    assert token["flows"]["password"]["tokenUrl"] == "/api/auth/login"
    assert (cookie["type"], cookie["in"], cookie["name"]) == ("apiKey", "cookie", "caesura_session")
    assert nobody.get("/docs").status_code == 200


def test_the_page_needs_nothing_from_elsewhere(nobody: httpx.Client) -> None:
    page = nobody.get("/docs")
    wanted = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert len(wanted) == 3
    for path in wanted:
        assert path.startswith("/docs/files/")
        assert nobody.get(path).status_code == 200
    assert "http" not in page.headers["content-security-policy"]
