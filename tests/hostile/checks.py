"""Checks: what must be true of every response, whatever the request was."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError

from caesura.app import DIALECTS
from caesura.http.errors import COMMON, Errors
from tests.hostile.answer import Answer
from tests.hostile.request import Request

SMALL = 16 * 1024
_ROOT = str(Path(__file__).parents[2])
_ERRORS = Errors([dialect.form for dialect in DIALECTS])
_MODELS = [form.model for form in (COMMON, *(dialect.form for dialect in DIALECTS)) if form.model is not None]
_SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
}
_ONCE = (
    *_SECURITY,
    "content-security-policy",
    "x-request-id",
    "content-type",
    "content-length",
    "cache-control",
)
#: Internals of the server. No request contains any of them.
_INSIDE = re.compile(
    rb"Traceback \(most|File \"/|site-packages|sqlalchemy|sqlite3\.|pydantic_core|starlette|uvicorn|"
    rb" object at 0x|/workspaces/|caesura\.db|" + re.escape(_ROOT.encode())
)


class Checks:
    """`folder` is where the server keeps its data."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder).encode()

    def faults(self, request: Request, answer: Answer) -> Iterator[str]:
        if answer.status >= 500:
            yield "a status that says the server is at fault"
        if request.refused and answer.status < 400:
            yield "it succeeded, and must not"
        if answer.status == 401 and answer.header("www-authenticate") != "Bearer":
            yield "a 401 without WWW-Authenticate"
        if answer.status == 405 and not answer.header("allow"):
            yield "a 405 without Allow"
        if answer.status == 429 and not answer.header("retry-after"):
            yield "a 429 without Retry-After"
        yield from _headers(answer)
        yield from self._inside(request, answer)
        if answer.kind == "application/json":
            yield from _json(answer)
        if answer.status >= 400 and request.method != "HEAD":
            yield from _error(request, answer)

    def _inside(self, request: Request, answer: Answer) -> Iterator[str]:
        if (
            request.target.startswith((b"/docs", b"/openapi.json", b"/api/v2/agents/schema"))
            and answer.status < 400
        ):
            return
        if found := _INSIDE.search(answer.body):
            yield f"it tells what is inside the server: {found[0]!r}"
        if self._folder in answer.body:
            yield "it tells where the server keeps its data"


def _headers(answer: Answer) -> Iterator[str]:
    for name, value in _SECURITY.items():
        if answer.header(name) != value:
            yield f"without {name}: {value}"
    if "frame-ancestors 'none'" not in answer.header("content-security-policy"):
        yield "without a content security policy"
    if not _bare(answer) and not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", answer.header("x-request-id")):
        yield "without a request id"
    for name in _ONCE:
        if len(answer.headers.get(name, ())) > 1:
            yield f"{name} twice"
    for name in ("server", "x-injected"):
        if name in answer.headers:
            yield f"with the header {name}"


def _json(answer: Answer) -> Iterator[str]:
    if answer.header("cache-control") != "no-store":
        yield "JSON that may be stored"
    try:
        answer.json  # noqa: B018 - it is read to see whether it can be
    except ValueError:
        if answer.body:
            yield "JSON that is none"


def _error(request: Request, answer: Answer) -> Iterator[str]:
    # A conflict contains interrupts or a decision, which may be as large as the person made it.
    if len(answer.body) > SMALL and answer.status != 409:
        yield "a large error"
    if answer.kind != "application/json":
        if not _of_no_api(request):
            yield f"an error that is {answer.kind or 'nothing'}, not JSON"
        return
    if not any(_fits(model, answer.body) for model in _models(request, answer)):
        yield "an error that does not have the form of its API"


def _of_no_api(request: Request) -> bool:
    """Whether it is a CORS preflight or a range request: libraries answer these in plain text."""
    names = {name.lower() for name, _ in request.headers}
    asks = request.method == "OPTIONS" and b"access-control-request-method" in names
    return asks or (b"range" in names and request.target.startswith(b"/docs/files/"))


def _bare(answer: Answer) -> bool:
    """Whether the request was refused before it was routed."""
    return answer.status in (400, 414, 431) and answer.closes and "x-request-id" not in answer.headers


def _models(request: Request, answer: Answer) -> list[type[BaseModel]]:
    if request.raw is not None:
        return _MODELS  # which path the server sees is part of the test
    path = unquote(re.split(rb"[?#]", request.target)[0].decode("latin-1"))
    form = COMMON if _bare(answer) else _ERRORS.form(path)
    return [form.model] if form.model is not None else []


def _fits(model: type[BaseModel], body: bytes) -> bool:
    try:
        model.model_validate_json(body)
    except ValidationError:
        return False
    return True
