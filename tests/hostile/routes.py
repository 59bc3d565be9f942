"""Routes: those in the server's OpenAPI document."""

import re
from dataclasses import dataclass
from typing import Any

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT")
ODD_METHODS = ("PROPFIND", "PURGE", "BREW", "get", "QUERY", "M-SEARCH", "MKCOL", "LOCK")
#: Routes that are served, but not part of the document.
OTHERS = ("/", "/docs", "/openapi.json", "/docs/files/swagger-ui.css", "/docs/files/{path}", "/{path}")
#: Ends the token with which a person sends all other requests. It has tests of its own.
LEFT_OUT = "/api/auth/sessions"
_PARAMETER = re.compile(r"\{(\w+)\}")

Schema = dict[str, Any]


@dataclass(frozen=True)
class Route:
    method: str
    template: str
    queries: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    body: Schema | None = None
    forms: bool = False
    protected: bool = False

    @property
    def parameters(self) -> list[str]:
        return _PARAMETER.findall(self.template)

    def path(self, values: dict[str, str]) -> str:
        return _PARAMETER.sub(lambda found: values[found[1]], self.template)


class Document:
    def __init__(self, document: dict[str, Any]) -> None:
        self._schemas: dict[str, Schema] = document["components"]["schemas"]
        self.routes = [
            self._route(method.upper(), path, operation)
            for path, operations in document["paths"].items()
            if path != LEFT_OUT
            for method, operation in operations.items()
        ]
        self.routes += [Route("GET", path) for path in OTHERS]

    def resolve(self, schema: Schema) -> Schema:
        while (reference := schema.get("$ref")) is not None:
            schema = self._schemas[reference.rpartition("/")[2]]
        return schema

    def _route(self, method: str, path: str, operation: dict[str, Any]) -> Route:
        given = operation.get("parameters", [])
        kinds = operation.get("requestBody", {}).get("content", {})
        # Any bytes are a right body where a file is uploaded.
        bodies = [kind["schema"] for name, kind in kinds.items() if name != "application/octet-stream"]
        return Route(
            method,
            path,
            tuple(item["name"] for item in given if item["in"] == "query"),
            tuple(item["name"] for item in given if item["in"] == "header"),
            _object(self.resolve(bodies[0]), self) if bodies else None,
            len(kinds) > 1,
            bool(operation.get("security")),
        )


def _object(schema: Schema, document: Document) -> Schema:
    """The object schema of a body. An optional body is an object or null."""
    for choice in schema.get("anyOf", ()):
        if (found := document.resolve(choice)).get("type") == "object":
            return found
    return schema
