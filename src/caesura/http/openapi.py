"""What the OpenAPI document says beyond the routes: the cookie that every route with a token takes too, and
the data of the events of its streams."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from caesura.http import cookies, sse

_SCHEME = "SessionCookie"


def install(app: FastAPI) -> None:
    described = app.openapi
    app.openapi = lambda: _completed(described())  # type: ignore[method-assign]


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    schemes = document["components"]["securitySchemes"]
    tokens = [name for name in schemes if name != _SCHEME]
    schemes[_SCHEME] = {
        "type": "apiKey",
        "in": "cookie",
        "name": cookies.NAME,
        "description": f"A request that changes something also needs the header `{cookies.HEADER}`.",
    }
    for operations in document["paths"].values():
        for operation in operations.values():
            _gather(operation["responses"], document["components"]["schemas"])
            security = operation.get("security", [])
            if any(name in item for item in security for name in tokens) and {_SCHEME: []} not in security:
                security.append({_SCHEME: []})
    return document


def _gather(responses: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Move the schemas of a stream's data to the components."""
    for response in responses.values():
        for content in response.get("content", {}).values():
            for name, schema in content.pop(sse.SCHEMAS, {}).items():
                schemas.setdefault(name, schema)
