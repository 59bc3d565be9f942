"""The page about this API compared with the OpenAPI document."""

import re
from pathlib import Path
from typing import Any

import pytest

from caesura.core import errors
from caesura.dialects.threads import routes
from tests.api.openapi import document
from tests.api.threads.test_node import EVENTS

PAGE = (Path(__file__).parents[3] / "docs" / "api-threads.md").read_text()
ROUTES = [
    (method, path, operation)
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
    if operation["tags"] == ["threads"]
]
#: Errors that any route of any API may return.
EVERYWHERE = {"401", "405", "429", "500", "503"}


def rows() -> dict[str, str]:
    """The first table: each request, and its errors."""
    found = re.findall(r"^\| `([A-Z]+ /api/\S+)` \| .* \| ([^|]+) \|$", PAGE, re.MULTILINE)
    return dict(found)


def test_the_page_has_every_route_and_no_other() -> None:
    assert set(rows()) == {f"{method.upper()} {path}" for method, path, _ in ROUTES}


@pytest.mark.parametrize(("method", "path", "operation"), ROUTES, ids=lambda item: str(item)[:40])
def test_the_page_names_the_errors_of_each_route(method: str, path: str, operation: dict[str, Any]) -> None:
    listed = set(rows()[f"{method.upper()} {path}"].split(", "))
    # A person is not refused what belongs to nobody; without a body nothing is too large.
    declared = {status for status in operation["responses"] if status >= "400"} - EVERYWHERE
    assert declared - listed <= {"403", "413"}
    assert listed <= declared


def test_the_page_has_every_event_and_no_other() -> None:
    table = PAGE.split("## The stream")[1].split("```js")[0]
    assert set(re.findall(r"^\| `([a-z_/]+)` \|", table, re.MULTILINE)) == EVENTS
    described = ROUTES[[path for _, path, _ in ROUTES].index("/api/chat/{thread_id}")][2]
    text = described["responses"]["200"]["description"]
    assert set(re.findall(r"`([a-z_/]+) \{", text)) == EVENTS


def test_the_page_has_every_field() -> None:
    schemas = document()["components"]["schemas"]
    for name in ("NewSession", "Chat", "Resume", "Session", "Sessions", "ThreadStatus", "InterruptInfo"):
        # Where two APIs have a model of one name, the document names the module too.
        for field in (schemas.get(f"caesura__dialects__threads__wire__{name}") or schemas[name])[
            "properties"
        ]:
            assert re.search(rf'[`"]{field}[`"]', PAGE), f"{name}.{field}"


def test_the_page_has_every_text_that_a_client_may_look_for() -> None:
    known: list[errors.CaesuraError] = [
        errors.RunInProgress(),
        errors.InterruptPending(),
        errors.NothingPending(),
        errors.AlreadyAnswered(),
        errors.TooLarge(),
        errors.Unauthenticated(),
        errors.TooManyRequests(),
    ]
    for text in (routes.ACTION, routes.ANSWERS, *(error.message for error in known)):
        assert f"`{text}`" in PAGE
