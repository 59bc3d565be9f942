"""Credentials: the body of a registration or a login. Its size is checked before it is parsed."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError

from caesura.core.errors import BadInput, TooLarge
from caesura.http.errors import parse_json
from caesura.http.late import LateText

LARGEST = 16 * 1024
_FIELDS = 20
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"

M = TypeVar("M", bound=BaseModel)


class Credentials(BaseModel):
    username: str = Field(max_length=1000)
    password: str = Field(max_length=5000)


class Newcomer(Credentials):
    invite: str | None = Field(
        default=None, max_length=100, description="A code, where people register by invite"
    )


async def read(request: Request, model: type[M], *, form: bool = False) -> M:
    """Parse the body as this model: a JSON object or, if `form` is true, also the form of OAuth2."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await _body(request)
    if kind == _JSON:
        return _valid(model, parse_json(body))
    if form and kind == _FORM:
        return _valid(model, _fields(body))
    raise BadInput(
        f"the body must be a JSON object, sent with Content-Type: {_JSON}{f', or {_FORM}' if form else ''}"
    )


def documented(model: type[BaseModel], *, form: bool = False) -> dict[str, Any]:
    """The body, for the OpenAPI document."""

    def write() -> dict[str, Any]:
        content = {kind: {"schema": model.model_json_schema()} for kind in (_JSON, _FORM)[: 1 + form]}
        return {"requestBody": {"required": True, "content": content}}

    return LateText(write)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            raise TooLarge
    return bytes(body)


def _fields(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS))
    except ValueError as error:
        raise BadInput("the form cannot be read") from error


def _valid(model: type[M], given: Any) -> M:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False)]
        raise RequestValidationError(faults) from error
