"""Errors: the only place where an error becomes a response, in the form of the API it is for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from caesura.core import ids, json_data
from caesura.core.errors import (
    BadInput,
    CaesuraError,
    TooLarge,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)

logger = logging.getLogger(__name__)

_CODES = {400: "bad_input", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}
#: The header with the code of an error: not every API has a place for it in the body.
CODE = "x-error-code"
_BEARER = {"www-authenticate": "Bearer"}
#: At most this many faults of one request are reported. Names chosen by the client, and messages that contain
#: one, are cut to these lengths.
_FAULTS = 10
_NAME = 100
_MESSAGE = 2000


class Invalid(BadInput):
    """The request does not have the form that the API asks for; `field` names the first fault."""

    code = "invalid"

    def __init__(self, message: str, fields: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


@dataclass(frozen=True, slots=True)
class Problem:
    """The error that a dialect should report. `error` is the exception, for its additional data."""

    status: int
    code: str
    message: str
    error: CaesuraError | None = None
    error_id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Form:
    """How an API reports errors: for which paths, with which body, and with which status for a malformed
    request. A path belongs to its longest prefix."""

    prefixes: tuple[str, ...]
    body: Callable[[Problem], dict[str, Any]]
    invalid: int = 422
    #: The model of a body, for the OpenAPI document.
    model: type[BaseModel] | None = None


class Detail(BaseModel):
    """What went wrong."""

    detail: str


def detail(problem: Problem) -> dict[str, Any]:
    return {"detail": problem.message}


#: For paths of no dialect: login, health, and unknown paths.
COMMON = Form(("/",), detail, 400, Detail)


class Errors:
    """Chooses the form by the path, and turns any exception into a response."""

    def __init__(self, forms: Iterable[Form]) -> None:
        known = [(prefix.rstrip("/"), form) for form in (COMMON, *forms) for prefix in form.prefixes]
        self._forms = sorted(known, key=lambda item: len(item[0]), reverse=True)

    def form(self, path: str) -> Form:
        # A path may be `*`, or anything else that does not begin with a slash.
        found = (form for prefix, form in self._forms if path == prefix or path.startswith(f"{prefix}/"))
        return next(found, COMMON)

    def response(self, path: str, error: Exception) -> Response:
        form = self.form(path)
        problem = _problem(error, form)
        headers = {**problem.headers, "content-type": "application/json", CODE: problem.code}
        return Response(json_data.dumps(form.body(problem)), problem.status, headers)

    def install(self, app: FastAPI) -> None:
        async def handle(request: Request, error: Exception) -> Response:
            return self.response(request.url.path, error)

        for kind in (CaesuraError, RequestValidationError, HTTPException):
            app.add_exception_handler(kind, handle)
        described = app.openapi
        app.openapi = lambda: self._corrected(described())  # type: ignore[method-assign]

    def _corrected(self, document: dict[str, Any]) -> dict[str, Any]:
        """FastAPI documents its own 422 for every route with input. Replace it by the status and the body
        that the route's form has for a malformed request."""
        for path, operations in document["paths"].items():
            for operation in operations.values():
                _correct(operation["responses"], self.form(path))
        schemas = document.get("components", {}).get("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        return document


class Faults:
    """Catches unexpected errors: the client gets an id, the log gets the details. ASGI middleware."""

    def __init__(self, app: ASGIApp, errors: Errors) -> None:
        self._app, self._errors = app, errors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except ClientDisconnect:
            pass  # the client left during its request: there is nobody to answer
        except asyncio.CancelledError:
            # Only a server that shuts down cancels a request, after its grace period.
            if started:
                raise
            ending = Unavailable("the server is shutting down")
            await self._errors.response(scope["path"], ending)(scope, receive, send)
        except Exception as error:
            if started:
                raise  # a response that has begun cannot be replaced: the server closes the connection
            await self._errors.response(scope["path"], error)(scope, receive, send)


def documented(form: Form, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI document."""
    return {
        status: {"model": form.model, "description": HTTPStatus(status).phrase, **_documented_headers(status)}
        for status in sorted(statuses)
    }


def _correct(responses: dict[str, Any], form: Form) -> None:
    if "HTTPValidationError" not in str(responses.get("422")):
        return
    del responses["422"]
    if form.model is not None:
        schema = {"$ref": f"#/components/schemas/{form.model.__name__}"}
        description = HTTPStatus(form.invalid).phrase
        content = {"application/json": {"schema": schema}}
        responses.setdefault(str(form.invalid), {"description": description, "content": content})


def _documented_headers(status: int) -> dict[str, Any]:
    if status in (429, 503):
        return {"headers": {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}}}
    if status == 401:
        return {"headers": {"WWW-Authenticate": {"schema": {"type": "string"}}}}
    return {}


def _problem(error: Exception, form: Form) -> Problem:
    match error:
        case CaesuraError() if error.status < 500 or isinstance(error, Unavailable):
            message = _cut(error.message, _MESSAGE)
            return Problem(error.status, error.code, message, error, None, _headers(error))
        case RequestValidationError():
            invalid = _invalid(error)
            return Problem(form.invalid, invalid.code, invalid.message, invalid)
        case HTTPException():
            code = _CODES.get(error.status_code, "http")
            return Problem(error.status_code, code, str(error.detail), None, None, error.headers or {})
        case _:
            error_id = ids.error()
            logger.error("unexpected error (%s)", error_id, exc_info=error)
            return Problem(500, "internal", f"something went wrong ({error_id})", None, error_id)


def _headers(error: CaesuraError) -> dict[str, str]:
    if isinstance(error, Unauthenticated):
        return _BEARER
    if isinstance(error, TooManyRequests | Unavailable) and error.retry_after:
        return {"retry-after": str(error.retry_after)}
    if isinstance(error, TooLarge):
        return {"connection": "close"}  # the rest of the body is not wanted
    return {}


def _invalid(error: RequestValidationError) -> Invalid:
    faults = [(_name(item["loc"]), _text(item)) for item in error.errors()[:_FAULTS]]
    messages = dict.fromkeys(f"{name}: {text}" if name else text for name, text in faults)
    return Invalid("; ".join(messages), [name for name, _ in faults if name])


def _text(fault: Mapping[str, Any]) -> str:
    if tuple(fault["loc"]) == ("body",) and str(fault["type"]).startswith(("model_", "dict_")):
        return "the body must be a JSON object, sent with Content-Type: application/json"
    if fault["type"] == "string_pattern_mismatch":
        return "this does not have the expected form"
    return str(fault["msg"])


def _name(location: Sequence[Any]) -> str:
    """The name of a field as the client wrote it: `body.answers.0` becomes `answers.0`."""
    parts = location[1:] if location and location[0] in ("body", "query", "path", "header") else location
    name = ".".join(str(part) for part in parts if not (isinstance(part, int) and len(parts) == 1))
    return _cut(name, _NAME)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def parse_json(body: bytes) -> Any:
    """Parse a body. Malformed JSON is reported as FastAPI reports it."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestValidationError(
            [{"type": "json_invalid", "loc": ("body",), "msg": "JSON decode error", "input": {}}]
        ) from error
